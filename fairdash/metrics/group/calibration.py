"""Calibration: what a score means in every group, by how often the outcome came."""

import itertools

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import check_consistent_length

from fairdash._validation import as_written, check_whole, value_label
from fairdash.metrics.group.counting import binary_vector, divide, group_codes
from fairdash.metrics.group.intervals import check_confidence, wilson_interval

_FEW = 12  # distinct scores that are each a bin


def calibration_curve(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    bins: int = 10,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Return how often the outcome is 1 where a score says the same, by group.

    A score is calibrated by group when :math:`P(y = 1 \mid \text{score}, s)` does not
    depend on the group s; a calibrated probability also equals it.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,)
    scores : array-like of finite numbers, (n_rows,)
        Probabilities or any other scores, such as deciles.
    bins : int, default=10
        Of equal width, from the smallest to the largest score, or from 0 to 1 for
        scores inside; up to twelve distinct scores are a bin each.

    Returns
    -------
    DataFrame, one row per group and bin: group, bin (text), n, mean_score, rate,
    ci_low, ci_high (Wilson). Without rows the last four are NaN.
    """
    check_whole("bins", bins, at_least=2)
    check_confidence(confidence)
    y = binary_vector("y_true", y_true)
    values = np.asarray(scores, dtype=np.float64)
    check_consistent_length(y, values)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ValueError(
            f"`scores` must be finite numbers; {len(wrong)} rows are not, the first is "
            f"{as_written(values[wrong[0]])} in row {wrong[0]}. Exclude these rows."
        )
    groups = group_codes(sensitive_features, y)
    distinct = np.unique(values)
    if len(distinct) <= _FEW:
        place, names = np.searchsorted(distinct, values), list(map(_short, distinct))
    else:
        low, high = min(0.0, distinct[0]), max(1.0, distinct[-1])
        if distinct[0] < 0 or distinct[-1] > 1:
            low, high = distinct[0], distinct[-1]
        edges = np.linspace(low, high, bins + 1)
        place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
        pairs = itertools.pairwise(edges)
        names = [f"{_short(a)}–{_short(b)}" for a, b in pairs]
    cell = groups.codes * len(names) + place
    n_cells = len(groups.names) * len(names)
    n = np.bincount(cell, minlength=n_cells).astype(np.float64)
    positives = np.bincount(cell, y, n_cells)
    ends = wilson_interval(positives, n, confidence=confidence)
    return pd.DataFrame(
        {
            "group": np.repeat(groups.names, len(names)),
            "bin": np.tile(names, len(groups.names)),
            "n": n.astype(np.int64),
            "mean_score": divide(np.bincount(cell, values, n_cells), n),
            "rate": divide(positives, n),
            "ci_low": ends[0],
            "ci_high": ends[1],
        }
    )


def as_probabilities(
    y_true: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return how often the outcome is 1 at a score: isotonic regression over all rows.

    For scores that are no probabilities, such as deciles; over all groups together, so
    that gaps in calibration say for whom a score means more than on the whole.
    """
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    isotonic.fit(scores, y_true, sample_weight)
    fitted: NDArray[np.float64] = isotonic.predict(scores)
    return fitted


def _short(value: float) -> str:
    return value_label(float(f"{value:.3g}"))
