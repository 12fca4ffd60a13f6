"""The findings of a report: what was found, where, and among which models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from fairdash import plots
from fairdash._metric_names import MAIN, PARITY, WORST, metric_title
from fairdash._wording import (
    gap_size,
    limit_words,
    listing,
    plural,
    sentences,
    without_sentences,
)
from fairdash.audits import (
    DecisionRule,
    Drawing,
    Listing,
    Setting,
    StoredSweep,
    choices,
    gaps,
    portable,
    recommendation,
    sweeps,
    trials,
)
from fairdash.datasets import Dataset, Subgroups
from fairdash.linked import LinkedView, linked_data
from fairdash.methods import CATALOG
from fairdash.metrics import Speech
from fairdash.reports._blocks import Block, Figure, Pictures, Table, Words, blocks_of
from fairdash.reports._small_groups import (
    hidden_names,
    suppressed_words,
    without_small_groups,
)
from fairdash.store import Snapshot, Store
from fairdash.sweep import SweepResult, SweepSpec

MEASURED = {metric: metric_title(metric) for metric in MAIN}


@dataclass(frozen=True, eq=False)
class DataSubject:
    """A data set that a report is about, and what is computed of it."""

    store: Store
    dataset_id: str

    @cached_property
    def dataset(self) -> Dataset:
        """The rows."""
        return self.store.dataset(self.dataset_id)

    @cached_property
    def subgroups(self) -> Subgroups:
        """The subgroups of the data set, as pages show them."""
        return self.store.dataset_record(self.dataset_id).subgroups

    @cached_property
    def group_sizes(self) -> dict[str, int]:
        """Number of rows of each group."""
        return self.dataset.group_sizes

    @cached_property
    def small_groups(self) -> list[str]:
        """The groups to suppress, for a group has too few rows in the table."""
        sizes = pd.Series(self.group_sizes, name="n")
        return hidden_names(sizes.rename_axis("subgroup").reset_index())


@dataclass(frozen=True, eq=False)
class RunSubject(DataSubject):
    """A run, the model a report is about, and what is computed of them."""

    snapshot: Snapshot
    name: str | None  # of the model, by id or beginning of its label
    rule: DecisionRule

    @cached_property
    def spec(self) -> SweepSpec:
        """The specification of the run."""
        return SweepSpec.of_run(self.snapshot.run.spec)

    @cached_property
    def model(self) -> Setting:
        """The model the report is about."""
        run_id = self.snapshot.run.id
        model = portable.model_asked(self.store, run_id, self.name, self.rule)
        return model.decided_by(self.rule)

    @cached_property
    def models(self) -> list[Setting]:
        """The model after the plain one that it is compared with, if there is one."""
        models = trials.known_models_of(self.store, [self.snapshot.run.id])
        by_rule = [model.decided_by(self.rule) for model in models]
        return trials.beside_plain(self.model, by_rule)

    @cached_property
    def local(self) -> gaps.LocalResult:
        """Local gaps of the models, all of them."""
        return self.local_of(self.models)

    def local_of(self, models: Sequence[Setting]) -> gaps.LocalResult:
        """Return local gaps of some models."""
        return gaps.local_by_measure(
            self.store, models, self.dataset_id, self.subgroups
        )

    @property
    def speech(self) -> Speech:
        """The words for a positive prediction and for the groups."""
        return gaps.speech_of(self.store, self.dataset_id)

    @property
    def favourable(self) -> bool:
        """Whether a positive prediction is good for the person, as far as known."""
        return self.dataset.roles.positive_is != "unfavourable"

    @cached_property
    def published(self) -> tuple[gaps.LocalResult, list[str]]:
        """Local gaps without suppressed subgroups, and the names of these."""
        return without_small_groups(self.local)

    def suppressed(self) -> str:
        """Say which subgroups are suppressed; nothing where none is."""
        _, hidden = self.published
        return suppressed_words(hidden, "on test rows")


def summary(subject: RunSubject) -> Sequence[Block]:
    """Return the findings before and after, the numbers, and the changes."""
    result, _ = subject.published
    answer = result.answer(subject.dataset, subject.subgroups)
    metrics = gaps.named_metrics(
        subject.store,
        trials.on_shared_seeds(subject.models).models,
        subject.dataset_id,
        subject.subgroups,
    )
    blocks: list[Block] = []
    verdict = answer.verdict
    details = answer.details
    if result.widest is None:
        # No subgroup has a gap to name, so the sentence is about all rows.
        outcome = gaps.outcome(subject.store, subject.snapshot, subject.models).answer()
        verdict = outcome.verdict
        details = outcome.details
    elif len(subject.models) > 1:
        before, after = _before_and_after(subject)
        blocks.append(Words(f"Before: {sentences(*before)}", finding=True))
        new = [sentence for sentence in after if sentence not in before]
        verdict = f"After: {sentences(*new) or 'the same.'}"
        details = without_sentences(details, sentences(*before, *after))
    # A column for each model: a report has few models and many measures.
    table = gaps.readable(metrics).drop(columns=["Seeds", "Test rows"])
    table = table.set_index("Model").T.rename_axis("Measure").reset_index()
    whole = replace(
        answer,
        verdict=verdict,
        details=details,
        cards=subject.local.kpis(),
        figure=Drawing("plot_comparison", metrics),
        table=Listing("Models on test rows", table, "95% intervals."),
        caption=f"{_summary_caption(result)} {result.note}".strip(),
    )
    return [*blocks, *blocks_of(whole)]


def _before_and_after(
    subject: RunSubject,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences about the plain model, and those about all models."""
    before, _ = without_small_groups(subject.local_of(subject.models[:1]))
    after, _ = subject.published
    speech = subject.speech
    favourable = subject.favourable
    return (
        before.brief_sentences(speech, favourable=favourable),
        after.brief_sentences(speech, favourable=favourable),
    )


def _summary_caption(result: gaps.LocalResult) -> str:
    """Say of how many rows and seeds the numbers are, and the floor of chance."""
    seeds = plural(result.n_seeds, "seed")
    mean = seeds if result.n_seeds == 1 else f"mean of {seeds}"
    caption = f"{result.size}, {mean}, 95% intervals."
    if pd.notna(result.chance):
        caption += (
            f" By chance, the largest local gap of {result.label} stays below "
            f"{gap_size(result.chance)} in 95% of cases."
        )
    return caption


def local(subject: RunSubject) -> Sequence[Block]:
    """Return the gap between groups in every subgroup, as figure and table."""
    result, hidden = subject.published
    words = subject.suppressed()
    if len(hidden) == len(result.model_gaps):
        return [Words(words)]
    answer = result.answer(subject.dataset, subject.subgroups)
    return blocks_of(replace(answer, verdict="", cards=(), changes=None, details=words))


def tried(subject: RunSubject) -> Sequence[Block]:
    """Return which settings were trained, how one was chosen, and their test rows."""
    run = subject.snapshot.run
    if run.over:
        sweep = sweeps.finished_sweep(subject.store, run.id, subject.rule)
    else:
        sweep = StoredSweep.of(subject.store, subject.snapshot, subject.rule)
    if sweep is None:
        return []
    blocks: list[Block] = [Words(_choice_words(subject, sweep))]
    if sweep.result.methods:
        blocks += _pictures(subject, sweep)
        blocks.append(_front(subject, sweep))
    blocks.append(_settings_table(subject, sweep))
    return blocks


def _choice_words(subject: RunSubject, sweep: StoredSweep) -> str:
    """Say how many settings there are, how one was chosen, and on which rows."""
    failed = subject.snapshot.count("failed")
    methods = dict.fromkeys(CATALOG[key].label for key in sweep.result.means["method"])
    finished = (
        f"{plural(len(sweep.result.means), 'setting')} of {listing(methods)} on "
        f"{plural(sweep.result.n_seeds, 'seed')} finished"
    )
    if failed:
        finished += f"; {plural(failed, 'model')} failed"
    choice = "No setting was chosen among others."
    about = f"The report is about {subject.model.label}"
    if sweep.result.methods:
        best = recommendation.recommend(sweep, subject.spec.di_limit)
        compared = best.beside(_place_of(subject, sweep))
        choice = sentences(compared, sweep.none_decides())
        # Somebody may ask for the report of a setting that was not recommended.
        if best.place is not None and subject.model.id != sweep.ids[best.place]:
            about += ", which was picked instead"
    rows = "All numbers reported are of test rows, on which nothing was chosen."
    return f"{finished}. {choice} {about}. {rows}"


def _place_of(subject: RunSubject, sweep: StoredSweep) -> int | None:
    """Return the place of the setting that the report is about, if the sweep has it."""
    ids = sweep.ids
    return ids.index(subject.model.id) if subject.model.id in ids else None


def _pictures(subject: RunSubject, sweep: StoredSweep) -> list[Block]:
    """Return the linked pictures of a sweep that is over; none where a group is small.

    A density or a quantile of few rows would show them.
    """
    if not subject.snapshot.run.over or subject.small_groups:
        return []
    local = gaps.local_by_measure(
        subject.store, subject.models[-1:], subject.dataset_id, sweep.subgroups
    )
    _, hidden = without_small_groups(local)
    limit = subject.spec.di_limit
    place = _place_of(subject, sweep) or 0
    caption = sentences(
        "Every picture is of one setting. Sliders, a click on a mark or a cell, and "
        "arrow keys on the map choose it. Numbers are means over seeds, of test rows; "
        "weights are of training rows.",
        suppressed_words(hidden, "in these pictures"),
    )
    data = linked_data(sweep, LinkedView(limit, hidden=tuple(hidden)))
    return [Pictures("All settings under one hand", data, place, caption)]


def _front(subject: RunSubject, sweep: StoredSweep) -> Figure:
    """Return the largest local gap of every setting against its accuracy."""
    axes = (WORST, "accuracy")
    limit = subject.spec.di_limit
    picture = plots.plot_front(
        choices.front_points(sweep, axes, limit),
        axes=axes,
        limit=limit,
        n_seeds=sweep.result.n_seeds,
        chance=sweep.chance(),
        own=choices.own_points(sweep, axes),
    )
    run = subject.snapshot.run
    trained = trials.trained_on(
        subject.store, run.dataset_id, run.spec.get("train_rows")
    )
    notes = [sweep.result.ranking_words(WORST), trained]
    if trials.own_models(subject.store, run.dataset_id):
        notes.append(trials.OWN_NOTE)
    return Figure(picture, sentences(*notes))


def _decides(result: SweepResult, place: int) -> str:
    """Return yes, or the mark of a setting that decides nearly alike for all."""
    on_validation = result.deciding(place).mark()
    if on_validation:
        return on_validation
    on_test = result.deciding(place, "test").mark()
    if on_test:
        return f"{on_test} on test rows"
    return "yes"


def _settings_table(subject: RunSubject, sweep: StoredSweep) -> Table:
    """Return the numbers of all settings, those on the front first."""
    result = sweep.result
    limit = subject.spec.di_limit
    points = result.points((WORST, "accuracy"), limit)
    within = f"Within the {limit_words(limit, sweeps.LIMITED[PARITY])}"
    columns: dict[str, object] = {"Setting": points["label"]}
    for part in ("validation", "test"):
        for metric, title in MEASURED.items():
            columns[f"{title}, {part}"] = result.means[f"{part}_{metric}"].to_numpy()
    columns |= {
        within: points["within"].map({True: "yes", False: "no"}),
        "On front": points["front"].map({True: "yes", False: "no"}),
        "Decides": [_decides(result, place) for place in points["place"]],
    }
    order = points.sort_values(["front", "x"], ascending=[False, True]).index
    note = "Means over seeds. The limit is judged on validation rows."
    return Table("All settings", pd.DataFrame(columns).loc[order], note)
