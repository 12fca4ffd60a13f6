"""What is said of a wide table, computed in a process of its own.

A guess, checks and facts of columns look at every column for milliseconds, whatever its
length. In the process that serves pages all sessions would wait for them.
"""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, TypeVar

import pandas as pd

from fairdash.datasets._child import MOST_MEMORY, MOST_SECONDS, ask, limit
from fairdash.datasets._remedies import prepare
from fairdash.datasets._roles import Roles
from fairdash.datasets.reading.parquet import load_table

Value = TypeVar("Value")

COLUMN_ROWS = 15_000  # rows that take as long to look at as a column by itself
LONG = 2_500_000  # columns times rows and these, beyond which a process begins sooner
MOST_CELLS = 20_000_000  # of a table that may be in memory twice
AT_ONCE = BoundedSemaphore(2)


def takes_long(frame: pd.DataFrame) -> bool:
    """Tell whether a guess or checks take longer than to start a process for them."""
    n_rows, n_columns = frame.shape
    return n_columns * (n_rows + COLUMN_ROWS) > LONG


def describe_apart(
    path: Path,
    describe: Callable[..., Value],
    *arguments: Any,
    roles: Roles | None = None,
) -> Value:
    """Return ``describe(table, *arguments)``, computed in a process of its own.

    Parameters
    ----------
    path : Path
        Of the table, as `convert_table` wrote it.
    describe : callable
        Of this package, by its name; so are the classes of what it is given and
        returns, which are sent as pickles from one to the other.
    roles : Roles, optional
        By which the table is prepared first.

    Raises
    ------
    ValueError
        As ``describe`` does, or when the process came to one of its limits.
    """
    task = pickle.dumps((path, describe, arguments, roles))
    with AT_ONCE:
        answer = ask(__name__, task, lambda _: None)
    if answer is None:
        raise ValueError(
            f"The table was not looked at: that takes more than {MOST_SECONDS:,} "
            f"seconds or {MOST_MEMORY >> 30} GiB. Keep the columns that are needed."
        )
    value, error = pickle.loads(answer)
    if error is not None:
        raise error
    return value


def serve() -> None:
    """Compute what standard input asks for, and answer."""
    path, describe, arguments, roles = pickle.load(sys.stdin.buffer)
    limit(MOST_MEMORY, MOST_SECONDS)
    answer: tuple[Any, Exception | None]
    try:
        frame = load_table(path, compact=True)
        prepared = frame if roles is None else prepare(frame, roles)
        answer = describe(prepared, *arguments), None
    except MemoryError:
        return
    except Exception as error:
        answer = None, error
    pickle.dump(answer, sys.stdout.buffer)
