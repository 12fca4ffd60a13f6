"""Which columns hold one value in most rows, as one-hot columns do."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LOOKED_AT = 4096  # first rows, which decide; no result depends on the decision
RARE = 0.25  # share of other than the common value up to which a column is sparse
WORTH = 16  # sparse columns from which to treat them apart pays


class CommonValues(NamedTuple):
    """What `common_values` finds, one entry for each column."""

    value: NDArray[np.floating]
    is_sparse: NDArray[np.bool_]


def common_values(X: NDArray[np.floating]) -> CommonValues:
    """Return each column's commonest value and whether few rows have another.

    The value is the median, which is the commonest wherever a column is sparse.
    Where too few columns are, none is.
    """
    seen = X[:LOOKED_AT]
    value: NDArray[np.floating] = np.median(seen, axis=0)
    is_sparse = (seen != value).mean(axis=0) <= RARE
    if is_sparse.sum() < WORTH:
        is_sparse[:] = False
    return CommonValues(value, is_sparse)


def n_multiplied_columns(X: NDArray[np.floating]) -> int:
    """Return how many columns networks multiply in full when they train on ``X``.

    Of one-hot columns they add up the few entries that are not the common value, which
    takes next to no time beside.
    """
    return int((~common_values(X).is_sparse).sum())
