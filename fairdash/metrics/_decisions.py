"""Whether a model decides at all: constant decisions are marked, not called fair."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.utils import check_consistent_length

from fairdash.metrics._inputs import binary_models, binary_vector
from fairdash.metrics._intervals import check_confidence

ACCEPTS_ALL, ACCEPTS_NONE = "accepts all", "accepts none"
NEAR_CONSTANT, DECIDES = "near constant", ""


def decision_status(
    y_true: ArrayLike, y_pred: ArrayLike, *, confidence: float = 0.95
) -> pd.DataFrame:
    r"""Mark models whose decisions say nothing about the outcome.

    A model that decides alike for everyone has no gap between groups and is of no use.
    So is one whose balanced accuracy :math:`b` is within noise of 0.5: with selection
    rate :math:`q` and :math:`n_1, n_0` rows of either outcome, decisions that are
    independent of the outcome have

    .. math:: \operatorname{sd}(b) = \tfrac12 \sqrt{q (1 - q) (1/n_1 + 1/n_0)},

    and a model is *near constant* when :math:`b - 0.5` is at most
    :math:`z_{(1 + \text{confidence})/2}` times that.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,)
    y_pred : array-like of 0/1, (n_rows,) or (n_models, n_rows)
    confidence : float, default=0.95

    Returns
    -------
    DataFrame, one row per model: selection_rate, balanced_accuracy (NaN unless both
    outcomes occur) and status, one of "accepts all", "accepts none", "near constant"
    and "" for a model that decides

    Raises
    ------
    ValueError
        When values are not 0/1, lengths differ, or there are no rows.
    """
    check_confidence(confidence)
    y = binary_vector("y_true", y_true)
    predictions = binary_models("y_pred", y_pred)
    check_consistent_length(y, predictions[0])
    positives = int(y.sum())
    negatives = len(y) - positives
    rate = predictions.mean(axis=1, dtype=np.float64)
    status = np.where(
        rate == 1, ACCEPTS_ALL, np.where(rate == 0, ACCEPTS_NONE, DECIDES)
    )
    balanced = np.full(len(rate), np.nan)
    if positives and negatives:
        recall = predictions[:, y == 1].mean(axis=1, dtype=np.float64)
        false_alarm = predictions[:, y == 0].mean(axis=1, dtype=np.float64)
        balanced = 0.5 + (recall - false_alarm) / 2
        spread = np.sqrt(rate * (1 - rate) * (1 / positives + 1 / negatives)) / 2
        within_noise = balanced - 0.5 <= ndtri((1 + confidence) / 2) * spread
        status = np.where(within_noise & (status == DECIDES), NEAR_CONSTANT, status)
    return pd.DataFrame(
        {"selection_rate": rate, "balanced_accuracy": balanced, "status": status}
    )
