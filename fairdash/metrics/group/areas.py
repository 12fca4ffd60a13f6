"""Areas under ROC curves, with weights and units."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.variance import design_units, linearised, worth

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_ALIKE = 1e-12


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

    Of units that have several rows the variance is that of Obuchowski (1997). Where all
    rows are placed alike, as when all scores tie, the error is the largest there can be
    (Birnbaum and Klose 1957). A row stands for so many ``people``, without weights.
    """
    if people is not None:
        weight = people
    weight = np.ones(len(y)) if weight is None else weight
    ones, residual = y == 1, np.zeros(len(y))
    sides = (ones, ~ones)
    placed = np.empty(len(y))
    placed[ones], placed[~ones] = _placements(scores, ones, weight)
    counted = np.isfinite(placed) & (weight > 0)
    cell, mass = ones.astype(np.int64), weight * counted
    sizes = worth(mass, cell, 2, None)
    if people is not None:
        sizes = np.bincount(cell, people * counted, 2).astype(np.float64)
    n0, n1 = sizes.tolist()
    if not n1 or not n0:
        return Area(np.nan, 0.0, np.nan, 0.0, residual)
    first = sides[0] & counted
    value = float(np.average(placed[first], weights=weight[first]))
    effective, units = n1 * n0 / (n1 + n0), min(n1, n0)
    if units <= 1 or not 0 < value < 1:
        return Area(value, effective, np.nan, units, residual)
    for side in sides:
        own = side & counted
        heavy = weight[own] if people is None else 1.0
        residual[own] = heavy * (placed[own] - value) / weight[own].sum()
    own_mass = mass if people is None else counted.astype(np.float64)
    units = float(design_units(own_mass, cell, 2, unit, chance=people).min())
    if unit is not None:
        cell = np.zeros_like(cell)  # both outcomes share units
    spread = linearised(residual, cell, 2, unit=unit, chance=people, counts=counted)
    variance = float(np.nansum(spread.variance))
    if not variance > _ALIKE**2:
        variance = value * (1 - value) / min(n1, n0)
    return Area(value, effective, float(np.sqrt(variance)), units, residual)


def _placements(
    values: Array, ones: NDArray[np.bool_], weight: Array
) -> tuple[Array, Array]:
    # Half of ties counts; NaN where there is no row of the other outcome.
    _, tie = np.unique(values, return_inverse=True)

    def middles(side: NDArray[np.bool_]) -> Array:
        mass = np.bincount(tie, np.where(side, weight, 0.0))
        below = np.cumsum(mass) - mass
        return divide(below + mass / 2, np.full(len(mass), mass.sum()))

    return middles(~ones)[tie[ones]], 1 - middles(ones)[tie[~ones]]
