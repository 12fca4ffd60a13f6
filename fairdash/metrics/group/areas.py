"""Areas under ROC curves, with weights and units."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.sums import Sums
from fairdash.metrics.group.variance import design_units, linearised

_ALIKE = 1e-12  # standard error of rows that are all placed alike, rounding aside


class Area(NamedTuple):
    """An area, the rows it is worth, its standard error, and residuals of entries."""

    value: float
    effective: float
    error: float
    units: float
    residual: FloatArray


def area_under_curve(
    y: FloatArray, scores: FloatArray, sums: Sums, unit: Codes | None
) -> Area:
    """Return the area under the ROC curve with DeLong's standard error.

    Where units have several rows, the variance is that of Obuchowski (1997). Where all
    rows are placed alike, as when all scores tie, the error is the largest there can be
    (Birnbaum and Klose 1957). An area of 0 or 1 has no error, whatever the weights.

    Parameters
    ----------
    y, scores : arrays
        Of each entry, whose rows say the same.
    sums : Sums
        Over the rows of each entry.
    """
    residual = np.zeros(len(y))
    positive = y == 1
    placement = _placements(scores, positive, sums.mass)
    counted = np.isfinite(placement) & (sums.mass > 0)
    outcome = positive.astype(np.int64)

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(outcome, values * counted, 2).astype(np.float64)

    mass = total(sums.mass)
    squares = total(sums.squares)
    n0, n1 = np.nan_to_num(divide(mass**2, squares)).tolist()  # Kish's numbers
    if not n1 or not n0:
        return Area(np.nan, 0.0, np.nan, 0.0, residual)
    of_positive = positive & counted
    value = _parted(scores[of_positive], scores[~positive & counted])
    if value is None:
        positive_mass = sums.mass[of_positive]
        value = float(np.average(placement[of_positive], weights=positive_mass))
    effective = n1 * n0 / (n1 + n0)
    smaller = min(n1, n0)
    if smaller <= 1 or not 0 < value < 1:
        return Area(value, effective, np.nan, smaller, residual)
    # DeLong: the variance of the placements of either outcome, over their number.
    deviation = np.where(counted, placement - value, 0.0) / mass[outcome]
    residual = sums.mass * deviation
    if unit is None:
        n_rows = total(sums.weighing)
        degrees = np.where(n_rows > 1, n_rows - 1, np.nan)
        by_outcome = n_rows / degrees * total(sums.squares * deviation**2)
        variance = float(np.nansum(by_outcome))
        units = divide(squares**2, total(sums.fourths))
    else:
        one_cell = np.zeros_like(outcome)  # both outcomes share units
        spread = linearised(residual, one_cell, 1, unit=unit, counts=counted)
        variance = float(np.nansum(spread.variance))
        units = design_units(sums.mass * counted, outcome, 2, unit)
    if not variance > _ALIKE**2:
        variance = value * (1 - value) / smaller
    return Area(
        value, effective, float(np.sqrt(variance)), float(units.min()), residual
    )


def _parted(of_positive: FloatArray, of_negative: FloatArray) -> float | None:
    """Return the area where all rows of an outcome lie above the others, else None.

    Its value is exactly 1 or 0. Sums of weights would leave it a rounding error away,
    or not, and an interval from 0 to 1 instead of none.
    """
    if of_negative.max() < of_positive.min():
        return 1.0
    if of_positive.max() < of_negative.min():
        return 0.0
    return None


def _placements(
    scores: FloatArray, positive: NDArray[np.bool_], weight: FloatArray
) -> FloatArray:
    """Return the share of the other outcome that each row is placed right against.

    Half of ties counts; NaN where there is no row of the other outcome.
    """
    _, rank = np.unique(scores, return_inverse=True)

    def share_below(side: NDArray[np.bool_]) -> FloatArray:
        mass = np.bincount(rank, np.where(side, weight, 0.0))
        below = np.cumsum(mass) - mass
        return divide(below + mass / 2, np.full(len(mass), mass.sum()))

    placement = np.empty(len(scores))
    placement[positive] = share_below(~positive)[rank[positive]]
    placement[~positive] = 1 - share_below(positive)[rank[~positive]]
    return placement
