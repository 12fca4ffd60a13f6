"""The cells of a column: single values or lists, some of them, examples."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

N_EXAMPLES = 5
SCREEN_ROWS = 20_000  # that a guess and the checks look at
SCREEN_COLUMNS = 200


def is_nested(column: "pd.Series[Any]") -> bool:
    """Tell whether cells hold lists or records rather than single values."""
    if not pd.api.types.is_object_dtype(column):
        return False
    # pandas looks at millions of cells in the time that Python takes for thousands.
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if not inferred.startswith("mixed"):
        return False
    return any(isinstance(value, list | dict | set | np.ndarray) for value in column)


@contextmanager
def single_values(column: "pd.Series[Any]") -> Iterator[None]:
    """Turn the TypeError of lists or records into a ValueError with the way out."""
    try:
        yield
    except TypeError as error:
        if not is_nested(column):
            raise
        raise ValueError(
            f"The cells of {column.name!r} hold lists or records; choose a column of "
            "single values, or split it into several columns."
        ) from error


@lru_cache(maxsize=16)
def some_rows(n_rows: int) -> NDArray[np.int64]:
    """Return positions of 20,000 rows drawn at random, or of all where fewer."""
    rows = np.arange(n_rows)
    if n_rows > SCREEN_ROWS:
        rng = np.random.default_rng(0)
        drawn = rng.choice(n_rows, SCREEN_ROWS, replace=False, shuffle=False)
        rows = np.sort(drawn)
    # All callers share one array, which none may change.
    rows.flags.writeable = False
    return rows


def example_rows(flags: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the numbers of the first flagged rows; the first row of data is row 1."""
    return tuple(int(row) + 1 for row in np.flatnonzero(flags)[:N_EXAMPLES])
