"""Any measure of the models of a data set, by group and inside subgroups."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash._wording import (
    MINUS,
    UNDEFINED,
    four_fifths,
    group_label,
    spoken_group,
)
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    MEASURE_NAMES,
    MEASURE_SYMBOLS,
    MEASURES,
    best_off,
    calibration_curve,
    for_all_pairs,
    gap_sentence,
    mean_local_di,
    measure_by_group,
    measure_gaps,
    summarise_seeds,
)
from fairdash.results.evaluation import constant
from fairdash.results.local import LocalResult, gap_names, local_result
from fairdash.results.models import Setting, on_shared_seeds
from fairdash.results.pairs import NamedPair, asked_of, measured_locally, ratio_of_all
from fairdash.results.rows import (
    ALL_ROWS,
    Tested,
    beside_trained,
    is_own,
    on_all_rows,
    remember,
    tested,
)
from fairdash.store import Store

_WORST = (1, 2, 3)
_EVERYBODY = Subgroups()


@remember(256)
def local_by_measure(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
    reference: str | None = None,
) -> LocalResult:
    """Compare a measure of some models inside subgroups, as `local_result` does DI.

    Trained models are looked at on the test rows of the seeds that all of them have,
    score columns on the same rows, or on all rows where no trained model is compared;
    models of `cross_validated` on all rows.
    Paired changes are of selection rates alone. With a ``reference`` gaps are from that
    group; without, they are the largest between groups.
    """
    models = beside_trained(models)
    plain = measure == "selection_rate" and reference is None
    compared = on_shared_seeds(models)
    main = compared.models[-1]
    sure = _overall_sure(store, main, dataset_id, measure, reference)
    known = _values(store, main, dataset_id, measure).dropna()
    overall = {str(group): float(value) for group, value in known.items()}
    everyone = tuple(tested(store, main, dataset_id, subgroups))
    named = NamedPair(everyone, measure, reference)
    all_rows = on_all_rows(main)
    crossed = all_rows and main.seeds != {ALL_ROWS}
    if plain and not any(map(is_own, models)):
        return replace(
            local_result(store, models, dataset_id, subgroups),
            overall_sure=sure,
            overall=overall,
            rows="row" if crossed else "test row",
            crossed=crossed,
            named=named,
        )
    tables, rows, floors = [], [], []
    names = gap_names(measure)
    for model in compared.models:
        trials = tested(store, model, dataset_id, subgroups)
        found = [_measured(trial, measure, reference) for trial in trials]
        tables.append(
            mean_local_di([one.table for one in found]).assign(label=model.label)
        )
        told = {
            "label": model.label,
            "method": model.method,
            "colour_role": model.colour_role,
        }
        rows += [
            {**told, "seed": trial.seed, **one.row}
            for trial, one in zip(trials, found, strict=True)
        ]
        floors.append(float(np.mean([one.chance for one in found])))
    return LocalResult(
        compared.models[-1].label,
        pd.concat(tables, ignore_index=True).rename(
            columns={"gap": names.gap, "gap_sd": f"{names.gap}_sd"}
        ),
        summarise_seeds(pd.DataFrame(rows), ["label", "method", "colour_role"]),
        floors[-1],
        None,
        compared.note(),
        measure,
        "row" if all_rows else "test row",
        reference,
        crossed,
        sure,
        overall,
        named,
    )


def _overall_sure(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str,
    reference: str | None,
) -> bool:
    """Tell whether the gap over all rows keeps its sign over seeds, beyond chance.

    Of the groups with the lowest and the highest mean value, or of the reference and
    the one furthest from it: the signed gap and the ends of its interval, of which m
    pairs of groups share the risk, averaged over seeds. The mean of absolute gaps would
    exceed 0 also where seeds disagree.
    """
    mean = _values(store, model, dataset_id, measure).dropna()
    if len(mean) < 2:
        return False
    sure = for_all_pairs(0.95, len(mean), held=reference is not None)
    asked = measure, reference or str(mean.idxmax()), sure
    trials = tested(store, model, dataset_id, _EVERYBODY)
    gaps = pd.concat([_gaps(trial, *asked) for trial in trials])
    gaps = gaps.groupby("group")[["difference", "ci_low", "ci_high"]].mean()
    widest = gaps.iloc[int(gaps["difference"].abs().fillna(-1).argmax())]
    return bool(widest["ci_low"] > 0 or widest["ci_high"] < 0)


def every_measure(
    store: Store,
    model: Setting,
    dataset_id: str,
    *,
    favourable: bool = True,
    reference: str | None = None,
    also: str = "selection_rate",
) -> pd.DataFrame:
    """Return every measure of a model by group, over all rows it is looked at.

    Over several seeds values and ends of intervals are means. Gaps are from the
    ``reference``, by default from the group that is best off. An error cost with its
    weights, ``also``, is one measure more.

    Returns
    -------
    DataFrame, one row per measure: measure, symbol, a column per group, group, other,
    gap (signed: the group furthest from the reference minus that one, the other, both
    as a sentence calls them), ci_low, ci_high, ratio,
    ratio_low, ratio_high (the smallest over the largest value, or over that of the
    reference), four_fifths (where that is by the rule of thumb), sentence
    """
    outcome = store.dataset(dataset_id).roles.spoken_outcome()
    return _every_measure(
        store, model, dataset_id, favourable, outcome, reference, also
    )


@remember(256)
def _every_measure(
    store: Store,
    model: Setting,
    dataset_id: str,
    favourable: bool,
    outcome: str,
    reference: str | None,
    also: str,
) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "measure": MEASURE_NAMES[measure],
                "symbol": MEASURE_SYMBOLS[measure],
                **_by_groups(
                    store, model, dataset_id, measure, favourable, outcome, reference
                ),
            }
            for measure in dict.fromkeys((*MEASURES, also))
        ]
    )


@remember(2000)
def _by_groups(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str,
    favourable: bool,
    outcome: str,
    reference: str | None,
) -> dict[str, Any]:
    """Return a measure of a model by group, its widest gap, and that as a sentence."""
    gap = widest_gap(
        store, model, dataset_id, measure, favourable=favourable, reference=reference
    )
    values = _values(store, model, dataset_id, measure)
    trials = tested(store, model, dataset_id, _EVERYBODY)
    ratios = np.mean(
        [ratio_of_all(trial, measure, reference) for trial in trials], axis=0
    )
    ratio = dict(zip(("ratio", "ratio_low", "ratio_high"), ratios, strict=True))
    return {
        **{str(group): value for group, value in values.items()},
        **{name: gap[name] for name in ("group", "other", "gap", "ci_low", "ci_high")},
        **ratio,
        "four_fifths": four_fifths(ratio["ratio"], ratio["ratio_high"]),
        "sentence": gap_sentence(
            measure,
            gap["group"],
            gap["other"],
            gap["gap"],
            gap["ci_low"],
            gap["ci_high"],
            decided=gap["decided"],
            outcome=f"“{outcome}”",
        ),
    }


def every_model(
    store: Store, models: Sequence[Setting], dataset_id: str, measure: str
) -> pd.DataFrame:
    """Return a measure of some models by group on their test rows, one row per model.

    Columns are model, then those of `every_measure`; a gap is from the group that is
    best off by that model.
    """
    roles = store.dataset(dataset_id).roles
    favourable = roles.positive_is != "unfavourable"
    asked = dataset_id, measure, favourable, roles.spoken_outcome(), None
    return pd.DataFrame(
        [{"model": one.label, **_by_groups(store, one, *asked)} for one in models]
    )


@remember(2000)
def _values(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str,
) -> "pd.Series[float]":
    """Return a measure by group, the mean over seeds."""
    trials = tested(store, model, dataset_id, _EVERYBODY)
    values = pd.concat([_by_group(trial, measure) for trial in trials])
    mean = values.groupby("group", sort=False)["value"].mean()
    return mean.reindex(store.dataset(dataset_id).group_names)


def widest_gap(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str = "selection_rate",
    *,
    favourable: bool = True,
    reference: str | None = None,
) -> dict[str, Any]:
    """Return who is furthest from a group over all rows, by default the best off.

    Over several seeds the gap and the ends of its interval are means. The interval
    holds for all pairs of groups at once, since this one is named for its gap.

    Returns
    -------
    dict
        group, other (the reference), as a sentence calls them, gap (signed: of group
        minus other), ci_low, ci_high, decided (what a positive decision is called)
    """
    dataset = store.dataset(dataset_id)
    values = _values(store, model, dataset_id, measure)
    value = np.asarray(values, dtype=np.float64)
    best = (
        reference
        or dataset.group_names[best_off(measure, value, favourable=favourable)]
    )
    trials = tested(store, model, dataset_id, _EVERYBODY)
    known = int(np.isfinite(value).sum())
    sure = for_all_pairs(0.95, known, held=reference is not None)
    gaps = pd.concat([_gaps(trial, measure, best, sure) for trial in trials])
    numbers = ["difference", "ci_low", "ci_high"]
    by_group = gaps.groupby("group", sort=False)[numbers].mean().reset_index()
    widest = by_group.iloc[int(by_group["difference"].abs().fillna(-1).argmax())]
    feature = dataset.roles.sensitive_feature
    return {
        "group": spoken_group(feature, str(widest["group"])),
        "other": spoken_group(feature, best),
        "gap": widest["difference"],
        "ci_low": widest["ci_low"],
        "ci_high": widest["ci_high"],
        "decided": f"predicted “{dataset.roles.spoken_outcome()}”",
    }


def readable_measures(
    table: pd.DataFrame, groups: Sequence[str], feature: str, gap: str | None = None
) -> pd.DataFrame:
    """Return the table of `every_measure` or `every_model` with readable names.

    Intervals are of differences, or of ratios where ``gap`` is "ratio". Of two groups
    every difference is the first minus the second, as the columns stand; of more each
    row says which it is of.
    """
    table, of = _directed(table, [spoken_group(feature, group) for group in groups])
    names = {"model": "Model", "measure": "Measure"}
    names |= {group: group_label(feature, group) for group in groups}
    apart = {"of": "Gap of", "gap": of, "ci_low": "Low", "ci_high": "High"}
    apart["ratio"] = "Ratio"
    if gap == "ratio":
        apart = {"ratio": "Ratio", "ratio_low": "Low", "ratio_high": "High"}
    names |= apart | {"four_fifths": "Four fifths"}
    names |= {"sentence": "In words", "symbol": "Definition"}
    return table[[name for name in names if name in table]].rename(columns=names)


def _directed(table: pd.DataFrame, groups: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Return a table whose gaps have a direction, and what their column is called."""
    if len(groups) > 2:
        pairs = zip(table["group"], table["other"], table["gap"], strict=True)
        of = [
            f"{one} {MINUS} {other}" if np.isfinite(gap) else UNDEFINED
            for one, other, gap in pairs
        ]
        return table.assign(of=of), "Gap"
    first, second = groups
    turned = table["group"] != first
    ends = table[["gap", "ci_low", "ci_high"]]
    swapped = -ends.set_axis(["gap", "ci_high", "ci_low"], axis=1)[[*ends]]
    return table.assign(**ends.mask(turned, swapped)), f"{first} {MINUS} {second}"


def calibration_of(store: Store, model: Setting, dataset_id: str) -> pd.DataFrame:
    """Return the calibration curve of a model by group, on the first of its seeds.

    Of a score column the curve is of the score as it stands in the table.
    """
    return _calibration(tested(store, model, dataset_id, _EVERYBODY)[0])


@lru_cache(maxsize=500)
def _calibration(trial: Tested) -> pd.DataFrame:
    rows = trial.rows
    groups = rows.groups["sensitive_features"]
    scores = rows.raw_scores(trial.key)
    return calibration_curve(
        rows.y, scores, sensitive_features=groups, sample_weight=rows.sample_weight
    )


class _Found(NamedTuple):
    """A measure of one trial: its table, its row of numbers, what chance shows."""

    table: pd.DataFrame
    row: dict[str, Any]
    chance: float


@lru_cache(maxsize=2000)
def _measured(trial: Tested, measure: str, reference: str | None) -> _Found:
    key, rows = trial.key, trial.rows
    found = measured_locally(trial, measure, reference)
    names = gap_names(measure)
    overall, largest = found.overall(), found.worst()
    worst = {names.worst.format(k=k): float(found.worst(k).value) for k in _WORST}
    first = names.worst.format(k=1)
    row = {
        "n": len(rows.y),
        "constant": constant(rows, key),
        names.overall: float(overall.value),
        f"{names.overall}_low": float(overall.low),
        f"{names.overall}_high": float(overall.high),
        **worst,
        f"{first}_low": float(largest.low),
        f"{first}_high": float(largest.high),
    }
    table = found.table().drop(columns=["ratio_low", "ratio_high"])
    if measure == "selection_rate":
        table = table.rename(columns=lambda name: name.replace("value_", names.value))
    chance = found.noise_floor().quantile if found.estimable.any() else np.nan
    return _Found(table, row, chance)


@lru_cache(maxsize=2000)
def _by_group(trial: Tested, measure: str) -> pd.DataFrame:
    return measure_by_group(**asked_of(trial.rows, trial.key, measure))


@lru_cache(maxsize=2000)
def _gaps(
    trial: Tested,
    measure: str,
    reference: str,
    confidence: float,
) -> pd.DataFrame:
    asked = asked_of(trial.rows, trial.key, measure)
    return measure_gaps(**asked, reference=reference, confidence=confidence)
