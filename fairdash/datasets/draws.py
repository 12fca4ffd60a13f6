r"""Reproducible draws for decisions of a random mixture: one number a row and seed.

A mixture decides 1 with a chance h. It does so where h is above a level u that is
uniform on [0, 1). The level is a hash of what the row holds and of the seed, so that a
person is decided alike however often, in whichever batch and order rows are decided:
what scikit-learn asks of ``predict``. Two rows that hold the same have the same level.
They are decided alike, and their draws are not independent: `fairdash.metrics.Drawn`
has the variance that follows.

Levels of distinct rows are as independent as the hash is good (splitmix64). Whoever
knows the seed of a deployment can find out which change of a row turns its decision, so
it should be kept as a password is.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash.datasets.column_kinds import label_codes

Content = NDArray[np.uint64]
RandomState = int | np.random.Generator | np.random.RandomState | None

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_BITS = 53  # of a float's fraction
_MOST_SEED = 2**63


def array_content(X: Any) -> Content:
    """Return a number for what each encoded row holds, (n_rows,).

    Numbers count as float32, the precision of encoded rows. A table of other kinds, as
    a base model of the user's own may take, counts as `table_content`.
    """
    if isinstance(X, pd.DataFrame):
        return table_content(X, X.select_dtypes(include=["number", "bool"]).columns)
    rows = np.asarray(X)
    if rows.dtype == object:
        return table_content(pd.DataFrame(rows), ())
    with np.errstate(over="ignore"):  # beyond float32 all numbers are infinite
        numbers = rows.astype(np.float32) + np.float32(0)  # -0 is 0
    numbers[np.isnan(numbers)] = np.nan
    content = np.zeros(len(numbers), np.uint64)
    for column in numbers.T:
        bits = np.ascontiguousarray(column).view(np.uint32)
        content = _mixed(content ^ bits.astype(np.uint64))
    return content


def table_content(frame: pd.DataFrame, numbers: Collection[Any]) -> Content:
    """Return a number for what each row of a table holds, (n_rows,).

    Columns count in their order and not by name. Those of ``numbers`` count as float64,
    others by their labels; a missing value is a value of its own.
    """
    content = np.zeros(len(frame), np.uint64)
    for position, name in enumerate(frame.columns):  # names may repeat
        column = frame.iloc[:, position]
        if name in numbers:
            values = column.to_numpy(np.float64, na_value=np.nan) + 0.0  # -0 is 0
            values[np.isnan(values)] = np.nan  # one pattern of bits for all of them
            bits = values.view(np.uint64)
        else:
            codes, labels = label_codes(column)
            hashes = pd.util.hash_array(np.array([*labels, ""], dtype=object))
            hashes[-1] = _STEP  # missing, whose code is -1
            bits = hashes[codes]
        content = _mixed(content ^ bits)
    return content


def levels(content: Content, random_state: RandomState = 0) -> NDArray[np.float64]:
    """Return a level in [0, 1) for each content: uniform, the same for the same seed.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=0
        A whole number from 0 gives the same levels at each call. A generator is asked
        for one; None is new at each call.

    Raises
    ------
    ValueError
        For a negative number, or what is none of these.
    """
    seed = _mixed(np.array([_seed(random_state)], np.uint64))
    fraction = _mixed(content ^ seed) >> np.uint64(64 - _BITS)
    return fraction.astype(np.float64) * 2.0**-_BITS


def drawn(
    chance: ArrayLike, content: Content, random_state: RandomState = 0
) -> NDArray[np.int8]:
    """Return decisions, 1 where the chance is above the level of the row."""
    is_below = np.less(levels(content, random_state), chance)
    decisions: NDArray[np.int8] = is_below.view("i1")
    return decisions


def _seed(random_state: RandomState) -> int:
    """Return a seed, drawn from a generator or from the system where there is none."""
    if random_state is None:
        return int(np.random.default_rng().integers(_MOST_SEED))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_MOST_SEED))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, int | np.integer)
    if not whole or not 0 <= random_state < 2 * _MOST_SEED:
        raise ValueError(
            "`random_state` must be a whole number from 0 below 2**64, a generator of "
            f"NumPy or None, got {random_state!r}."
        )
    return int(random_state)


def _mixed(state: Content) -> Content:
    """Return the next state of splitmix64, in which every bit hangs on every other."""
    with np.errstate(over="ignore"):
        state = state + _STEP
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
