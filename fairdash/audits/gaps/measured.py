"""A measure of the models of a data set: who is farthest apart, and where."""

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash import _wording as wording
from fairdash._change import excludes_zero
from fairdash._deciding import MOST_SEEDS
from fairdash._metric_names import PARITY, WORST
from fairdash.audits.gaps.evaluation import (
    decision_facts,
    metrics_by_setting,
    paired_changes,
)
from fairdash.audits.gaps.local import LocalResult
from fairdash.audits.gaps.local_gaps import SEVERAL
from fairdash.audits.trials.memo import memoised
from fairdash.audits.trials.models import Setting, on_shared_seeds
from fairdash.audits.trials.own_settings import beside_trained
from fairdash.audits.trials.rows import Rows, Tested, tested
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    TOO_FEW,
    BothWays,
    Drawn,
    Finding,
    LocalMeasure,
    Speech,
    both_ways,
    calibration_curve,
    catalog,
    intervals,
    measure_gaps,
    views,
)
from fairdash.scored import ScoredModel
from fairdash.store import Store
from fairdash.sweep import BASELINE

_ALL = Subgroups()
_SURE = 0.975


def asked_of(
    rows: Rows, model: ScoredModel, measure: str, *, inside: bool = False
) -> dict[str, Any]:
    """Return what the functions of `fairdash.metrics` take to measure a model on rows.

    ``inside`` subgroups, else over all of the rows.
    """
    groups = rows.groups
    if not inside:
        groups = {"sensitive_features": groups["sensitive_features"]}
    y: Any = rows.y
    predicted: Any
    kind = catalog.measure_of(measure)
    if kind.outcome != "classes":
        y, predicted = rows.numbers(model, measure)
    elif kind.takes == "rank":
        predicted = rows.ranks(model)
    elif kind.takes == "probability":
        predicted = rows.scores(model)
    else:
        predicted = rows.decisions(model)
    return {
        "measure": measure,
        "y_true": y,
        "y_pred": predicted,
        **rows.sampling,
        **groups,
    }


def other_measures(store: Store, model: Setting, dataset_id: str) -> list[str]:
    """Return the measures of a model that are not of two classes.

    A column of numbers has errors where the outcome is a number; scores rank the rows.
    """
    score = model.score
    if score is not None and score.kind == "decision":
        return []
    numbers = catalog.NUMBER_MEASURES if _of_numbers(store, model, dataset_id) else ()
    return [*numbers, *catalog.RANKING_MEASURES]


def opening_measure(
    store: Store, model: Setting, dataset_id: str, measure: str = "selection_rate"
) -> str:
    """Return the measure that an audit of own scores opens at.

    That is the mean error of predicted numbers, and the false positive rate where a
    positive outcome is bad news, else ``measure``.
    """
    if _of_numbers(store, model, dataset_id):
        return measure if measure in catalog.NUMBER_MEASURES else "mean_error"
    roles = store.dataset(dataset_id).roles
    unfavourable = roles.positive_is == "unfavourable"
    return "false_positive_rate" if unfavourable else measure


def _of_numbers(store: Store, model: Setting, dataset_id: str) -> bool:
    score = model.score
    numbers = store.dataset(dataset_id).outcome_numbers
    return score is not None and score.kind == "score" and numbers is not None


def local_by_measure(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
) -> LocalResult:
    """Compare a measure of some models inside subgroups.

    Trained models are looked at on the test rows of the seeds that all of them have,
    score columns on the same rows, or on all rows where no trained model is compared.
    Paired changes are of selection rates.
    """
    favourable = store.dataset(dataset_id).roles.positive_is != "unfavourable"
    return _local_result(store, models, dataset_id, subgroups, measure, favourable)


@memoised(256)
def _local_result(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str,
    favourable: bool,
) -> LocalResult:
    models = beside_trained(models)
    compared = on_shared_seeds(models)
    first, main = compared.models[0], compared.models[-1]
    tables, rows, chances = [], [], []
    inside: list[tuple[Finding, ...]] = []
    whole: Finding | None = None
    for model in compared.models:
        trials = tested(store, model, dataset_id, subgroups)
        by_trial = [_measured(trial, measure) for trial in trials]
        # on all rows the trials of several seeds are of the same rows
        parts = [result.estimates.assign(seed=k) for k, result in enumerate(by_trial)]
        table = views.over_seeds(
            pd.concat(parts, ignore_index=True).assign(model=model.label)
        )
        inside.append(_inside(trials, measure, table))
        whole = widest_gap(store, model, dataset_id, measure, favourable=favourable)
        tables.append(_with_named(table, measure, inside[-1], whole))
        rows.append(_model_row(model, tables[-1], measure, by_trial))
        chances.append(float(np.mean([result.chance for result in by_trial])))
    changes = None
    # the plain model is what others change, and changes nothing itself
    corrected = main is not first and main.method != BASELINE
    rates = measure == "selection_rate" and not any(model.is_own for model in models)
    if corrected and rates:
        changes = paired_changes(store, main, first, dataset_id, subgroups)
    return LocalResult(
        main.label,
        pd.concat(tables, ignore_index=True),
        pd.DataFrame(rows),
        chances[-1],
        changes,
        " ".join(filter(None, [compared.note(), recalibrated(main, measure)])),
        measure,
        "test row" if main.seeds else "row",
        inside=inside[-1],
        whole=whole,
        earlier=tuple(inside[:-1]),
        opposed=_opposed(tested(store, main, dataset_id, subgroups), measure),
    )


def _opposed(trials: Sequence[Tested], measure: str) -> BothWays | None:
    return both_ways([_local(trial, measure) for trial in trials])


def recalibrated(model: Setting, measure: str) -> str:
    """Say how deciles become probabilities where a measure takes these; else ""."""
    score = model.score
    graded = score is not None and score.kind == "score"
    takes = catalog.measure_of(measure).takes
    return catalog.RECALIBRATED if graded and takes == "probability" else ""


def named_metrics(
    store: Store, models: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return `metrics_by_setting`, gaps with the intervals of `local_by_measure`.

    So a gap that Train and Local fairness show has one interval.
    """
    table = metrics_by_setting(store, models, dataset_id, subgroups)
    names = {"overall": PARITY, "worst_1": WORST}
    for place, model in zip(table.index, models, strict=True):
        row = local_by_measure(store, [model], dataset_id, subgroups).row
        for name, metric in names.items():
            if np.isclose(row[name], table.loc[place, metric]):
                for end in ("low", "high"):
                    table.loc[place, f"{metric}_{end}"] = row[f"{name}_{end}"]
    return table


def _with_named(
    table: pd.DataFrame, measure: str, inside: Sequence[Finding], whole: Finding
) -> pd.DataFrame:
    """Give a gap the interval with which it is named, so that a number has one.

    A mean over seeds of gaps is another number than the gap of means, and keeps its
    own. The largest gap has the interval of its subgroup.
    """
    gap = (table["measure"] == views.gap_of(measure)) & table["group"].isna()
    subgroup = table["subgroup"].astype(object).to_numpy()
    over_all = table["subgroup"].isna().to_numpy()
    value, low, high = (
        table[name].to_numpy(np.float64).copy() for name in ("value", "low", "high")
    )
    rows = np.flatnonzero(gap)
    named = [(finding.subgroup or wording.NO_SUBGROUPS, finding) for finding in inside]
    for place, finding in (*named, (None, whole)):
        there = over_all[rows] if place is None else subgroup[rows] == place
        own = rows[there & np.isclose(value[rows], abs(finding.value))]
        least, most = sorted((abs(finding.low), abs(finding.high)))
        low[own], high[own] = (least if finding.clear else 0.0), most
    places = rows[~over_all[rows] & np.isfinite(value[rows])]
    if len(places):
        widest = places[value[places].argmax()]
        own = np.flatnonzero(table["measure"] == views.worst_of(measure))
        own = own[np.isclose(value[own], value[widest])]
        low[own], high[own] = low[widest], high[widest]
    return table.assign(low=low, high=high)


def _model_row(
    model: Setting, table: pd.DataFrame, measure: str, trials: Sequence["_Trial"]
) -> dict[str, Any]:
    deciding = pd.DataFrame([result.deciding for result in trials]).mean()
    row: dict[Any, Any] = {
        "label": model.label,
        "method": model.method,
        "colour_role": model.colour_role,
        "n_seeds": len(trials),
        "n": float(np.mean([result.n for result in trials])),
        **deciding.to_dict(),
        "worst_k": float(np.mean([result.worst_k for result in trials])),
        "chance_k": float(np.mean([result.chance_k for result in trials])),
    }
    names = {"overall": views.gap_of(measure), "worst_1": views.worst_of(measure)}
    for name, what in names.items():
        whole = views.of_all_rows(table, what).iloc[0]
        row |= {name: whole["value"]}
        row |= {f"{name}_{end}": whole[end] for end in ("low", "high")}
    return row


def _inside(
    trials: Sequence[Tested], measure: str, table: pd.DataFrame
) -> tuple[Finding, ...]:
    # By mean values over seeds, the higher one first. The interval holds for all
    # pairs of groups in all estimable subgroups at once, since pair and place are named
    # for their gap; one is sure at 97.5 %.
    estimable = set(views.gap_table(table, measure).query("estimable")["subgroup"])
    cells = views.value_table(table, measure).dropna(subset="value")
    cells = cells[cells["subgroup"].isin(estimable)]
    if cells.empty:
        return ()
    pairs = [_Pairs(_local(trial, measure)) for trial in trials]
    columns = ["group", "value", "n"]
    findings = []
    for place, own in cells.groupby("subgroup")[columns]:
        groups, values, n = (own[name].to_numpy() for name in columns)
        large = [
            np.mean([seed.is_large(str(place), g) for seed in pairs]) for g in groups
        ]
        some = np.array(large) >= MOST_SEEDS
        if some.any():
            groups, values = groups[some], values[some]
        high, low = str(groups[values.argmax()]), str(groups[values.argmin()])
        if high == low:
            continue
        pair = str(place), high, low
        few = any(seed.too_few(*pair) for seed in pairs)
        least, most = _mean_ends(pairs, *pair, 0.95)
        sure, _ = _mean_ends(pairs, *pair, _SURE)
        findings.append(
            Finding(
                measure,
                None if place == wording.NO_SUBGROUPS else str(place),
                high,
                low,
                float(np.ptp(values)),
                least,
                most,
                round(n.sum()),
                bool(sure > 0) and not few,
                TOO_FEW if few else "",
            )
        )
    return tuple(findings)


def _mean_ends(
    seeds: Sequence["_Pairs"], place: str, high: str, low: str, confidence: float
) -> tuple[float, float]:
    """Return the ends of a gap, means over the seeds in which it is estimable."""
    ends = pd.DataFrame([seed.ends(place, high, low, confidence) for seed in seeds])
    least, most = ends.mean()
    return float(least), float(most)


class _Pairs:
    """Differences of all pairs of groups in all subgroups of a trial, at once."""

    def __init__(self, local: LocalMeasure) -> None:
        groups, places = local.cells.groups, local.cells.subgroups
        self._place = {name: index for index, name in enumerate(places)}
        self._group = {name: index for index, name in enumerate(groups)}
        pairs = list(itertools.permutations(range(len(groups)), 2))
        self._pair = {pair: index for index, pair in enumerate(pairs)}
        self._sides = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self._times = int(local.estimable.sum())
        self._cells = local.reported()
        self._large = self._cells.comparable()
        first, second = self._sides
        self._few = self._cells.too_few(first, second)
        self._ends = dict[float, Any]()

    def is_large(self, place: str, group: str) -> bool:
        """Tell whether a group has enough rows in a subgroup for some pair."""
        if place not in self._place or group not in self._group:
            return False
        return bool(self._large[self._place[place], self._group[group]])

    def too_few(self, place: str, group: str, other: str) -> bool:
        """Tell whether two groups expect too few rows for a sentence to name them."""
        at = self._at(place, group, other)
        return at is None or bool(self._few[at])

    def ends(
        self, place: str, group: str, other: str, confidence: float
    ) -> tuple[float, float]:
        """Return the ends of a difference; all pairs hold at once."""
        at = self._at(place, group, other)
        if at is None:
            return np.nan, np.nan
        if confidence not in self._ends:
            n_groups = len(self._group)
            level = intervals.for_all_pairs(confidence, n_groups, times=self._times)
            first, second = self._sides
            self._ends[confidence] = self._cells.between(first, second, level)[1:]
        low, high = self._ends[confidence]
        return float(low[at]), float(high[at])

    def _at(self, place: str, group: str, other: str) -> tuple[int, int] | None:
        if place not in self._place or not {group, other} <= self._group.keys():
            return None
        return self._place[place], self._pair[self._group[group], self._group[other]]


@memoised(2000)
def values_of(
    store: Store, model: Setting, dataset_id: str, measure: str
) -> pd.DataFrame:
    """Return value by group, over seeds, and how often a group is large enough."""
    by_seed = [_local(t, measure) for t in tested(store, model, dataset_id, _ALL)]
    tables = [
        pd.DataFrame(
            {"value": local.whole.value, "large": local.comparable().astype(float)},
            index=local.cells.groups,
        )
        for local in by_seed
    ]
    mean = pd.concat(tables).groupby(level=0).mean()
    return mean.reindex(store.dataset(dataset_id).group_names)


def widest_gap(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str = "selection_rate",
    *,
    favourable: bool = True,
    reference: str | None = None,
) -> Finding:
    """Return who is furthest over all rows from a group, by default the best off.

    A gap that is sure comes before a larger one that is not. Over several seeds the gap
    and the ends of its interval are means. The interval holds for all pairs of groups
    at once, since this one is named for its gap.

    Returns
    -------
    Finding, of that group less the other
    """
    names = store.dataset(dataset_id).group_names
    table = values_of(store, model, dataset_id, measure)
    value = table["value"].to_numpy(np.float64)
    some = np.where(table["large"] >= MOST_SEEDS, value, np.nan)
    best = reference or names[catalog.best_off(measure, some, favourable=favourable)]
    trials = tested(store, model, dataset_id, _ALL)
    n_groups, held = int(np.isfinite(value).sum()), reference is not None
    every = intervals.for_all_pairs(0.95, n_groups, held=held)
    gaps = pd.concat([gaps_of(trial, measure, best, every) for trial in trials])
    numbers = ["difference", "ci_low", "ci_high", "n", "too_few"]
    by_group = gaps.groupby("group", sort=False)[numbers].mean().reset_index()
    clear = excludes_zero(by_group["ci_low"], by_group["ci_high"])
    clear &= by_group["too_few"] <= MOST_SEEDS
    by_group = by_group[clear] if clear.any() else by_group
    widest = by_group.iloc[int(by_group["difference"].abs().fillna(-1).argmax())]
    difference, low, high, n, too_few = widest[numbers]
    group, n_rows = str(widest["group"]), round(n)
    few = too_few > MOST_SEEDS
    sure = bool(excludes_zero(low, high)) and not few
    why = TOO_FEW if few else "" if sure else "the interval reaches 0"
    ends = difference, low, high
    return Finding(measure, None, group, best, *ends, n_rows, sure, why)


def speech_of(store: Store, dataset_id: str) -> Speech:
    """Return what a data set calls a positive prediction, and its groups."""
    roles = store.dataset(dataset_id).roles
    favourable = {"favourable": True, "unfavourable": False}.get(
        roles.positive_is or ""
    )
    return Speech.of(roles.spoken_outcome(), roles.sensitive_feature, favourable)


def calibration_of(store: Store, model: Setting, dataset_id: str) -> pd.DataFrame:
    """Return the calibration curve of a model by group, on the first of its seeds.

    Of a score column the curve is of the score as it stands in the table.
    """
    return _calibration(tested(store, model, dataset_id, _ALL)[0])


@lru_cache(maxsize=500)
def _calibration(trial: Tested) -> pd.DataFrame:
    rows = trial.rows
    groups = rows.groups["sensitive_features"]
    scores = rows.raw_scores(trial.model)
    return calibration_curve(rows.y, scores, sensitive_features=groups, **rows.sampling)


class _Trial(NamedTuple):
    estimates: pd.DataFrame
    chance: float
    n: int
    deciding: dict[str, float]  # of `decision_facts`; empty where nothing is decided
    worst_k: float  # mean of the `SEVERAL` largest gaps, NaN of fewer
    chance_k: float


@lru_cache(maxsize=2000)
def _measured(trial: Tested, measure: str) -> _Trial:
    local, rows = _local(trial, measure), trial.rows
    chance = local.noise_floor().quantile if local.estimable.any() else np.nan
    decides = catalog.measure_of(measure).outcome == "classes"
    facts = decision_facts(rows, trial.model) if decides else {}
    worst_k = chance_k = float("nan")
    if local.estimable.sum() >= SEVERAL:
        worst_k = float(local.worst(SEVERAL).value)
        chance_k = float(local.noise_floor(k=SEVERAL).quantile)
    n = rows.dataset.people_in(rows.where)
    return _Trial(local.estimates(), chance, n, facts, worst_k, chance_k)


@lru_cache(maxsize=64)  # a page asks the same again at every move
def _local(trial: Tested, measure: str) -> LocalMeasure:
    return LocalMeasure.of(**asked_of(trial.rows, trial.model, measure, inside=True))


@lru_cache(maxsize=2000)
def gaps_of(
    trial: Tested,
    measure: str,
    reference: str,
    confidence: float,
    rejected: bool = False,
) -> pd.DataFrame:
    """Return `measure_gaps` of a trial, or of its ``rejected`` rows."""
    options = asked_of(trial.rows, trial.model, measure)
    if rejected:
        decided = options["y_pred"]
        drawn = isinstance(decided, Drawn)
        options["y_pred"] = decided.rejected if drawn else 1 - decided
    return measure_gaps(**options, reference=reference, confidence=confidence)
