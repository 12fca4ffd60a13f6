"""Quality and fairness of many models at once, who decides at all, means over seeds."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from fairdash._validation import check_lengths
from fairdash.metrics.group.counting import (
    Cells,
    Counts,
    Labels,
    binary_models,
    binary_vector,
    divide,
    group_codes,
    probability_models,
    row_weights,
    spread,
)
from fairdash.metrics.group.estimates import Measured, effective_rows
from fairdash.metrics.group.intervals import (
    check_confidence,
    gap_interval,
    wilson_interval,
)
from fairdash.metrics.group.local import LocalCells, local_cells, mean_of_largest
from fairdash.metrics.group.local_measures import LocalMeasure
from fairdash.metrics.group.rates import outcome_rates, ratio

ACCEPTS_ALL, ACCEPTS_NONE = "accepts all", "accepts none"
AS_CHANCE, DECIDES = "not told from chance", ""
Scores = NDArray[np.floating[Any]]

# what float32 keeps of 1: a saturated network is then wrong by at most 16 nats
_CLIP = float(np.finfo(np.float32).eps)
_ENDS = ("_low", "_high")


def evaluate(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None = None,
    min_size: int = 50,
    threshold: float = 0.5,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> pd.DataFrame:
    """Quality and fairness of one or many models on the same rows.

    Parameters
    ----------
    scores : array-like of probabilities, (n_rows,) or (n_models, n_rows)
        A row is predicted positive where its score exceeds ``threshold``.
    subgroups : array-like of shape (n_rows,), optional
        Without it the local figures are NaN and the numbers of subgroups 0.
    sample_weight : array-like of shape (n_rows,), optional
        Sampling weights: every figure is weighted, and intervals are at Kish's
        effective number of rows, as in :func:`local_measure`.

    Returns
    -------
    DataFrame, one row per model: n, accuracy (+ _low, _high: Wilson),
    balanced_accuracy, auc, log_loss, demographic_parity_difference (+ _low, _high:
    folded Newcombe), demographic_parity_ratio, equalized_odds_difference,
    equal_opportunity_difference, worst_1_di (+ _low, _high: :func:`gap_interval`),
    worst_2_di, worst_3_di, n_subgroups, n_estimable. What is undefined is NaN.
    """
    y = binary_vector("y_true", y_true)
    probabilities = probability_models("scores", scores)
    check_lengths(y, probabilities[0])
    predictions: Labels = (probabilities > threshold).astype(np.int8)
    labels = np.full(len(y), None) if subgroups is None else subgroups
    if sample_weight is not None:
        inside = {
            "sensitive_features": sensitive_features,
            "subgroups": labels,
            "min_size": min_size,
        }
        weight = row_weights("sample_weight", sample_weight, len(y))
        return pd.DataFrame(
            [
                _weighted(y, p, p > threshold, weight, inside, confidence)
                for p in probabilities
            ]
        )
    groups = group_codes(sensitive_features, y)
    n_groups = len(groups.names)

    n = len(y)
    correct = (predictions == y).sum(axis=1)
    accuracy_low, accuracy_high = wilson_interval(correct, n, confidence=confidence)
    by_outcome = Cells((y.astype(np.int64),), (2,))
    recall = divide(by_outcome.count(predictions == y), by_outcome.rows)
    overall = Cells((groups.codes,), (n_groups,))
    positives = overall.count(predictions)
    rates = divide(positives, overall.rows)
    gap_low, gap_high = gap_interval(positives, overall.rows, confidence=confidence)
    odds = spread(outcome_rates(predictions, y, groups.codes, n_groups))
    columns = {
        "n": np.full(len(predictions), n),
        "accuracy": correct / n,
        "accuracy_low": accuracy_low,
        "accuracy_high": accuracy_high,
        "balanced_accuracy": recall.mean(axis=1),
        "auc": area_under_curve(y == 1, probabilities),
        "log_loss": log_loss(y == 1, probabilities),
        "demographic_parity_difference": spread(rates),
        "demographic_parity_difference_low": gap_low,
        "demographic_parity_difference_high": gap_high,
        "demographic_parity_ratio": ratio(rates),
        "equalized_odds_difference": odds.max(axis=1),
        "equal_opportunity_difference": odds[:, 1],
    }
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=labels, min_size=min_size
    )
    check_lengths(y, local.codes)
    return pd.DataFrame(columns | _local_columns(local, predictions, confidence))


def _local_columns(
    local: LocalCells, predictions: Labels, confidence: float
) -> dict[str, Counts]:
    positives = local.cells.count(predictions)
    gaps = spread(local.rates(positives))
    reported = np.where(local.estimable[:, None], positives, np.nan)
    low, high = gap_interval(reported, local.cells.rows, confidence=confidence, axes=2)
    n_models = len(predictions)
    return {
        "worst_1_di": mean_of_largest(gaps, 1),
        "worst_1_di_low": low,
        "worst_1_di_high": high,
        "worst_2_di": mean_of_largest(gaps, 2),
        "worst_3_di": mean_of_largest(gaps, 3),
        "n_subgroups": np.full(n_models, len(local.subgroups)),
        "n_estimable": np.full(n_models, int(local.estimable.sum())),
    }


def _weighted(
    y: Labels,
    probability: Scores,
    predicted: NDArray[np.bool_],
    weight: Counts,
    inside: dict[str, Any],
    confidence: float,
) -> dict[str, float]:
    """Return the row of `evaluate` of one model with sampling weights."""

    def measured(measure: str) -> Measured:
        scored = probability if measure == "auc" else predicted.astype(np.int8)
        return Measured.of(measure, y, scored, weight)

    nobody = np.zeros(len(y), dtype=np.int64)
    found = LocalMeasure.of(
        "selection_rate",
        None,
        predicted.astype(np.int8),
        sample_weight=weight,
        **inside,
    )
    group, n_groups = found.group, len(found.cells.groups)
    accuracy = measured("accuracy").estimate(nobody, 1).interval(confidence)
    odds = [measured(f"{name}_positive_rate") for name in ("false", "true")]
    false, true = (float(one.estimate(nobody, 1).value[0]) for one in odds)
    apart = [float(spread(one.estimate(group, n_groups).value)) for one in odds]
    gap, worst = (of(confidence=confidence) for of in (found.overall, found.worst))
    return {
        "n": len(y),
        "accuracy": float(accuracy.value[0]),
        "accuracy_low": float(accuracy.low[0]),
        "accuracy_high": float(accuracy.high[0]),
        "balanced_accuracy": (true + 1 - false) / 2,
        "auc": float(measured("auc").estimate(nobody, 1).value[0]),
        "log_loss": float(log_loss(y == 1, probability[None], weight)[0]),
        "demographic_parity_difference": float(gap.value),
        "demographic_parity_difference_low": float(gap.low),
        "demographic_parity_difference_high": float(gap.high),
        "demographic_parity_ratio": float(
            ratio(found.measured.estimate(group, n_groups).value)
        ),
        "equalized_odds_difference": float(np.max(apart)),
        "equal_opportunity_difference": apart[1],
        "worst_1_di": float(worst.value),
        "worst_1_di_low": float(worst.low),
        "worst_1_di_high": float(worst.high),
        "worst_2_di": float(found.worst(2).value),
        "worst_3_di": float(found.worst(3).value),
        "n_subgroups": len(found.reasons),
        "n_estimable": int(found.estimable.sum()),
    }


def decision_status(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> pd.DataFrame:
    r"""Mark models whose decisions say nothing about the outcome.

    A model that decides alike for everyone has no gap between groups and is of no use.
    So is one whose balanced accuracy :math:`b` is within noise of 0.5: with
    :math:`n_1, n_0` rows of either outcome, the decisions of a fair coin have

    .. math:: \operatorname{sd}(b) = \tfrac14 \sqrt{1/n_1 + 1/n_0},

    and a model is *not told from chance* when :math:`b - 0.5` is at most
    :math:`z_{(1 + \text{confidence})/2}` times that. With sampling weights the shares
    are weighted and :math:`n_1, n_0` are Kish's effective numbers of rows.

    Returns
    -------
    DataFrame, one row per model: selection_rate, balanced_accuracy (NaN unless both
    outcomes occur) and status, one of "accepts all", "accepts none", "not
    told from chance" and "" for a model that decides
    """
    check_confidence(confidence)
    y = binary_vector("y_true", y_true)
    predictions = binary_models("y_pred", y_pred)
    check_lengths(y, predictions[0])
    weight = None
    if sample_weight is not None:
        weight = row_weights("sample_weight", sample_weight, len(y))
        counted = weight > 0  # what weighs nothing is nobody's decision
        y, predictions, weight = y[counted], predictions[:, counted], weight[counted]
    positives, negatives = (
        float(mine.sum()) if weight is None else effective_rows(weight[mine])
        for mine in (y == 1, y == 0)
    )
    rate = predictions.mean(axis=1, dtype=np.float64)
    status = np.where(
        rate == 1, ACCEPTS_ALL, np.where(rate == 0, ACCEPTS_NONE, DECIDES)
    )
    balanced = np.full(len(rate), np.nan)
    if positives and negatives:
        recall, false_alarm = (
            predictions[:, mine].mean(axis=1, dtype=np.float64)
            if weight is None
            else np.average(predictions[:, mine], axis=1, weights=weight[mine])
            for mine in (y == 1, y == 0)
        )
        balanced = 0.5 + (recall - false_alarm) / 2
        spread = np.sqrt(1 / positives + 1 / negatives) / 4
        within_noise = balanced - 0.5 <= ndtri((1 + confidence) / 2) * spread
        status = np.where(within_noise & (status == DECIDES), AS_CHANCE, status)
    if weight is not None:
        rate = np.average(predictions, axis=1, weights=weight)
    return pd.DataFrame(
        {"selection_rate": rate, "balanced_accuracy": balanced, "status": status}
    )


def area_under_curve(positive: NDArray[np.bool_], scores: Scores) -> Scores:
    """Return the AUC of each row of ``scores``, ties counting half."""
    n_pairs = positive.sum() * (~positive).sum()
    if n_pairs == 0:
        return np.full(len(scores), np.nan)
    area = np.empty(len(scores))
    for model, row in enumerate(scores):
        above, below = np.sort(row[positive]), np.sort(row[~positive])
        won = np.searchsorted(below, above, side="left").sum()
        won_or_tied = np.searchsorted(below, above, side="right").sum()
        area[model] = (won + won_or_tied) / 2 / n_pairs
    return area


def log_loss(
    positive: NDArray[np.bool_], scores: Scores, weight: Counts | None = None
) -> Scores:
    """Return the mean log loss in nats of each row of ``scores``.

    Scores are clipped to [1.2e-7, 1 - 1.2e-7], as scikit-learn clips float32.
    """
    likelihood = np.where(positive, scores, 1 - scores).astype(np.float64)
    clipped = np.clip(likelihood, _CLIP, 1 - _CLIP)
    losses = -np.log(clipped)
    if weight is None:
        return losses.mean(axis=1)
    return np.average(losses, axis=1, weights=weight)


def summarise_seeds(rows: pd.DataFrame, by: str | Sequence[str]) -> pd.DataFrame:
    """Average every metric over the seeds of each method or setting.

    Ends of intervals are averaged too and **not** narrowed by the square root of the
    number of seeds: the test rows of different seeds overlap.

    Parameters
    ----------
    rows : DataFrame
        One row per model and seed. Numeric columns are metrics, except those of ``by``
        and a column "seed".
    by : str or list of str
        What a summary row stands for, such as ["method", "fairness_weight"].

    Returns
    -------
    DataFrame in order of first appearance: the columns ``by``, n_seeds (rows averaged),
    then per metric its mean, ``<metric>_sd`` (n - 1 in the denominator; NaN for one
    seed) and ``<metric>_seeds`` (seeds where it is defined; the others do not enter).
    Ends of intervals (``*_low``, ``*_high``) have a mean alone.
    """
    keys = [by] if isinstance(by, str) else list(by)
    unknown = [key for key in keys if key not in rows]
    if unknown:
        message = f"`by` names columns that the rows lack: {unknown}."
        raise ValueError(message)
    numeric = rows.select_dtypes(include="number").columns
    metrics = [name for name in numeric if name not in (*keys, "seed")]
    groups = rows.groupby(keys, sort=False, dropna=False, observed=True)
    means, spreads = groups[metrics].mean(), groups[metrics].std(ddof=1)
    counts, sizes = groups[metrics].count(), groups.size()
    columns: dict[str, NDArray[np.generic]] = {"n_seeds": sizes.to_numpy()}
    for name in metrics:
        columns[name] = means[name].to_numpy(dtype=np.float64)
        if not name.endswith(_ENDS):
            columns[f"{name}_sd"] = spreads[name].to_numpy(dtype=np.float64)
            columns[f"{name}_seeds"] = counts[name].to_numpy()
    return pd.DataFrame(columns, index=means.index).reset_index()


def mean_local_di(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Average the tables of local DI over seeds, of one model or of several.

    A gap, its interval and the rates are averaged over the seeds in which the subgroup
    is estimable, and are NaN if these are less than half of the seeds; numbers of rows
    are averaged over all seeds, 0 where a table lacks the subgroup. Widths are
    averaged, not narrowed: see :func:`summarise_seeds`.

    Parameters
    ----------
    tables : sequence of DataFrame of :func:`local_di` or :func:`local_measure`
        One per seed, each with the same groups. Those of several models have a column
        "model"; a model may lack some of the seeds.

    Returns
    -------
    DataFrame with the columns of ``tables``, local_di_sd or gap_sd (NaN for one seed)
    and n_seeds, in which the subgroup is estimable
    """
    if not tables:
        raise ValueError("`tables` must hold the table of at least one seed.")
    by = [name for name in ("model", "subgroup") if name in tables[0]]
    rows = pd.concat(tables, ignore_index=True)
    counts = [name for name in map(str, rows) if name == "n" or name.startswith("n_")]
    values = rows.columns.difference([*counts, *by, "estimable", "reason"])
    known = rows.assign(**rows[values].where(rows["estimable"]))
    cells = known.groupby(by, sort=False, observed=True)
    n_seeds = cells["estimable"].sum()
    mean = cells[values.tolist()].mean()
    gap = "local_di" if "local_di" in rows else "gap"
    mean[f"{gap}_sd"] = cells[gap].std(ddof=1)
    all_seeds = _all_seeds(tables, mean.index)
    estimable = 2 * n_seeds >= all_seeds
    mean = mean.where(estimable)
    n_rows = cells[counts].sum().div(all_seeds, axis=0)  # none where it has no line
    mean[counts] = n_rows.round().astype(np.int64)
    mean["estimable"] = estimable
    failing = known[~known["estimable"]].groupby(by, observed=True)
    reasons = {name: _reason(seeds) for name, seeds in failing}
    places = [name if len(by) > 1 else (name,) for name in mean.index]
    pairs = zip(places, estimable, strict=True)
    mean["reason"] = [
        "" if shown else reasons.get(place, "0 rows") for place, shown in pairs
    ]
    mean["n_seeds"] = n_seeds
    columns = [*tables[0].columns, f"{gap}_sd", "n_seeds"]
    return mean.reset_index()[columns]


def _all_seeds(tables: Sequence[pd.DataFrame], cells: pd.Index) -> Any:
    """Return the number of seeds of the model of every cell."""
    if "model" not in tables[0]:
        return len(tables)
    models = pd.concat([table["model"].drop_duplicates() for table in tables])
    return cells.get_level_values("model").map(models.value_counts()).to_numpy()


def _reason(failing: pd.DataFrame) -> str:
    """Say why a subgroup is not estimable in the seeds where it is not."""
    first = str(failing["reason"].iloc[0])
    count = re.fullmatch(r"[\d,]+ rows?( .+)?", first)
    if count is None:
        return first
    return f"{round(failing['n'].mean()):,} rows{count.group(1) or ''}"
