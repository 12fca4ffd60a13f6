"""Count many models at once in the cells of a cross table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Codes = NDArray[np.int64]
Counts = NDArray[np.float64]


class Cells:
    """Rows of a table sorted into the cells of a cross table.

    A row belongs to the cell that its codes name, one code per axis; a row with a
    negative code belongs to none. Counting is then one product of the predictions,
    (models, rows), with a sparse indicator matrix, (rows, cells), that holds at most
    one entry per row: the cost does not grow with the number of cells.

    Parameters
    ----------
    codes : sequence of int arrays of shape (n_rows,)
        Position of every row along each axis.
    shape : tuple of int
        Length of each axis.
    """

    def __init__(self, codes: Sequence[Codes], shape: tuple[int, ...]) -> None:
        self.shape = shape
        inside = np.all([code >= 0 for code in codes], axis=0)
        rows = np.flatnonzero(inside)
        cell = np.ravel_multi_index(tuple(code[rows] for code in codes), shape)
        size = (int(np.prod(shape)), len(inside))
        entries = np.ones(len(rows), dtype=np.float32)
        # float32 counts exactly up to 2**24 rows, at half the traffic of float64
        self._indicator = sparse.csr_matrix((entries, (cell, rows)), shape=size)
        counts = np.bincount(cell, minlength=size[0])
        self.rows: Counts = counts.reshape(shape).astype(np.float64)

    def count(self, values: NDArray[np.generic]) -> Counts:
        """Return the sum of 0/1 ``values``, (models, rows), in every cell.

        Returns
        -------
        counts : float64 array of shape (models, *shape)
        """
        columns = np.ascontiguousarray(values.T, dtype=np.float32)
        sums = (self._indicator @ columns).T
        return sums.reshape(len(values), *self.shape).astype(np.float64)


def divide(part: NDArray[np.generic], whole: NDArray[np.generic]) -> Counts:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    ratio = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratio, where=whole != 0)
    return ratio


def spread(rates: Counts) -> Counts:
    """Return the largest minus the smallest rate of the last axis; NaN spreads."""
    gap: Counts = rates.max(axis=-1) - rates.min(axis=-1)
    return gap
