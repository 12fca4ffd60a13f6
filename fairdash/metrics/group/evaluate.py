"""Quality and fairness of many models at once, who decides at all, means over seeds."""

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
    group_codes,
    probability_models,
    row_weights,
    spread,
)
from fairdash.metrics.group.intervals import (
    check_confidence,
    largest_gap,
    normal_quantile,
    wilson_ends,
)
from fairdash.metrics.group.local import LocalCells, local_cells, mean_of_largest
from fairdash.metrics.group.measured import Measured, effective_rows
from fairdash.metrics.group.rates import ratio

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
    weight = sample_weight
    if weight is not None:
        weight = row_weights("sample_weight", weight, len(y))
    groups = group_codes(sensitive_features, y)
    local = local_cells(
        sensitive_features=sensitive_features,
        subgroups=labels,
        min_size=min_size,
        sample_weight=weight,
    )
    check_lengths(y, local.codes)
    outcome, n_groups = y.astype(np.int64), len(groups.names)
    right = (predictions == y).astype(np.int8)
    everyone = Cells((np.zeros_like(outcome),), (1,), weight)
    accuracy = everyone.rates(right)[:, 0]
    accuracy_low, accuracy_high = wilson_ends(
        accuracy, everyone.effective[0], normal_quantile(confidence)
    )
    recall = Cells((outcome,), (2,), weight).rates(right)
    overall = Cells((groups.codes,), (n_groups,), weight)
    rates = overall.rates(predictions)
    gap_low, gap_high = largest_gap(
        rates,
        lambda z: wilson_ends(rates, overall.effective, z),
        confidence=confidence,
    )
    by_outcome = Cells((outcome, groups.codes), (2, n_groups), weight)
    odds = spread(by_outcome.rates(predictions))
    columns = {
        "n": np.full(len(predictions), len(y)),
        "accuracy": accuracy,
        "accuracy_low": accuracy_low,
        "accuracy_high": accuracy_high,
        "balanced_accuracy": recall.mean(axis=1),
        "auc": area_under_curve(y == 1, probabilities, weight),
        "log_loss": log_loss(y == 1, probabilities, weight),
        "demographic_parity_difference": spread(rates),
        "demographic_parity_difference_low": gap_low,
        "demographic_parity_difference_high": gap_high,
        "demographic_parity_ratio": ratio(rates),
        "equalized_odds_difference": odds.max(axis=1),
        "equal_opportunity_difference": odds[:, 1],
    }
    return pd.DataFrame(columns | _local_columns(local, predictions, confidence))


def _local_columns(
    local: LocalCells, predictions: Labels, confidence: float
) -> dict[str, Counts]:
    rates = local.rates(local.cells.count(predictions))
    low, high = local.ends(rates, confidence=confidence, axes=2)
    gaps, n_models = spread(rates), len(predictions)
    return {
        "worst_1_di": mean_of_largest(gaps, 1),
        "worst_1_di_low": low,
        "worst_1_di_high": high,
        "worst_2_di": mean_of_largest(gaps, 2),
        "worst_3_di": mean_of_largest(gaps, 3),
        "n_subgroups": np.full(n_models, len(local.subgroups)),
        "n_estimable": np.full(n_models, int(local.estimable.sum())),
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


def area_under_curve(
    positive: NDArray[np.bool_], scores: Scores, weight: Counts | None = None
) -> Scores:
    """Return the AUC of each row of ``scores``, ties counting half."""
    if weight is not None:
        y, nobody = positive.astype(np.int8), np.zeros(len(positive), np.int64)
        every = [Measured.of("auc", y, row, weight) for row in scores]
        return np.array([one.estimate(nobody, 1).value[0] for one in every])
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
