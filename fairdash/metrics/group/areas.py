"""Areas under ROC curves, with weights and units."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.variance import design_units, linearised, worth

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_ALIKE = 1e-12  # standard error of rows that are all placed alike, rounding aside


class Area(NamedTuple):
    """An area, the rows it is worth, its standard error, and residuals by row."""

    value: float
    effective: float
    error: float
    units: float
    residual: Array


def area_under_curve(
    y: Array,
    scores: Array,
    weight: Array | None = None,
    unit: Codes | None = None,
    people: Array | None = None,
) -> Area:
    """Return the area under the ROC curve with DeLong's standard error.

    Where units have several rows, the variance is that of Obuchowski (1997). Where all
    rows are placed alike, as when all scores tie, the error is the largest there can be
    (Birnbaum and Klose 1957). An area of 0 or 1 has no error, whatever the weights. A
    row stands for so many ``people``, without weights.
    """
    if people is not None:
        weight = people
    weight = np.ones(len(y)) if weight is None else weight
    residual = np.zeros(len(y))
    positive = y == 1
    placement = _placements(scores, positive, weight)
    counted = np.isfinite(placement) & (weight > 0)
    outcome = positive.astype(np.int64)
    mass = weight * counted
    sizes = worth(mass, outcome, 2, None)
    if people is not None:
        sizes = np.bincount(outcome, people * counted, 2).astype(np.float64)
    n0, n1 = sizes.tolist()
    if not n1 or not n0:
        return Area(np.nan, 0.0, np.nan, 0.0, residual)
    of_positive = positive & counted
    of_negative = ~positive & counted
    value = _parted(scores[of_positive], scores[of_negative])
    if value is None:
        value = float(np.average(placement[of_positive], weights=weight[of_positive]))
    effective = n1 * n0 / (n1 + n0)
    smaller = min(n1, n0)
    if smaller <= 1 or not 0 < value < 1:
        return Area(value, effective, np.nan, smaller, residual)
    # DeLong: the variance of the placements of either outcome, over their number.
    for side in (of_positive, of_negative):
        row_weight = weight[side] if people is None else 1.0
        residual[side] = row_weight * (placement[side] - value) / weight[side].sum()
    row_mass = mass if people is None else counted.astype(np.float64)
    units = design_units(row_mass, outcome, 2, unit, chance=people)
    cell = outcome
    if unit is not None:
        cell = np.zeros_like(outcome)  # both outcomes share units
    spread = linearised(residual, cell, 2, unit=unit, chance=people, counts=counted)
    variance = float(np.nansum(spread.variance))
    if not variance > _ALIKE**2:
        variance = value * (1 - value) / smaller
    return Area(
        value, effective, float(np.sqrt(variance)), float(units.min()), residual
    )


def _parted(of_positive: Array, of_negative: Array) -> float | None:
    """Return the area where all rows of an outcome lie above the others, else None.

    Its value is exactly 1 or 0. Sums of weights would leave it a rounding error away,
    or not, and an interval from 0 to 1 instead of none.
    """
    if of_negative.max() < of_positive.min():
        return 1.0
    if of_positive.max() < of_negative.min():
        return 0.0
    return None


def _placements(scores: Array, positive: NDArray[np.bool_], weight: Array) -> Array:
    """Return the share of the other outcome that each row is placed right against.

    Half of ties counts; NaN where there is no row of the other outcome.
    """
    _, rank = np.unique(scores, return_inverse=True)

    def share_below(side: NDArray[np.bool_]) -> Array:
        mass = np.bincount(rank, np.where(side, weight, 0.0))
        below = np.cumsum(mass) - mass
        return divide(below + mass / 2, np.full(len(mass), mass.sum()))

    placement = np.empty(len(scores))
    placement[positive] = share_below(~positive)[rank[positive]]
    placement[~positive] = 1 - share_below(positive)[rank[~positive]]
    return placement
