"""Any measure of the models of a data set, by group and inside subgroups."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash._wording import (
    MINUS,
    UNDEFINED,
    distinct_labels,
    four_fifths,
    group_label,
)
from fairdash.audits.groups.evaluation import MOST_SEEDS, constant, paired_changes
from fairdash.audits.groups.local import LocalResult
from fairdash.audits.groups.pairs import (
    NamedPair,
    asked_of,
    measured_locally,
)
from fairdash.audits.trials.kept import remember
from fairdash.audits.trials.models import Setting, on_shared_seeds
from fairdash.audits.trials.rows import (
    ALL_ROWS,
    Tested,
    beside_trained,
    is_own,
    tested,
)
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    MEASURE_NAMES,
    MEASURE_SYMBOLS,
    MEASURES,
    TOO_FEW,
    Finding,
    Speech,
    best_off,
    calibration_curve,
    for_all_pairs,
    gap_of,
    measure_by_group,
    measure_gaps,
    of_all_rows,
    over_seeds,
    sentence,
    worst_of,
)
from fairdash.store import Store

_EVERYBODY = Subgroups()
_RATIO = ["ratio", "ratio_low", "ratio_high"]
_NAMED = ("Model", "Measure", "Gap of", "Gap", "Low", "High", "Ratio", "Four fifths")


@remember(256)
def local_by_measure(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
    reference: str | None = None,
) -> LocalResult:
    """Compare a measure of some models inside subgroups.

    Trained models are looked at on the test rows of the seeds that all of them have,
    score columns on the same rows, or on all rows where no trained model is compared.
    Paired changes are of selection rates alone. With a ``reference`` gaps are from that
    group; without, they are the largest between groups.
    """
    models = beside_trained(models)
    compared = on_shared_seeds(models)
    first, main = compared.models[0], compared.models[-1]
    tables, rows, chances = [], [], []
    for model in compared.models:
        measured = [
            _measured(trial, measure, reference)
            for trial in tested(store, model, dataset_id, subgroups)
        ]
        # on all rows the trials of several seeds are of the same rows
        parts = [one.estimates.assign(seed=k) for k, one in enumerate(measured)]
        tables.append(
            over_seeds(pd.concat(parts, ignore_index=True).assign(model=model.label))
        )
        rows.append(_model_row(model, tables[-1], measure, measured))
        chances.append(float(np.mean([one.chance for one in measured])))
    changes = None
    plain = measure == "selection_rate" and reference is None
    if plain and main is not first and not any(map(is_own, models)):
        changes = paired_changes(store, main, first, dataset_id, subgroups)
    everyone = tuple(tested(store, main, dataset_id, subgroups))
    return LocalResult(
        main.label,
        pd.concat(tables, ignore_index=True),
        pd.DataFrame(rows),
        chances[-1],
        changes,
        compared.note(),
        measure,
        "row" if main.seeds == {ALL_ROWS} else "test row",
        reference,
        overall_sure=_overall_sure(store, main, dataset_id, measure, reference),
        named=NamedPair(everyone, measure, reference),
    )


def _model_row(
    model: Setting, table: pd.DataFrame, measure: str, trials: Sequence["_Found"]
) -> dict[str, Any]:
    """Return the row of a model in `LocalResult`."""
    row: dict[str, Any] = {
        "label": model.label,
        "method": model.method,
        "colour_role": model.colour_role,
        "n_seeds": len(trials),
        "n": float(np.mean([one.n for one in trials])),
        "constant": float(np.mean([one.constant for one in trials])),
    }
    names = {f"worst_{k}": worst_of(measure, k) for k in (1, 2, 3)}
    for name, what in ({"overall": gap_of(measure)} | names).items():
        whole = of_all_rows(table, what).iloc[0]
        row |= {name: whole["value"]}
        row |= {f"{name}_{end}": whole[end] for end in ("low", "high")}
    return row


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
    DataFrame, one row per measure: measure, symbol, values (by group), group, other,
    gap (signed: the group furthest from the reference minus that one, the other, both
    as a sentence calls them), ci_low, ci_high, ratio,
    ratio_low, ratio_high (the value of that group over that of the other), four_fifths
    (where the ratio of favourable decisions is by the rule of thumb; of the selection
    rate only), sentence
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
    ratio = _ratio_of(trials, gap)
    fifths = ""
    if measure == "selection_rate":  # the rule is of favourable decisions
        spared = ratio if favourable else _ratio_of(trials, gap, rejected=True)
        fifths = four_fifths(spared["ratio"], spared["ratio_high"])
    label = partial(group_label, store.dataset(dataset_id).roles.sensitive_feature)
    return {
        "values": tuple(values),
        "group": label(gap.group),
        "other": label(gap.reference),
        "gap": gap.value,
        "ci_low": gap.low,
        "ci_high": gap.high,
        **ratio,
        "four_fifths": fifths,
        "sentence": sentence(gap, speech_of(store, dataset_id)),
    }


def _ratio_of(
    trials: Sequence[Tested], gap: Finding, *, rejected: bool = False
) -> dict[str, float]:
    """Return the ratio of the pair of a gap, the mean over seeds; or of rejections."""
    n_groups = len(trials[0].rows.dataset.group_names)
    asked = gap.measure, gap.reference, for_all_pairs(0.95, n_groups), rejected
    rows = pd.concat([_gaps(trial, *asked) for trial in trials])
    mean = rows.loc[rows["group"] == gap.group, _RATIO].mean()
    return dict(zip(_RATIO, map(float, mean), strict=True))


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
) -> Finding:
    """Return who is furthest from a group over all rows, by default the best off.

    Over several seeds the gap and the ends of its interval are means. The interval
    holds for all pairs of groups at once, since this one is named for its gap.

    Returns
    -------
    Finding, of that group less the reference
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
    numbers = ["difference", "ci_low", "ci_high", "n"]
    by_group = gaps.groupby("group", sort=False)[numbers].mean().reset_index()
    widest = by_group.iloc[int(by_group["difference"].abs().fillna(-1).argmax())]
    difference, low, high, n = widest[numbers]
    group, n_rows = str(widest["group"]), round(n)
    few = gaps.loc[gaps["group"] == group, "too_few"].mean() > MOST_SEEDS
    sure = bool(low > 0 or high < 0) and not few
    why = TOO_FEW if few else "" if sure else "the interval reaches 0"
    ends = difference, low, high
    return Finding(measure, None, group, best, *ends, n_rows, sure, why)


def speech_of(store: Store, dataset_id: str) -> Speech:
    """Return what a data set calls a positive prediction, and its groups."""
    roles = store.dataset(dataset_id).roles
    return Speech.of(roles.spoken_outcome(), roles.sensitive_feature)


def readable_measures(
    table: pd.DataFrame, groups: Sequence[str], feature: str, gap: str | None = None
) -> pd.DataFrame:
    """Return the table of `every_measure` or `every_model` with readable names.

    Intervals are of differences, or of ratios where ``gap`` is "ratio". Of two groups
    every difference is the first minus the second, as the columns stand; of more each
    row says which it is of.
    """
    table, of = _directed(table, [group_label(feature, group) for group in groups])
    names = {"model": "Model", "measure": "Measure"}
    shown = table[[name for name in names if name in table]].rename(columns=names)
    for place, label in enumerate(distinct_labels(feature, groups, _NAMED)):
        shown[label] = [values[place] for values in table["values"]]
    names = {"of": "Gap of", "gap": of, "ci_low": "Low", "ci_high": "High"}
    names["ratio"] = "Ratio"
    if gap == "ratio":
        names = {"ratio": "Ratio", "ratio_low": "Low", "ratio_high": "High"}
    names |= {"four_fifths": "Four fifths", "sentence": "In words"}
    names["symbol"] = "Definition"
    rest = table[[name for name in names if name in table]].rename(columns=names)
    return pd.concat([shown, rest], axis=1)


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
    ratios = table[_RATIO]
    inverted = 1 / ratios.set_axis(["ratio", "ratio_high", "ratio_low"], axis=1)[_RATIO]
    directed = ends.mask(turned, swapped), ratios.mask(turned, inverted)
    return table.assign(**directed[0], **directed[1]), f"{first} {MINUS} {second}"


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
    """A measure of one trial: estimates, what chance shows, rows, who decides."""

    estimates: pd.DataFrame
    chance: float
    n: int
    constant: float


@lru_cache(maxsize=2000)
def _measured(trial: Tested, measure: str, reference: str | None) -> _Found:
    local = measured_locally(trial, measure, reference)
    chance = local.noise_floor().quantile if local.estimable.any() else np.nan
    rows = trial.rows
    return _Found(local.estimates(), chance, len(rows.y), constant(rows, trial.key))


@lru_cache(maxsize=2000)
def _by_group(trial: Tested, measure: str) -> pd.DataFrame:
    return measure_by_group(**asked_of(trial.rows, trial.key, measure))


@lru_cache(maxsize=2000)
def _gaps(
    trial: Tested,
    measure: str,
    reference: str,
    confidence: float,
    rejected: bool = False,
) -> pd.DataFrame:
    asked = asked_of(trial.rows, trial.key, measure)
    if rejected:
        asked["y_pred"] = 1 - asked["y_pred"]
    return measure_gaps(**asked, reference=reference, confidence=confidence)
