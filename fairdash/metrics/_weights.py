"""What the weights r of the training rows say: where they are large, and for whom."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils import check_consistent_length

from fairdash._validation import check_whole
from fairdash.metrics._cells import Counts, divide, spread
from fairdash.metrics._inputs import binary_vector, group_codes, subgroup_codes
from fairdash.metrics._intervals import check_confidence
from fairdash.metrics._local import LocalCells, local_cells, local_di

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Correlation(NamedTuple):
    """Pearson's correlation over subgroups, its bootstrap interval, the line of fit.

    The line is that of least squares: mean weight = intercept + slope * local DI.
    """

    value: float
    low: float
    high: float
    n_subgroups: int
    slope: float
    intercept: float


def effective_rows(ratio: ArrayLike) -> float:
    r"""Kish's effective number of rows, :math:`(\sum r)^2 / \sum r^2`."""
    weights = _weights(ratio)
    return float(weights.sum() ** 2 / np.square(weights).sum())


def ratio_by_subgroup(
    ratio: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Mean weight of every subgroup beside the local DI of a model on the same rows.

    Returns
    -------
    DataFrame of :func:`local_di` of ``y_pred`` with the columns mean_ratio, ratio_low,
    ratio_high (normal interval of a mean; NaN for fewer than two rows)
    """
    weights = _weights(ratio)
    table = local_di(
        y_pred,
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        confidence=confidence,
    )
    named = subgroup_codes(subgroups, weights)
    by_subgroup = pd.Series(weights).groupby(named.codes)
    everyone = range(len(named.names))
    mean = by_subgroup.mean().reindex(everyone).to_numpy()
    error = by_subgroup.sem(ddof=1).reindex(everyone).to_numpy()
    half = ndtri((1 + confidence) / 2) * error
    return table.assign(mean_ratio=mean, ratio_low=mean - half, ratio_high=mean + half)


def ratio_correlation(
    ratio: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | None = 0,
) -> Correlation:
    """Correlation over subgroups of mean weight and local DI of a model.

    Every estimable subgroup counts once, whatever its size. The interval is the
    percentile interval of a bootstrap of rows.

    Returns
    -------
    Correlation; NaN with fewer than three estimable subgroups
    """
    check_whole("n_resamples", n_resamples, at_least=1)
    check_confidence(confidence)
    weights, predictions = _weights(ratio), binary_vector("y_pred", y_pred)
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    check_consistent_length(weights, predictions, local.codes)
    n_estimable = int(local.estimable.sum())
    group = group_codes(sensitive_features, predictions).codes
    inside = np.flatnonzero(local.codes >= 0)
    cell = local.codes[inside] * len(local.groups) + group[inside]
    positive, weight = predictions[inside].astype(np.float64), weights[inside]
    value, slope, intercept = _fit(local, cell, positive, weight)
    if np.isnan(value):
        return Correlation(value, value, value, n_estimable, slope, intercept)
    rng = np.random.default_rng(random_state)
    drawn = np.empty(n_resamples)
    for draw in range(n_resamples):
        pick = rng.integers(0, len(cell), len(cell))
        drawn[draw] = _fit(local, cell[pick], positive[pick], weight[pick])[0]
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return Correlation(value, float(low), float(high), n_estimable, slope, intercept)


def ratio_quantiles(
    epochs: Sequence[int] | NDArray[np.integer], ratios: ArrayLike, groups: ArrayLike
) -> pd.DataFrame:
    """Quantiles of the weights by group and epoch.

    Parameters
    ----------
    epochs : sequence of int, (n_epochs,)
    ratios : array-like of shape (n_epochs, n_rows)
    groups : array-like of shape (n_rows,)

    Returns
    -------
    DataFrame(group, epoch, q05, q25, q50, q75, q95)
    """
    history = np.atleast_2d(np.asarray(ratios, dtype=np.float64))
    check_consistent_length(epochs, history)
    named = group_codes(groups, history[0])
    tables = []
    for code, name in enumerate(named.names):
        levels = np.quantile(history[:, named.codes == code], QUANTILES, axis=1)
        columns = {
            f"q{round(100 * q):02d}": level
            for q, level in zip(QUANTILES, levels, strict=True)
        }
        epoch = np.asarray(epochs, dtype=np.int64)
        tables.append(pd.DataFrame({"group": name, "epoch": epoch, **columns}))
    return pd.concat(tables, ignore_index=True)


def _weights(ratio: ArrayLike) -> NDArray[np.float64]:
    weights = np.asarray(ratio, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0:
        message = f"`ratio` must be one weight per row, got shape {weights.shape}."
        raise ValueError(message)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        message = f"`ratio` must be finite and >= 0; {len(wrong)} rows are not, first"
        raise ValueError(f"{message} row {wrong[0]}.")
    return weights


def _fit(
    local: LocalCells, cell: NDArray[np.int64], positive: Counts, weight: Counts
) -> tuple[float, float, float]:
    """Return correlation, slope and intercept of mean weight over local DI."""
    shape = (len(local.subgroups), len(local.groups))
    size = shape[0] * shape[1]
    rows = np.bincount(cell, minlength=size).reshape(shape)
    positives = np.bincount(cell, positive, size).reshape(shape)
    total = np.bincount(cell, weight, size).reshape(shape).sum(axis=1)
    gap = spread(divide(positives, rows))
    mean = divide(total, rows.sum(axis=1))
    use = local.estimable & np.isfinite(gap)
    gap, mean = gap[use], mean[use]
    if len(gap) < 3 or np.ptp(gap) == 0 or np.ptp(mean) == 0:
        return float("nan"), float("nan"), float("nan")
    value = float(np.corrcoef(gap, mean)[0, 1])
    slope = value * float(mean.std() / gap.std())
    return value, slope, float(mean.mean() - slope * gap.mean())
