"""The rest of a report: scores, data without rows, definitions, how to reproduce it."""

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from fairdash import __version__
from fairdash._wording import duration, headed, plural, utc, value_spans
from fairdash.audits import Answer, Listing, gaps, training, trials
from fairdash.methods import CATALOG
from fairdash.metrics import catalog
from fairdash.reports import _small_groups as small_groups
from fairdash.reports._blocks import (
    Block,
    Cards,
    Code,
    Facts,
    Table,
    Words,
    blocks_of,
    outcome_blocks,
)
from fairdash.reports._run_record import data_record, data_words
from fairdash.reports._sections import DataSubject, RunSubject
from fairdash.store import Store
from fairdash.sweep import RESULTS_VERSION, SweepSpec, python_script

PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy", "torch")
_TERMS = {
    "Test rows": "Rows that no model was trained or chosen on. Every number reported "
    "is of them, unless validation rows are named.",
    "Gap": gaps.GAP_HELP,
    "Largest local gap": "The largest gap inside a subgroup that is estimable.",
    "Chance alone": "The largest gap of a model that is fair in every subgroup stays "
    "below this in 95% of cases. Groups were shuffled within subgroups. The largest of "
    "many noisy gaps is never 0.",
    "95% interval": "The value of the population lies in it with 95% confidence. "
    "Rates: Wilson; gaps: Newcombe. The lower end of a largest gap counts all pairs "
    "that it is the largest of (Bonferroni). Over several seeds its ends are means.",
    "Paired change": "The difference of two models on the same rows. It is clear when "
    "its interval excludes 0.",
    "Not estimable": "Too few rows, or none of a group. It is never shown as 0, for 0 "
    "means fair.",
    "Decides": "A model that accepts all or none, or nearly so, gives nearly everybody "
    "the same decision: the rarer one is less than a tenth as frequent as the rarer "
    "outcome. A model is no better than guessing where positive decisions are not "
    "clearly more frequent among rows with the outcome. The gaps of both say nothing.",
}


def portable_spec(store: Store, run_id: str) -> SweepSpec:
    """Return the specification of a run as it can be followed anywhere.

    A table is named by the digest of its file, with how that was read, so ``fairdash
    run config.yaml --table FILE`` and the script of `fairdash.sweep.python_script` take
    the file from wherever it lies and refuse another one. A sample comes with the
    package. Raises ValueError when there is no such run, or it is of methods that are
    gone.
    """
    run = store.run(run_id)
    table = store.dataset_record(run.dataset_id).table_sha256
    return SweepSpec.of_run(run.spec).of_table(table, store.table_format(table))


def data(subject: DataSubject) -> Sequence[Block]:
    """Return the data as counts and rates: no row is shown."""
    dataset = subject.dataset
    rates = gaps.base_rates(dataset, subject.subgroups)
    names = ", ".join(dataset.roles.features)
    facts = data_words(data_record(subject))
    facts["Features"] = f"{len(dataset.roles.features)}: {names}"
    blocks: list[Block] = [Facts(facts)]
    if len(dataset.excluded):
        excluded = dataset.excluded[["reason", "column", "values", "rows"]]
        excluded = excluded.assign(values=excluded["values"].map(value_spans))
        rows = dataset.roles.noun.several.capitalize()
        headed_columns = excluded.rename(columns=str.title).rename(
            columns={"Rows": rows}
        )
        blocks.append(Table(f"{rows} excluded", headed_columns))
    # Cards have a rate of each group, and so its count.
    if subject.small_groups:
        return [*blocks, Words(small_groups.few_words("base rates"))]
    n_read = max(dataset.n_read, 1)
    cards = gaps.base_rate_kpis(
        rates, dataset.n_people, n_read, guessed=False, noun=dataset.roles.noun
    )
    blocks.insert(0, Cards(cards))
    cells, hidden = small_groups.base_cells(rates)
    columns = ("subgroup", "group", "n", "rate", "ci_low", "ci_high", "reason")
    table = headed(cells, columns, rate="Base rate", reason="Not estimable")
    words = small_groups.suppressed_words(hidden, "in the table")
    blocks.append(Table("Base rates", table, words))
    return blocks


def definitions(subject: RunSubject) -> Sequence[Block]:
    """Return the meaning of words, and of the methods with their parameters."""
    methods = dict.fromkeys(trial.method for trial in subject.snapshot.trials)
    described = [CATALOG[key] for key in methods if key in CATALOG]
    items = {}
    for method in described:
        items[method.label] = f"{method.summary} Source: {method.source}."
    swept = {name for grid in subject.spec.methods for name in grid.params}
    for method in described:
        for param in method.params:
            if param.letter and param.name in swept and param.help:
                items[param.title] = param.help
    return [Facts(_TERMS), Facts(items, "Methods and their parameters")]


def reproduce(subject: RunSubject) -> Sequence[Block]:
    """Return the configuration, seeds and versions, and how to train the same."""
    run = subject.snapshot.run
    spec = portable_spec(subject.store, run.id)
    command = "fairdash run config.yaml"
    call = "python script.py"
    # A sample comes with the package; any other table is a file of the reader.
    if not spec.data.sample:
        command += " --table FILE"
        call += " FILE"
    n_finished = subject.snapshot.count("finished")
    seeds = sorted({trial.seed for trial in subject.snapshot.trials})
    if trials.trained_as(subject.store, run.id).now:
        same_models = "yes, this version does"
    else:
        same_models = "no, an earlier version trained these models"
    facts = {
        "Run": f"{run.id}, {run.name}, {run.status}",
        "Started": f"{utc(run.created)}{_time_taken(subject)}",
        "Models": f"{n_finished} finished of {len(subject.snapshot.trials)}",
        "Seeds": ", ".join(map(str, seeds)),
        "Versions here": _versions(),
        "Trains the same models": same_models,
        "On the command line": command,
        "In Python": call,
    }
    return [
        Facts(facts),
        Code("config.yaml", spec.to_yaml()),
        Code("script.py", python_script(spec)),
    ]


def _time_taken(subject: RunSubject) -> str:
    """Say how long a run took, as the end of its line "Started"."""
    run = subject.snapshot.run
    # The clock of another machine says nothing about this run.
    if training.trained_elsewhere(subject.store, run.id):
        return ", from a bundle of models trained elsewhere"
    seconds = training.runtime(run)
    return f", took {duration(seconds)}" if seconds else ""


def _versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"fairdash {__version__} (results version {RESULTS_VERSION}), "
        f"Python {platform.python_version()}, {packages}"
    )


def audited(subject: DataSubject) -> Sequence[Block]:
    """Return every measure of scores that were brought along, by group and locally."""
    blocks: list[Block] = []
    dataset = subject.dataset
    data = subject.dataset_id
    roles = dataset.roles
    groups = dataset.group_names
    favourable = roles.positive_is != "unfavourable"
    for model in trials.own_models(subject.store, data):
        looked_at = gaps.opening_measure(subject.store, model, data)
        if subject.small_groups:
            return [Words(small_groups.few_words("measures"))]
        table = gaps.every_measure(subject.store, model, data, favourable=favourable)
        sentences = table.set_index("measure")["sentence"]
        blocks.append(Words(sentences[catalog.MEASURE_NAMES[looked_at]], finding=True))
        measures = gaps.readable_measures(table, groups, roles.group_prefix())
        # The sentence of one measure stands above the table already.
        measures = measures.drop(columns="In words")
        rows = f"{plural(dataset.n_people, 'row')}, all of the table; 95% intervals."
        blocks.append(Table(f"Every measure of {model.label} by group", measures, rows))
        if gaps.predicts_classes(subject.store, model, data):
            blocks += outcome_blocks(gaps.every_class(subject.store, model, data))
        local = gaps.local_by_measure(
            subject.store, [model], data, subject.subgroups, looked_at
        )
        local, hidden = small_groups.without_small_groups(local)
        local = replace(local, inside=())  # no verdict stands here
        words = small_groups.suppressed_words(hidden, f"for {model.label}")
        if len(hidden) == len(local.model_gaps):
            blocks.append(Words(words))
            continue
        title = f"{catalog.MEASURE_NAMES[looked_at]} of {model.label} by subgroup"
        answer = Answer(
            "",
            figure=local.drawing(dataset),
            table=Listing(title, local.ranked(roles.group_prefix())),
            caption=" ".join(filter(None, [local.caption(), words])),
        )
        blocks += blocks_of(answer)
    return blocks
