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

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import as_written
from fairdash.metrics.group.counting import divide

_ALIKE = 1e-12  # standard error of rows that all have one value, over the largest


class Variance(NamedTuple):
    """Variance of the estimate in every cell, and how many units it is from."""

    variance: FloatArray
    units: FloatArray

    def effective(
        self, rate: FloatArray, worth: FloatArray, rows: FloatArray
    ) -> FloatArray:
        """Return of how many independent rows a rate has this variance.

        Where every row has the same value the variance is 0 and says nothing; the
        number is then ``worth``, Kish's of the units. It is at most that of the rows.
        """
        spread = rate * (1 - rate)
        # Rounding leaves rows that all have one value a variance of 1e-34.
        varied = (self.variance > 1e-15) & (spread > 1e-12)
        effective = divide(spread, np.where(varied, self.variance, 1))
        return np.where(varied, np.minimum(effective, rows), worth)


class UnitCells(NamedTuple):
    """The units of every cell, sorted by cell.

    Attributes
    ----------
    of_row : int array of shape (n_rows,)
        Which of these each row is of.
    cell : int array
        Of each.
    """

    of_row: Codes
    cell: Codes

    @classmethod
    def of(cls, cell: Codes, unit: Codes) -> Self:
        """Return the units that have rows in each cell."""
        n_units = int(unit.max(initial=0)) + 1
        distinct, of_row = np.unique(cell * n_units + unit, return_inverse=True)
        return cls(of_row, distinct // n_units)

    def total(self, values: NDArray[Any]) -> FloatArray:
        """Return the sums of values over the rows of each."""
        sums = np.bincount(self.of_row, values, len(self.cell))
        return sums.astype(np.float64)


class UnitSums(NamedTuple):
    """Sums of values over the rows of each unit in each cell."""

    sums: FloatArray
    cell: Codes
    counts: NDArray[np.bool_] | None  # whether a row of it is of the sample


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
    residual: FloatArray,
    cell: Codes,
    n_cells: int,
    *,
    unit: Codes | None = None,
    chance: FloatArray | None = None,
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
    draw_variance: Any = 0.0
    if unit is not None:
        if chance is not None and row is not None:
            # Given its row a draw has the variance E[e^2] - E[e]^2 of its residual;
            # between units the expected residuals vary.
            draw_variance = np.bincount(cell, chance * residual**2, n_cells)
            residual = chance * residual
            chance = None
            expected = by_unit(residual, cell, row)
            draw_variance = draw_variance - np.bincount(
                expected.cell, expected.sums**2, n_cells
            )
        residual, cell, counts = by_unit(residual, cell, unit, counts)
    squares = residual**2 if chance is None else chance * residual**2
    presence: Any = chance
    if counts is not None:
        presence = counts * (1.0 if chance is None else chance)
    n_units = np.bincount(cell, presence, n_cells).astype(np.float64)
    degrees = np.where(n_units > 1, n_units - 1, np.nan)
    variance = n_units / degrees * np.bincount(cell, squares, n_cells) + draw_variance
    return Variance(variance, n_units)


def by_unit(
    values: FloatArray,
    cell: Codes,
    unit: Codes,
    counts: NDArray[np.bool_] | None = None,
) -> UnitSums:
    """Return the sums of values of each unit in each cell."""
    units = UnitCells.of(cell, unit)
    if counts is not None:
        counts = units.total(counts) > 0
    return UnitSums(units.total(values), units.cell, counts)


def worth(
    weight: FloatArray, cell: Codes, n_cells: int, unit: Codes | None
) -> FloatArray:
    r"""Return Kish's number of units, :math:`(\sum w)^2 / \sum w^2`; 0 of none."""
    if unit is not None:
        weight, cell, _ = by_unit(weight, cell, unit)
    squares = np.bincount(cell, weight**2, n_cells)
    squared_sum = np.bincount(cell, weight, n_cells) ** 2
    return np.nan_to_num(divide(squared_sum, squares))


def design_units(
    mass: FloatArray,
    cell: Codes,
    n_cells: int,
    unit: Codes | None,
    *,
    chance: Any = None,
) -> FloatArray:
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
        if chance is not None:
            mass = mass * chance
            chance = None
        mass, cell, _ = by_unit(mass, cell, unit)
    # Scaled to the heaviest: fourth powers of large weights would overflow.
    heaviest = np.zeros(n_cells)
    np.maximum.at(heaviest, cell, mass)
    squares = np.square(np.nan_to_num(divide(mass, heaviest[cell])))
    frequency: Any = 1.0 if chance is None else chance
    sums = np.bincount(cell, frequency * squares, n_cells).astype(np.float64)
    fourths = np.bincount(cell, frequency * squares**2, n_cells).astype(np.float64)
    return np.nan_to_num(divide(sums**2, fourths))


def skewness(
    residual: FloatArray,
    mass: FloatArray,
    cell: Codes,
    n_cells: int,
    *,
    unit: Codes | None = None,
    times: FloatArray | None = None,
) -> FloatArray:
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
    frequency = np.ones(len(cell)) if times is None else times
    # Products, since a third power takes twenty times as long.
    square = residual * residual
    second = float(np.sum(mass * frequency * square))
    third = float(np.sum(mass * frequency * square * residual))
    total_mass = float(np.sum(mass * frequency))
    if not second > 0:
        return np.zeros(n_cells)
    # Gamma, with the correction for n rows.
    n = float(np.sum(frequency))
    row_skewness = third / total_mass / (second / total_mass) ** 1.5
    row_skewness *= np.sqrt(n * (n - 1)) / max(n - 2, 1)
    weighted = mass * residual
    if unit is not None:
        weighted, unit_cell, _ = by_unit(weighted, cell, unit)
        mass, _, _ = by_unit(mass, cell, unit)
        cell = unit_cell
        frequency = np.ones(len(cell))

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, frequency * values, n_cells).astype(np.float64)

    k = total(np.ones(len(cell)))
    correction = divide(np.sqrt(k * np.maximum(k - 1, 0)), np.maximum(k - 2, 1))
    cell_ratio = _third_over_second(total, weighted)
    by_cell = correction * cell_ratio
    pooled = row_skewness * _third_over_second(total, mass)
    return np.where(np.abs(pooled) > np.abs(by_cell), pooled, by_cell)


def _third_over_second(
    total: Callable[[FloatArray], FloatArray], values: FloatArray
) -> FloatArray:
    """Return the sum of cubes over that of squares to the power 3/2, 0 of no values."""
    square = values * values
    return np.nan_to_num(divide(total(square * values), total(square) ** 1.5))


def correlations(
    residual: FloatArray, cell: Codes, shape: tuple[int, int], unit: Codes
) -> Any:
    """Return the correlation of the estimates of one row of cells, by shared units.

    Its shape is (rows of cells, columns, columns) for cells of ``shape``, (rows,
    columns).
    """
    from scipy import sparse  # `fairdash.audit` is looked up without it

    n_rows, width = shape
    n_units = int(unit.max(initial=0)) + 1
    unit_sums = sparse.csr_matrix(
        (residual, (unit, cell)), shape=(n_units, n_rows * width)
    )
    # Sparse, since most units are in few cells; entries across rows are not needed.
    products = (unit_sums.T @ unit_sums).tocoo()
    first_row, first = np.divmod(products.row, width)
    second_row, second = np.divmod(products.col, width)
    same_row = first_row == second_row
    covariance = np.zeros((n_rows, width, width))
    covariance[first_row[same_row], first[same_row], second[same_row]] = products.data[
        same_row
    ]
    error = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    # Rows that are all alike have an error of rounding, which goes with no other one.
    error = np.where(error > _ALIKE * error.max(initial=0.0), error, 0.0)
    scale = error[:, :, None] * error[:, None, :]
    return np.nan_to_num(divide(covariance, scale)).clip(-1, 1)
