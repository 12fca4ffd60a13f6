"""How many people each row of a table stands for."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import as_written

MOST_PEOPLE = 2**53  # that a double counts exactly


class RowCounts(np.ndarray[Any, np.dtype[np.float64]]):
    """Numbers of people that rows stand for; a count, not a sampling weight.

    Whatever takes sampling weights takes these: sums are the same, and n is the number
    of people, as if each row were repeated. Some of the rows are chosen as of an array.
    """

    @classmethod
    def of(
        cls, name: str, values: ArrayLike, row_number: NDArray[np.int64] | None = None
    ) -> Self:
        """Return checked counts.

        Parameters
        ----------
        name : str
            Of the column, in messages.
        row_number : ndarray of int64, optional
            The row of each value in the table, from 0.

        Raises
        ------
        ValueError
            With the first row that holds no whole number of 0 or more; where all are 0,
            or all together are too many to be counted exactly.
        """
        numbers = _as_numbers(values)
        with np.errstate(invalid="ignore"):
            fits = np.isfinite(numbers) & (numbers >= 0) & (numbers % 1 == 0)
        wrong = np.flatnonzero(~fits)
        if len(wrong):
            first = wrong[0]
            row = first
            if row_number is not None:
                row = row_number[first]
            raise ValueError(
                f"{name!r} cannot say how many people a row stands for. {len(wrong):,} "
                f"rows hold no whole number of 0 or more, first row {row + 1} with "
                f"{as_written(np.asarray(values, dtype=object)[first])}. Correct or "
                "exclude these rows; a weight with decimals is a sampling weight."
            )
        total = float(numbers.sum())
        if not total:
            raise ValueError(
                f"{name!r} is 0 in all {len(numbers):,} rows, so nobody is counted. "
                "Choose another column, or none."
            )
        if total > MOST_PEOPLE:
            raise ValueError(
                f"{name!r} adds up to {total:.3g}, more than can be counted exactly "
                f"({MOST_PEOPLE:,}). Choose another column."
            )
        return numbers.view(cls)

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(np.asarray(self).sum())

    def lots(self, n_lots: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Self]:
        """Deal the people of each row at random into lots.

        Each lot is a random sample of all people, so a split that deals whole lots is
        one that deals people. The same counts are dealt alike each time.

        Returns
        -------
        rows, lot : ndarray of int64
            The row and the lot of each part that holds somebody.
        counts : RowCounts
            Its people.
        """
        whole = np.asarray(self).astype(np.int64)
        rng = np.random.default_rng(0)
        dealt = rng.multinomial(whole, np.full(n_lots, 1 / n_lots))
        rows, lot = np.nonzero(dealt)
        counts = dealt[rows, lot].astype(np.float64).view(type(self))
        return rows.astype(np.int64), lot.astype(np.int64), counts


def _as_numbers(values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(values, dtype=object)
        return np.array([_number(cell) for cell in cells], dtype=np.float64)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return float("nan")


def quantiles(
    values: ArrayLike, shares: Sequence[float], people: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return quantiles as `numpy.quantile` does, each value repeated.

    ``people`` says how often each value counts; without, once. Missing values are left
    out. NaN where no value counts.
    """
    numbers = np.asarray(values, dtype=np.float64)
    repeats = np.ones(len(numbers))
    if people is not None:
        repeats = np.asarray(people, np.float64)
    counts = np.isfinite(numbers) & (repeats > 0)
    if not counts.any():
        return np.full(len(shares), np.nan)
    order = np.argsort(numbers[counts], kind="stable")
    ordered = numbers[counts][order]
    # The values are never repeated: the index of each one's last copy is enough.
    last_index = np.cumsum(repeats[counts][order]) - 1
    index = np.asarray(shares) * last_index[-1]
    below = ordered[np.searchsorted(last_index, np.floor(index))]
    above = ordered[np.searchsorted(last_index, np.ceil(index))]
    interpolated: NDArray[np.float64] = below + (index % 1) * (above - below)
    return interpolated


def people_of(weight: Any) -> NDArray[np.float64] | None:
    """Return counts as numbers where weights are counts, else None."""
    return np.asarray(weight) if isinstance(weight, RowCounts) else None
