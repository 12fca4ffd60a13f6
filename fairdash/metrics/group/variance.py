r"""One variance under every interval: linearised, with sampling weights and units.

A mean, a rate or an area of a cell is to first order a sum of one residual a row,
:math:`e_i = w_i (y_i - \hat\theta) / \sum w` for a mean. With the sums :math:`s_c` of
these over the units of a cell (a row is a unit of its own without ``cluster``)

.. math:: V = \frac{k}{k - 1} \sum_c s_c^2 , \qquad k \text{ units.}

References
----------
F. E. Satterthwaite (1946), An approximate distribution of estimates of variance
components. Biometrics Bulletin 2, 110-114. E. L. Korn and B. I. Graubard (1998),
Confidence intervals for proportions with small expected number of positive counts
estimated from survey data. Survey Methodology 24, 193-201. D. A. Binder (1983), On the
variances of asymptotically normal estimators from complex surveys. International
Statistical Review 51, 279-292.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import as_written
from fairdash.metrics.group.counting import divide

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


class Variance(NamedTuple):
    """Variance of the estimate in every cell, and how many units it is from."""

    variance: Array
    units: Array

    def effective(self, rate: Array, worth: Array, rows: Array) -> Array:
        """Return of how many independent rows a rate has this variance.

        Where every row has the same value the variance is 0 and says nothing; the
        number is then ``worth``, Kish's of the units. It is at most that of the rows.
        """
        spread = rate * (1 - rate)
        # rounding leaves rows that are all alike a variance of 1e-34
        said = (self.variance > 1e-15) & (spread > 1e-12)
        effective = divide(spread, np.where(said, self.variance, 1))
        return np.where(said, np.minimum(effective, rows), worth)


def unit_codes(cluster: ArrayLike | None, n_rows: int) -> Codes | None:
    """Return the unit of every row as a code; None where each row is its own.

    Raises ValueError for another number of rows, or a row without a unit.
    """
    if cluster is None:
        return None
    column = pd.Series(np.asarray(cluster).ravel())
    if len(column) != n_rows:
        raise ValueError(
            f"`cluster` must name the unit of every row, {n_rows:,}, got "
            f"{len(column):,}."
        )
    missing = column.isna().to_numpy()
    if missing.any():
        first = int(missing.argmax())
        raise ValueError(
            f"`cluster` is missing in {int(missing.sum())} rows, the first is row "
            f"{first} ({as_written(column.iloc[first])}). Give each of them a unit of "
            "its own, or exclude them."
        )
    codes, units = pd.factorize(column)
    return None if len(units) == n_rows else codes.astype(np.int64)


def linearised(
    residual: Array,
    cell: Codes,
    n_cells: int,
    *,
    unit: Codes | None = None,
    chance: Array | None = None,
    row: Codes | None = None,
    counts: NDArray[np.bool_] | None = None,
) -> Variance:
    """Return the variance of estimates from the residual of every row.

    Parameters
    ----------
    chance, row : arrays, optional
        Where decisions are drawn, the chance of each of the two that a row can get, and
        which row it is: with units, draws are independent and rows are not.
    counts : bool array, optional
        Rows that are of the sample, such as those with a weight; by default all.
    """
    drawn: Any = 0.0
    if unit is not None:
        if chance is not None and row is not None:
            drawn = np.bincount(cell, chance * residual**2, n_cells)
            residual, chance = chance * residual, None
            mean, own, _ = by_unit(residual, cell, row)
            drawn = drawn - np.bincount(own, mean**2, n_cells)
        residual, cell, counts = by_unit(residual, cell, unit, counts)
    squares = residual**2 if chance is None else chance * residual**2
    taken: Any = chance
    if counts is not None:
        taken = counts * (1.0 if chance is None else chance)
    k = np.bincount(cell, taken, n_cells).astype(np.float64)
    several = np.where(k > 1, k - 1, np.nan)
    variance = k / several * np.bincount(cell, squares, n_cells) + drawn
    return Variance(variance, k)


def by_unit(
    values: Array, cell: Codes, unit: Codes, counts: NDArray[np.bool_] | None = None
) -> tuple[Array, Codes, NDArray[np.bool_] | None]:
    """Return the sums of values of each unit in each cell, and their cells."""
    n_units = int(unit.max(initial=0)) + 1
    both, place = np.unique(cell * n_units + unit, return_inverse=True)
    sums = np.bincount(place, values, len(both)).astype(np.float64)
    if counts is not None:
        counts = np.bincount(place, counts, len(both)) > 0
    cells: Codes = both // n_units
    return sums, cells, counts


def worth(weight: Array, cell: Codes, n_cells: int, unit: Codes | None) -> Array:
    r"""Return Kish's number of units, :math:`(\sum w)^2 / \sum w^2`; 0 of none."""
    if unit is not None:
        weight, cell, _ = by_unit(weight, cell, unit)
    squares = np.bincount(cell, weight**2, n_cells)
    return np.nan_to_num(divide(np.bincount(cell, weight, n_cells) ** 2, squares))


def design_units(
    mass: Array, cell: Codes, n_cells: int, unit: Codes | None, *, chance: Any = None
) -> Array:
    r"""Return how many like units have a variance that is estimated as well as this.

    With masses m of the units of a cell :math:`(\sum m^2)^2 / \sum m^4`, which is
    their number where all are alike. A variance is a sum of squares, of which the heavy
    units have most: Student's quantile has a degree less than these units
    (Satterthwaite 1946). 0 of none.

    Parameters
    ----------
    chance : array, optional
        How often a row counts, where decisions are drawn.
    """
    mass = np.broadcast_to(np.asarray(mass, np.float64), cell.shape)
    if unit is not None:
        mass = mass if chance is None else mass * chance
        mass, cell, _ = by_unit(mass, cell, unit)
        chance = None
    top = np.zeros(n_cells)
    np.maximum.at(top, cell, mass)
    squares = np.square(np.nan_to_num(divide(mass, top[cell])))
    often: Any = 1.0 if chance is None else chance
    sums = np.bincount(cell, often * squares, n_cells).astype(np.float64)
    fourths = np.bincount(cell, often * squares**2, n_cells).astype(np.float64)
    return np.nan_to_num(divide(sums**2, fourths))


def skewness(
    residual: Array,
    mass: Array,
    cell: Codes,
    n_cells: int,
    *,
    unit: Codes | None = None,
    times: Array | None = None,
) -> Array:
    r"""Return the skewness of the mean of every cell, by its own rows or by all.

    With the sums s of a cell's residuals over its k units, and masses m of these, the
    larger one of

    .. math::

        \lambda = \frac{\sqrt{k (k - 1)}}{k - 2} \frac{\sum s^3}{(\sum s^2)^{3/2}}
        \quad\text{and}\quad \gamma \frac{\sum m^3}{(\sum m^2)^{3/2}} ,

    where :math:`\gamma` is the skewness of a row's residual over all cells: few rows
    seldom show their largest values.

    Parameters
    ----------
    residual : array of shape (n_rows,)
        Value less the mean of the cell.
    mass : array of shape (n_rows,)
        Weight of each row.
    times : array, optional
        How many people each row stands for.
    """
    often = np.ones(len(cell)) if times is None else times
    second, third = (float(np.sum(mass * often * residual**k)) for k in (2, 3))
    whole = float(np.sum(mass * often))
    if not second > 0:
        return np.zeros(n_cells)
    n = float(np.sum(often))
    of_rows = third / whole / (second / whole) ** 1.5
    of_rows *= np.sqrt(n * (n - 1)) / max(n - 2, 1)
    weighed, place = mass * residual, cell
    if unit is not None:
        weighed, place, _ = by_unit(weighed, cell, unit)
        mass, _, _ = by_unit(mass, cell, unit)
        often = np.ones(len(place))
    squares, cubes, of_squares, of_cubes, k = (
        np.bincount(place, often * part, n_cells).astype(np.float64)
        for part in (weighed**2, weighed**3, mass**2, mass**3, np.ones(len(place)))
    )
    more = divide(np.sqrt(k * np.maximum(k - 1, 0)), np.maximum(k - 2, 1))
    own = more * np.nan_to_num(divide(cubes, squares**1.5))
    pooled = of_rows * np.nan_to_num(divide(of_cubes, of_squares**1.5))
    return np.where(np.abs(pooled) > np.abs(own), pooled, own)


def correlations(
    residual: Array, cell: Codes, shape: tuple[int, int], unit: Codes
) -> Any:
    """Return the correlation of the estimates of one row of cells, by shared units.

    Of shape (rows of cells, columns, columns) for cells of ``shape``, (rows, columns).
    """
    from scipy import sparse  # `fairdash.audit` is looked up without it

    size, (n, width) = int(unit.max(initial=0)) + 1, shape
    sums = sparse.csr_matrix((residual, (unit, cell)), shape=(size, n * width))
    shared = (sums.T @ sums).tocoo()
    first, second = shared.row, shared.col
    near = first // width == second // width
    covariance = np.zeros((n, width, width))
    place = first[near] // width, first[near] % width, second[near] % width
    covariance[place] = shared.data[near]
    error = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return np.nan_to_num(
        divide(covariance, error[:, :, None] * error[:, None, :])
    ).clip(-1, 1)
