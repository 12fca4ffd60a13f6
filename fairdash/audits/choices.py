"""The models to look at first, with their words: models, fronts, choices of a sweep."""

import json
from collections.abc import Mapping, Sequence
from math import ceil, isfinite
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._change import by_metric, excludes_zero
from fairdash._deciding import Deciding
from fairdash._metric_names import PARITY, WORST
from fairdash._wording import ROWS, Noun, moved_words, sentences
from fairdash.audits.answer import Answer
from fairdash.audits.gaps import evaluation
from fairdash.audits.gaps.by_subgroup import named_metrics
from fairdash.audits.gaps.measured import speech_of, widest_gap
from fairdash.audits.kept_answers import kept_answer
from fairdash.audits.sweeps import LIMITED, StoredSweep, finished_sweep, has_axes
from fairdash.audits.trials.models import (
    Setting,
    TrainingOptions,
    on_shared_seeds,
    settings,
    told_apart,
    trained_as,
)
from fairdash.audits.trials.own_settings import own_beside
from fairdash.metrics import Finding, Speech, clause, gap_ends
from fairdash.scored import USUAL, DecisionRule
from fairdash.store import Snapshot, Store
from fairdash.sweep import BASELINE, CertifiedChoice
from fairdash.wording import GapSize, gap_brief, remedy_brief

_PAIRED = (PARITY, WORST)
_SETTING_PARTS = ("verdict", "details", "facts")  # of the answer about a setting


def notable(store: Store, run_id: str, rule: DecisionRule = USUAL) -> list[Setting]:
    """Return the settings of a sweep to look at first, none of another run.

    They decide by ``rule``. These are the one that the Sweep page opens on and then
    the fronts chosen on validation rows.
    """
    run = store.run(run_id)
    over = run.over and has_axes(run)
    sweep = finished_sweep(store, run_id, rule) if over else None
    if sweep is None:
        return []
    return sweep.once(lambda: _of_note(sweep, trained_as(store, run_id)), "notable")


def _of_note(sweep: StoredSweep, how: TrainingOptions) -> list[Setting]:
    places = sweep.result.notable(_limit_of(sweep))
    return [setting for place in places for setting in sweep.settings_at(place, how)]


def _limit_of(sweep: StoredSweep) -> float:
    """Return the largest gap over all rows that a sweep was asked to keep."""
    return float(sweep.run.spec.get("di_limit", 0.05))


def shown_settings(store: Store, snapshot: Snapshot, most: int) -> list[Setting]:
    """Return the settings of a run; of a sweep the plain one and then those of note.

    Those of one label are told apart.
    """
    run = snapshot.run.id
    models = told_apart(settings(snapshot.trials, trained_as(store, run)))
    first = [model.id for model in notable(store, run)]
    if first:
        by_id = {model.id: model for model in models}
        plain = [model.id for model in models if model.method == BASELINE]
        models = [by_id[place] for place in dict.fromkeys([*plain, *first])]
    return models[:most]


def opened_on(store: Store, run_id: str, rule: DecisionRule = USUAL) -> Setting | None:
    """Return the setting that the Sweep page opens a run on, None if it is no sweep."""
    return next(iter(notable(store, run_id, rule)), None)


def certified_words(choice: CertifiedChoice, limits: Mapping[str, float]) -> str:
    """Return the sentence on what was certified, or what it would take."""
    names = {**LIMITED, "false_positive_rate_difference": "false positive gap"}
    parts = [f"{names[key].capitalize()} ≤ {value:g}" for key, value in limits.items()]
    promise = " and ".join(parts)
    if choice.model is not None:
        return (
            f"{promise} on new rows like these is certified with 95% confidence. "
            "The test rows of the first seed certify its model."
        )
    words = f"No model can be certified to keep {promise} with 95%"
    if choice.tested.empty:
        return f"{words} confidence: none decides on validation rows."
    if choice.rows_needed < np.inf:
        return (
            f"{words} confidence. With about {_two_digits(choice.rows_needed):,} more "
            "test rows the chance is 80%, if rates stay as they are."
        )
    return f"{words} confidence: on test rows the fairest is over a limit."


def _two_digits(n: float) -> int:
    """Round 27,442 up to 28,000, so that as many are enough."""
    unit = 10 ** max(len(f"{n:.0f}") - 2, 0)
    return ceil(n / unit) * unit


def front_points(
    sweep: StoredSweep, axes: tuple[str, str], limit: float, *, metric: str = PARITY
) -> pd.DataFrame:
    """Return the settings of a front's figure, with the column ``quiet``.

    Quiet are settings whose accuracy and gap across do not differ beyond chance from
    those of the plain model, see `quiet_changes`. Of a gap across without an interval
    of its paired change it is the gap over all rows.
    """
    across = axes[0] if axes[0] in _PAIRED else PARITY
    quiet = sweep.once(lambda: _quiet_places(sweep, across), "quiet", across)
    points = sweep.result.points(axes, limit, metric=metric)
    return points.assign(quiet=[place in quiet for place in range(len(points))])


def _quiet_places(sweep: StoredSweep, across: str) -> set[int]:
    data = sweep.run.dataset_id
    subgroups = sweep.subgroups
    tables = {}
    for place in range(len(sweep.ids)):
        *plain, model = on_shared_seeds(sweep.compared(place)).models
        if plain:
            tables[place] = evaluation.paired_changes(
                sweep.store, model, plain[0], data, subgroups, inside=across != PARITY
            )
    quiet = quiet_changes(list(tables.values()), ["accuracy", across])
    return {place for place, same in zip(tables, quiet, strict=True) if same}


def quiet_changes(
    tables: Sequence[pd.DataFrame], metrics: Sequence[str]
) -> NDArray[np.bool_]:
    """Return for each table of `fairdash.metrics.compare` whether nothing is clear.

    The 95 % intervals are widened by the ratio of normal quantiles until all of all
    tables hold at once (Bonferroni): of copies of the reference all are quiet in 95 %
    of cases, however many there are. Quiet is a table whose intervals of the
    ``metrics`` all hold 0.
    """
    if not tables:
        return np.zeros(0, dtype=bool)
    changes = pd.concat(tables, keys=range(len(tables)))
    changes = changes[changes["metric"].isin(metrics)]
    z = NormalDist().inv_cdf
    wider = z(1 - 0.025 / len(changes)) / z(0.975)
    change = changes["difference"]
    low = change - wider * (change - changes["low"])
    high = change + wider * (changes["high"] - change)
    holds = low.notna() & high.notna() & ~excludes_zero(low, high)
    return holds.groupby(level=0).all().to_numpy()


def own_points(sweep: StoredSweep, axes: tuple[str, str]) -> pd.DataFrame:
    """Return where own scores stand on the test rows of a sweep's seeds.

    Returns
    -------
    DataFrame, one row per model: label, colour_role, x, y (means over seeds), see
    `fairdash.plots.plot_front`
    """
    columns = ["label", "colour_role", "x", "y"]
    metrics = own_metrics(sweep)
    if metrics.empty:
        return pd.DataFrame(columns=columns)
    return metrics.assign(x=metrics[axes[0]], y=metrics[axes[1]])[columns]


def own_metrics(sweep: StoredSweep) -> pd.DataFrame:
    """Return the metrics of own scores on the test rows of a sweep's seeds.

    They are those of `named_metrics`, decided by the rule of the sweep; no row where
    the data set has no scores.
    """
    data = sweep.run.dataset_id
    own_settings = own_beside(sweep.store, sweep.settings_at(0), data)
    own_models = [model.decided_by(sweep.rule) for model in own_settings]
    if not own_models:
        return pd.DataFrame()
    return named_metrics(sweep.store, own_models, data, sweep.subgroups)


def setting_answer(sweep: StoredSweep, place: int) -> Answer:
    """Return what a setting of a sweep changes, on test rows."""
    outcome = sweep.store.dataset(sweep.run.dataset_id).roles.spoken_outcome()
    make = _setting_answer
    if place == first_place(sweep):
        make = _first_setting_answer
    return sweep.once(lambda: make(sweep, place), "verdict", place, outcome)


def first_place(sweep: StoredSweep) -> int:
    """Return the place that a sweep opens on."""
    return sweep.once(lambda: sweep.result.start(_limit_of(sweep)), "first place")


def _first_setting_answer(sweep: StoredSweep, place: int) -> Answer:
    """Return the answer about a setting as it is kept with the run."""

    def make() -> bytes:
        answer = _setting_answer(sweep, place)
        parts = {name: getattr(answer, name) for name in _SETTING_PARTS}
        return json.dumps(parts).encode()

    parts = json.loads(kept_answer(sweep, "setting", [place], make))
    return Answer(**parts | {"facts": tuple(parts["facts"])})


def _setting_answer(sweep: StoredSweep, place: int) -> Answer:
    data = sweep.run.dataset_id
    store = sweep.store
    *plain, model = sweep.compared(place)
    changes = None
    if plain:  # on the seeds that both have
        reference, model = on_shared_seeds([*plain, model]).models
        changes = evaluation.paired_changes(
            store, model, reference, data, sweep.subgroups
        )
    metrics = evaluation.metrics_by_setting(store, [model], data, sweep.subgroups)
    gap = widest_gap(store, model, data)
    facts = metrics.to_dict("records")[0], changes, gap, speech_of(store, data)
    before = widest_gap(store, reference, data) if plain else None
    verdict = model_brief(*facts, before=before)
    details = verdict_words(*facts, store.dataset(data).roles.noun)
    judged = sweep.result.deciding(place)
    if judged.idle and not Deciding.of(facts[0]).idle:
        what = f"{model.label} {judged.predicate()} on validation rows"
        verdict = f"{what}, so it keeps no limit."
        details = f"{verdict} {details}"
    verdict = sentences(verdict, sweep.none_decides())
    if facts[0]["n_seeds"] > 1:
        details = f"{details} {store.dataset(data).roles.test_rows_words()}"
    facts_line = f"decided 1: {sweep.rule.words()}"
    return Answer(verdict, details=details, facts=(facts_line,))


def verdict_words(
    row: Mapping[Any, Any],
    changes: pd.DataFrame | None,
    gap: Finding,
    speech: Speech,
    noun: Noun = ROWS,
) -> str:
    """Say what a model changes beside the plain one, and who is worse off by it.

    A gap narrows or widens, accuracy rises or falls, and a group is worse off, only
    where a 95% interval excludes 0; else the interval is told. ``row`` is of
    `metrics_by_setting`, ``changes`` of `paired_changes`, ``gap`` of `widest_gap`.
    """
    label = row["label"]
    rows = noun.counted(round(row["n"]), "test")
    if (deciding := Deciding.of(row)).idle:
        return deciding.details(label)
    if row["n_seeds"] > 1:
        rows = f"mean of {row['n_seeds']:.0f} seeds of {rows}"
    rows = f"95% intervals, {rows}"
    if changes is None:
        return f"By {label}, {gap_clause(gap, speech, GapSize.of(row))}. {rows}."
    moved = by_metric(changes)
    gap_change = moved[PARITY]
    accuracy = moved["accuracy"]
    return (
        f"{label}, against the plain model, "
        f"{moved_words(gap_change, 'narrows', 'widens', 'the gap between groups')}. It "
        f"{moved_words(accuracy, 'loses', 'gains', 'accuracy')}. "
        f"Now {gap_clause(gap, speech, GapSize.of(row))}. {rows}."
    )


def model_brief(
    row: Mapping[Any, Any],
    changes: pd.DataFrame | None,
    gap: Finding,
    speech: Speech,
    *,
    before: Finding | None = None,
) -> str:
    """Return `verdict_words` in short, without intervals."""
    if (deciding := Deciding.of(row)).idle:
        return deciding.brief(row["label"])
    size = GapSize.of(row)
    if changes is None:
        return gap_brief(gap, speech, size)
    moved = by_metric(changes)
    return remedy_brief(row["label"], moved, gap, speech, before=before, size=size)


def gap_clause(gap: Finding, speech: Speech, size: GapSize | None = None) -> str:
    """Say who has less than whom with the interval, or that no gap is clear."""
    if not isfinite(gap.value):
        return "the gap between groups is undefined"
    ends = gap_ends(gap.measure, gap.value, gap.low, gap.high)
    words = f"{clause(gap, speech)} ({ends})"
    if gap.clear and gap.sure:
        return words
    if size is not None and size.scattered(gap):
        return f"no two groups differ clearly over all seeds. Furthest apart: {words}"
    return f"no gap between groups is clear. The largest: {words}"
