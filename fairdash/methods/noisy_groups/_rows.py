"""Training rows for the game: equal rows once, the rows of a rate side by side."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import value_label
from fairdash.methods.noisy_groups._sides import Side

Float32 = NDArray[np.float32]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rows that one rate is over, sorted by noisy group.

    Attributes
    ----------
    side : Side
    span : slice
        Where they stand among all rows.
    counts : ndarray of shape (n_side,)
        How often each occurs.
    groups : tuple of slice
        Rows of every noisy group, within ``span``.
    sizes : ndarray of shape (n_groups,)
        All training rows of every noisy group.
    """

    side: Side
    span: slice
    counts: Float32
    groups: tuple[slice, ...]
    sizes: Float32

    @property
    def inside(self) -> Float32:
        """Training rows of every noisy group that the rate is over."""
        return np.array([self.counts[mine].sum() for mine in self.groups])


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct training rows with the constant feature last.

    Attributes
    ----------
    X : ndarray of shape (n_distinct, n_features + 1)
    sign : ndarray of shape (n_distinct,)
        1 for the positive outcome, -1 for the other.
    share : ndarray of shape (n_distinct,)
        Of all training rows; sums to one.
    sides : tuple of SideRows
    of_row : ndarray of shape (n_rows,)
        The distinct row that each training row is.
    """

    X: Float32
    sign: Float32
    share: Float32
    sides: tuple[SideRows, ...]
    of_row: Codes


def compress(
    X: ArrayLike,
    y: Codes,
    codes: Codes,
    groups: NDArray[np.generic],
    sides: tuple[Side, ...],
) -> Rows:
    """Merge equal rows and sort by outcome, where a rate asks for it, and by group.

    One-hot rows repeat: of 29,305 of Adult 17,000 are distinct.

    Raises
    ------
    ValueError
        When a group has no rows that a rate is over.
    """
    for side in sides:
        _check_groups(side, y, codes, groups)
    features = np.asarray(X, dtype=np.float32)
    by_outcome = y if len(sides[0].outcomes) == 1 else np.zeros_like(y)
    keyed = np.column_stack([1 - by_outcome, codes, y, features]).astype(np.float32)
    first, of_row, counts = _distinct(keyed)
    order = np.lexsort((codes[first], -by_outcome[first]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first = first[order]
    often: Float32 = counts[order].astype(np.float32)
    sizes = np.bincount(codes, minlength=len(groups)).astype(np.float32)
    parts = []
    for side in sides:
        (where,) = np.nonzero(side.rows(y[first]))
        span = slice(int(where[0]), int(where[-1]) + 1)
        ends = np.searchsorted(codes[first][span], np.arange(len(groups) + 1))
        mine = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
        parts.append(SideRows(side, span, often[span], mine, sizes))
    return Rows(
        X=np.column_stack([features[first], np.ones(len(first), np.float32)]),
        sign=np.where(y[first] == 1, 1, -1).astype(np.float32),
        share=(often / len(y)).astype(np.float32),
        sides=tuple(parts),
        of_row=place[of_row],
    )


def _distinct(keyed: Float32) -> tuple[Codes, Codes, Codes]:
    """Return the first place, the number and the count of every distinct row."""
    rows = np.ascontiguousarray(keyed + np.float32(0))  # -0.0 becomes 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, of_row, counts = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    return first, of_row.ravel(), counts


def _check_groups(
    side: Side, y: Codes, codes: Codes, groups: NDArray[np.generic]
) -> None:
    n = np.bincount(codes[side.rows(y)], minlength=len(groups))
    if not n.all():
        empty = value_label(groups[int(n.argmin())])
        message = (
            f"Group {empty} has no training rows with outcome class {side.outcomes[0]},"
            f" so its {side.rate} is not defined; leave the group out or join it with "
            "another."
        )
        raise ValueError(message)
