"""The rest of a report: scores, data without rows, definitions, how to reproduce it."""

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd

from fairdash import __version__, plots
from fairdash._wording import count, duration, listing, number, plural, utc
from fairdash.audits import (
    DI_HELP,
    Answer,
    Drawing,
    Listing,
    base_rate_kpis,
    base_rates,
    calibration_of,
    correction_verdict,
    every_measure,
    local_by_measure,
    own_models,
    part_sizes,
    readable_measures,
    runtime,
    score_name,
    trained_as,
    trained_elsewhere,
)
from fairdash.datasets import split
from fairdash.methods import CATALOG
from fairdash.metrics import MEASURE_NAMES
from fairdash.postprocessing import (
    RampThreshold,
    SplitScores,
    as_margins,
    fit_baselines,
    trade_off_table,
)
from fairdash.reports._answers import blocks_of
from fairdash.reports._blocks import Block, Cards, Code, Facts, Figure, Table, Words
from fairdash.reports._sections import Found, FoundData
from fairdash.reports._small_groups import (
    base_cells,
    few_words,
    suppressed_words,
    without_small_groups,
)
from fairdash.store import Store
from fairdash.sweep import PARITY, RESULTS_VERSION, SweepSpec, python_script

PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy", "torch")
_TERMS = {
    "Test rows": "Rows that no model was trained or chosen on. Every number reported "
    "is of them, unless validation rows are named.",
    "Validation rows": "Rows on which settings are compared and one is chosen.",
    "Accuracy": "The share of rows whose predicted outcome is the recorded one.",
    "DI": DI_HELP,
    "Local DI": "The same difference inside one subgroup.",
    "Worst-1-DI": "The largest local DI of the subgroups that are estimable.",
    "Chance alone": "What the largest gap of a model that is fair in every subgroup "
    "stays below in 95% of cases: groups shuffled within subgroups. The largest of "
    "many noisy gaps is never 0.",
    "95% interval": "Where the value of the population lies with 95% confidence: "
    "Wilson for a rate, Newcombe for a gap; the lower end of a largest gap counts all "
    "pairs it is the largest of (Bonferroni). Over several seeds its ends are means.",
    "Paired change": "The difference of two models on the same rows, resampled "
    "together. It is clear when its interval excludes 0.",
    "Not estimable": "Too few rows, or none of a group. It is never shown as 0, for 0 "
    "means fair.",
    "Constant": "A model that decides alike for everyone, or as chance might on "
    "the rows: its gaps say nothing.",
    "Seed": "Splits the rows anew and trains anew.",
}
_BASE = {
    "subgroup": "Subgroup",
    "group": "Group",
    "n": "Rows",
    "rate": "Base rate",
    "ci_low": "Low",
    "ci_high": "High",
    "reason": "Not estimable",
}
_CHANGED = {
    "group": "Group",
    "n": "Rows",
    "rate_before": "Rate before",
    "rate": "Rate after",
    "up": "To 1",
    "down": "To 0",
    "changed": "Changed",
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


def data(found: FoundData) -> Sequence[Block]:
    """Return what the data are, by counts and rates alone: no row is shown."""
    dataset, least = found.dataset, found.least
    record = found.store.dataset_record(found.dataset_id)
    roles, rates = dataset.roles, base_rates(dataset, found.subgroups)
    sizes = rates.groups.set_index("group")["n"]
    few = found.small_groups
    counts = [
        f"{name} ({'suppressed' if name in few else plural(int(sizes[name]), 'row')})"
        for name in dataset.group_names
    ]
    parts = map(count, part_sizes(found.store, found.dataset_id))
    names = ", ".join(roles.features)
    facts = {
        "Table": f"{record.table_name}, sha256 {record.table_sha256}",
        "Rows": f"{count(dataset.n_rows)} used of {count(record.n_rows)}",
        "Training, validation and test rows": f"{' / '.join(parts)} for each seed",
        "Outcome": roles.positive_words(),
        "Sensitive feature": f"{roles.sensitive_feature}: {listing(counts)}",
        "Subgroups": " × ".join(found.subgroups.columns) or "none",
        "Features": f"{len(roles.features)}: {names}",
    }
    n_read = max(record.n_rows, 1)
    blocks: list[Block] = [
        Cards(base_rate_kpis(rates, dataset.n_rows, n_read, guessed=False)),
        Facts(facts),
    ]
    if len(dataset.excluded):
        excluded = dataset.excluded[["reason", "column", "rows"]]
        shown = excluded.rename(columns={"rows": "Rows"}).rename(columns=str.title)
        blocks.append(Table("Rows excluded", shown))
    if few:
        return [*blocks[1:], Words(few_words(least))]
    cells, hidden = base_cells(rates, least)
    picture = plots.plot_base_rates(
        cells,
        rates.groups,
        groups=dataset.group_names,
        outcome=roles.outcome(),
        source=plural(dataset.n_rows, "row") + ".",
    )
    table = cells[list(_BASE)].rename(columns=_BASE)
    words = suppressed_words(hidden, least)
    blocks.append(Figure(picture, words, Table("Base rates", table, words)))
    return blocks


def definitions(found: Found) -> Sequence[Block]:
    """Return what the words mean, and what the methods and their parameters are."""
    methods = dict.fromkeys(trial.method for trial in found.snapshot.trials)
    known = [CATALOG[key] for key in methods if key in CATALOG]
    items = {m.label: f"{m.summary} Source: {m.source}." for m in known}
    swept = {name for grid in found.spec.methods for name in grid.params}
    for method in known:
        for param in method.params:
            if param.letter and param.name in swept and param.help:
                items[f"{param.label} ({param.letter})"] = param.help
    return [Facts(_TERMS), Facts(items, "Methods and their parameters")]


def reproduce(found: Found) -> Sequence[Block]:
    """Return the configuration, seeds and versions, and how to train the same."""
    run = found.snapshot.run
    spec = portable_spec(found.store, run.id)
    table = "" if spec.data.sample else " --table FILE"
    argument = "" if spec.data.sample else " FILE"
    seeds = sorted({trial.seed for trial in found.snapshot.trials})
    trained = trained_as(found.store, run.id)
    seconds = runtime(run)
    took = f", took {duration(seconds)}" if seconds else ""
    if trained_elsewhere(found.store, run.id):
        took = ", from a bundle of models trained elsewhere"
    facts = {
        "Run": f"{run.id}, {run.name}, {run.status}",
        "Started": f"{utc(run.created)}{took}",
        "Models": f"{found.snapshot.count('finished')} finished of "
        f"{len(found.snapshot.trials)}",
        "Seeds": ", ".join(map(str, seeds)),
        "Versions here": f"fairdash {__version__} (results version {RESULTS_VERSION}), "
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "Trains the same models": "yes, this version does"
        if trained.now
        else "no, an earlier version trained these models",
        "From the shell": f"fairdash run config.yaml{table}",
        "In Python": f"python script.py{argument}",
    }
    return [
        Facts(facts),
        Code("config.yaml", spec.to_yaml()),
        Code("script.py", python_script(spec)),
    ]


def audited(found: FoundData) -> Sequence[Block]:
    """Return every measure of scores that were brought along, by group and locally."""
    blocks: list[Block] = []
    dataset, data = found.dataset, found.dataset_id
    roles, groups = dataset.roles, dataset.group_names
    favourable = roles.positive_is != "unfavourable"
    looked_at = "selection_rate" if favourable else "false_positive_rate"
    for model in own_models(found.store, data):
        if found.small_groups:
            return [Words(few_words(found.least))]
        table = every_measure(found.store, model, data, favourable=favourable)
        sentences = table.set_index("measure")["sentence"]
        blocks.append(Words(sentences[MEASURE_NAMES[looked_at]], finding=True))
        shown = readable_measures(table, groups, roles.sensitive_feature)
        shown = shown.drop(columns="In words")
        rows = f"{plural(dataset.n_rows, 'row')}, all of the table; 95% intervals."
        blocks.append(Table(f"Every measure of {model.label} by group", shown, rows))
        curve = calibration_of(found.store, model, data)
        if curve["n"].min() >= found.least:
            picture = plots.plot_calibration(
                curve,
                groups=groups,
                feature=roles.sensitive_feature,
                outcome=roles.outcome(),
                score=score_name(model),
            )
            blocks.append(Figure(picture, rows))
        local = local_by_measure(found.store, [model], data, found.subgroups, looked_at)
        local, hidden = without_small_groups(local, found.least)
        local = replace(local, named=None)  # no verdict stands here
        words = suppressed_words(hidden, found.least)
        if len(hidden) == len(local.own):
            blocks.append(Words(words))
            continue
        title = f"{MEASURE_NAMES[looked_at]} of {model.label} by subgroup"
        answer = Answer(
            "",
            figure=local.drawing(dataset),
            table=Listing(title, local.ranked(roles.sensitive_feature)),
            caption=" ".join(filter(None, [local.caption(), words])),
        )
        blocks += blocks_of(answer)
    return blocks


def corrected(found: Found) -> Sequence[Block]:
    """Return what thresholds by group would change, learned on validation rows.

    The ramp is the one that Post-process opens on, of the model's first seed.
    """
    dataset, trial = found.dataset, found.model.trials[0]
    parts = split(dataset, trial.seed)
    scores = found.store.artifact(trial.key).scores()
    groups = dataset.group_names
    sizes = np.bincount(dataset.group[parts.test], minlength=len(groups))
    if sizes.min() < found.least:
        return [Words(few_words(found.least))]
    try:
        rows = SplitScores.of(
            as_margins(scores, "probability"),
            dataset.sensitive_features,
            calibration=parts.validation,
            test=parts.test,
            y=dataset.y,
            weight=dataset.sample_weight,
            score_type="probability",
            names=groups,
        )
        ramp = RampThreshold(score_type="probability").fit_rows(rows.calibration)
    except ValueError as error:
        return [Words(f"{found.model.label} was not corrected: {error}")]
    report = ramp.report(rows.test)
    table = trade_off_table(ramp, report, fit_baselines(rows.calibration))
    how = (
        f"{found.model.label}, seed {trial.seed}: a ramp of width {ramp.gamma:g} at "
        f"the most accurate common rate, {number(ramp.target_rate_)}, learned on "
        f"{count(len(parts.validation))} validation rows and reported on "
        f"{count(len(parts.test))} test rows."
    )
    feature = dataset.roles.sensitive_feature
    changed = report.changed[list(_CHANGED)].rename(columns=_CHANGED)
    note = f"Expected decisions of test rows, by {feature}."
    answer = Answer(
        f"{correction_verdict(report)} {report.details()}",
        figure=Drawing("plot_trade_off", table, {"rows": "test"}),
        table=_settled(table),
        details=how,
        changes=Listing("Decisions that change", changed, note),
    )
    return blocks_of(answer)


def _settled(table: pd.DataFrame) -> Listing:
    """Return accuracy and DI of every method, without the line of tolerances."""
    names = {"label": "Thresholds"}
    for name, title in (("accuracy", "Accuracy"), (PARITY, "DI")):
        names |= {name: title, f"{name}_low": f"{title}, low"}
        names |= {f"{name}_high": f"{title}, high"}
    shown = table[table["kind"] != "curve"][list(names)].rename(columns=names)
    note = "Learned on validation rows; test rows, 95% intervals."
    return Listing("Thresholds by group", shown, note)
