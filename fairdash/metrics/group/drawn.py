r"""Decisions that are drawn: the chance of a positive one in every row.

Measures of such decisions are expected ones: a row counts as decided 1 with its chance
h and as decided 0 with 1 - h. Their intervals are as wide as of decisions once drawn.
With a draw for every row the variance of a rate is the usual one,
:math:`\bar h (1 - \bar h) / n`. Rows of one content share a draw, so that pairs of them
add

.. math:: \sum_{i \ne j} \Delta_i \Delta_j (\min(h_i, h_j) - h_i h_j)

with :math:`\Delta_i` the change of the estimate when row i is decided 1 instead of 0.
Between two groups the same pairs make rates move together; that is not counted, and
intervals of gaps are wide rather than narrow.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash.metrics.group.counting import probability_models


@dataclass(frozen=True, eq=False)
class Drawn:
    """Decisions of a random mixture on some rows.

    Parameters
    ----------
    chance : array of shape (n_rows,) or (n_models, n_rows)
        Chance of a positive decision.
    content : array of shape (n_rows,), optional
        Rows of the same content have the same draw; without it each has its own.

    Examples
    --------
    >>> from fairdash.metrics import Drawn, measure_by_group
    >>> decided = Drawn(np.array([0.2, 0.4, 0.5, 0.7] * 25))
    >>> groups = ["a", "a", "b", "b"] * 25
    >>> table = measure_by_group(
    ...     "selection_rate", None, decided, sensitive_features=groups
    ... )
    >>> table["value"].round(2).tolist()
    [0.3, 0.6]
    """

    chance: NDArray[np.floating]
    content: NDArray[np.generic] | None = None

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are."""
        return (self.chance.shape[-1],)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return int(self.chance.shape[-1])

    def __getitem__(self, rows: Any) -> "Drawn":
        """Return the decisions of some rows, by index or mask."""
        content = None if self.content is None else self.content[rows]
        return Drawn(self.chance[..., rows], content)

    @property
    def rejected(self) -> "Drawn":
        """The same decisions, positive where they were negative."""
        return Drawn(1 - self.chance, self.content)

    def shared(self, *, counted: bool = False) -> Codes | None:
        """Return the content of every row as a code; None where no two share one.

        Of rows that are ``counted`` several people of one row share its content.
        """
        if self.content is None:
            return None
        distinct, codes = np.unique(self.content, return_inverse=True)
        if len(distinct) == len(self) and not counted:
            return None
        return codes.astype(np.int64)


def chances(name: str, decisions: "ArrayLike | Drawn") -> FloatArray:
    """Return the chance of a positive decision in every row, of decisions 0 or 1.

    Raises ValueError for what is not in [0, 1].
    """
    values = decisions.chance if isinstance(decisions, Drawn) else decisions
    return probability_models(name, values)[0].astype(np.float64)


def draw_variance(
    change: FloatArray, chance: FloatArray, cell: Codes, n_cells: int
) -> FloatArray:
    """Return the variance of estimates by draws that are each row's own.

    ``change`` is of the estimate when a row is decided 1 instead of 0.
    """
    spread = change**2 * chance * (1 - chance)
    return np.bincount(cell, spread, n_cells).astype(np.float64)


def shared_variance(
    change: FloatArray,
    chance: FloatArray,
    cell: Codes,
    n_cells: int,
    content: Codes,
    people: FloatArray | None = None,
) -> FloatArray:
    """Return what pairs of rows that share a draw add to the variance of estimates.

    Parameters
    ----------
    change, chance : arrays of shape (n_rows,)
        Of the estimate when a row is decided 1 instead of 0; of that decision.
    cell : int array of shape (n_rows,)
        Negative for none.
    people : array of shape (n_rows,), optional
        How many each row stands for, all of whom share its draw.
    """
    random = (chance > 0) & (chance < 1)  # others move with nobody
    rows = np.flatnonzero(random & (cell >= 0) & (change != 0))
    # A common draw decides 1 for a row and for all of a larger chance before it: both
    # are 1 with the smaller chance. So one pass over sorted rows sums all pairs.
    rows = rows[np.lexsort([-chance[rows], content[rows], cell[rows]])]
    h = chance[rows]
    row_cell = cell[rows]
    row_content = content[rows]
    person_change = change[rows]
    counts = np.ones(len(rows)) if people is None else people[rows]
    row_change = counts * person_change
    starts = np.ones(len(rows), bool)
    new_cell = row_cell[1:] != row_cell[:-1]
    new_content = row_content[1:] != row_content[:-1]
    starts[1:] = new_cell | new_content
    draw = np.cumsum(starts) - 1
    before = np.cumsum(row_change) - row_change
    before -= before[starts][draw]  # within the rows of a draw
    second_moment = np.bincount(draw, (2 * before + row_change) * row_change * h)
    mean = np.bincount(draw, row_change * h)
    independent = np.bincount(draw, counts * person_change**2 * h * (1 - h))
    extra = second_moment - mean**2 - independent  # below 0 where changes cancel out
    return np.bincount(row_cell[starts], extra, n_cells).astype(np.float64)
