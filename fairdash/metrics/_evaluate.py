"""One flat row of numbers per model."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from fairdash.metrics._cells import Cells, Counts, divide, spread
from fairdash.metrics._group import outcome_rates, ratio
from fairdash.metrics._inputs import (
    Labels,
    binary_vector,
    group_codes,
    probability_models,
)
from fairdash.metrics._intervals import gap_interval, wilson_interval
from fairdash.metrics._local import LocalCells, local_cells, mean_of_largest
from fairdash.metrics._ranking import area_under_curve, log_loss


def evaluate(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None = None,
    min_size: int = 50,
    threshold: float = 0.5,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Quality and fairness of one or many models on the same rows.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,)
    scores : array-like of probabilities, (n_rows,) or (n_models, n_rows)
        A row is predicted positive where its score exceeds ``threshold``.
    sensitive_features : array-like of shape (n_rows,)
    subgroups : array-like of shape (n_rows,), optional
        Without it the local figures are NaN and the numbers of subgroups 0.
    min_size, confidence
        As in :func:`local_di`.
    threshold : float, default=0.5

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
    check_consistent_length(y, probabilities[0])
    predictions: Labels = (probabilities > threshold).astype(np.int8)
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
    if subgroups is None:
        return pd.DataFrame(columns | _without_subgroups(len(predictions)))
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    check_consistent_length(y, local.codes)
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


def _without_subgroups(n_models: int) -> dict[str, Counts]:
    names = ["worst_1_di", "worst_1_di_low", "worst_1_di_high"]
    names += ["worst_2_di", "worst_3_di"]
    none = np.zeros(n_models, dtype=np.int64)
    undefined = dict.fromkeys(names, np.full(n_models, np.nan))
    return undefined | {"n_subgroups": none, "n_estimable": none}
