"""Columns as a page holds them: which kinds there are, and the bytes that they take.

A column can take a thousand times more memory than it takes in a file. It is counted
where the file is read, as it will be held, so that no page ever loads more.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import compute, types

from fairdash.datasets.reading.source import Source, check_cell, check_memory

NESTED = {  # what a cell holds that is no single value
    "lists": (
        types.is_list,
        types.is_large_list,
        types.is_fixed_size_list,
        types.is_list_view,
        types.is_large_list_view,
    ),
    "maps": (types.is_map,),
    "records": (types.is_struct,),
    "values of several kinds": (types.is_union,),
}
SINGLE = (
    types.is_null,
    types.is_boolean,
    types.is_integer,
    types.is_floating,
    types.is_decimal,
    types.is_temporal,
    types.is_string,
    types.is_large_string,
    types.is_string_view,
    types.is_binary,
    types.is_large_binary,
    types.is_binary_view,
    types.is_fixed_size_binary,
)
LEAST_BYTES = 4  # of any other cell: a text takes its offset at least
LARGEST_EXACT = 1 << 53  # whole numbers up to it are floats as well


def check_kind(name: str, column: str, kind: Any) -> None:
    """Raise ValueError when the cells of a column hold no single values.

    ``name`` is of the file, ``kind`` the type of the column in Arrow.
    """
    plain = value_kind(kind)
    if any(is_kind(plain) for is_kind in SINGLE):
        return
    words = "values of a kind that is not read"
    for nested, kinds in NESTED.items():
        if any(is_kind(plain) for is_kind in kinds):
            words = nested
    raise ValueError(
        f"{name}: the cells of the column {column!r} hold {words}, not single values. "
        "Split it into several columns or exclude it, and save the table anew."
    )


def value_kind(kind: Any) -> Any:
    """Return the type of the values of a dictionary or an extension type."""
    while True:
        if types.is_dictionary(kind):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def plain_column(column: Any, name: str, file: str) -> Any:
    """Return a column as pages can hold it: dates as moments, decimals as floats.

    ``name`` is of the column, ``file`` of the file, in messages. Raises ValueError for
    bytes that are no text, and for a cell without end.
    """
    kind = column.type
    kind_of_values = value_kind(kind)
    if kind != kind_of_values:
        # Values instead of categories, of which pandas keeps some that no row has.
        return plain_column(compute.cast(column, kind_of_values), name, file)
    if types.is_string_view(kind):
        column = compute.cast(column, pa.string())
        kind = column.type
    if is_text(kind):
        check_cell(name, compute.max(compute.utf8_length(column)).as_py())
        return column
    short = types.is_null(kind) or types.is_float16(kind)
    if short or types.is_decimal(kind):
        return compute.cast(column, pa.float64())
    if types.is_date(kind):
        return compute.cast(column, pa.timestamp("ms"))
    if types.is_time(kind) or types.is_duration(kind):
        return compute.cast(column, pa.string())
    if is_bytes(kind):
        try:
            return compute.cast(column, pa.string())
        except pa.ArrowInvalid as error:
            message = f"{file} holds bytes in the column {name!r}"
            raise ValueError(f"{message}; exclude it.") from error
    return column


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow holds text."""
    kinds = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_kind(kind) for is_kind in kinds)


def is_bytes(kind: Any) -> bool:
    """Return whether a type of Arrow holds bytes, which may be text."""
    kinds = (
        types.is_binary,
        types.is_large_binary,
        types.is_binary_view,
        types.is_fixed_size_binary,
    )
    return any(is_kind(kind) for is_kind in kinds)


def least_bytes(kind: Any) -> int:
    """Return the bytes that a cell takes at least, whatever it holds."""
    plain = value_kind(kind)
    numeric = types.is_integer(plain) or types.is_floating(plain)
    if numeric and not types.is_float16(plain):  # which become larger floats
        return plain.bit_width // 8
    return 1 if types.is_boolean(plain) else LEAST_BYTES


def as_series(column: Any) -> "pd.Series[Any]":
    """Return a column of Arrow as a page holds it."""
    if _would_round(column):
        column = column.cast(pa.string())
    # a copy: of a small file pandas gets views that cannot be written to
    return column.to_pandas().copy()


def give_back() -> None:
    """Return free memory to the system.

    A file names its columns several times over; glibc keeps what was read of two
    thousand long names, which may be more than the table takes.
    """
    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], Any]:
    """Return glibc's `malloc_trim`; elsewhere a function that does nothing."""
    try:
        trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda pad: 0
    return trim


class Memory:
    """The memory that the columns of a file take, counted one after the other."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._n_bytes = 0

    def add(self, name: str, column: Any) -> None:
        """Count a column of Arrow.

        Raises ValueError when the table takes too much memory with it, or when pages
        cannot hold it.
        """
        try:
            n_bytes = as_series(column).memory_usage(index=False)
        except (pa.ArrowException, ArithmeticError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self._source.name}: the column {name!r} holds values that are not "
                "read, such as moments of an unknown time zone. Save it as text, or "
                "exclude it."
            ) from error
        self.add_bytes(n_bytes)

    def add_bytes(self, n_bytes: int) -> None:
        """Count bytes; ValueError when they are too many."""
        self._n_bytes += n_bytes
        check_memory(self._source, self._n_bytes)


def _would_round(column: Any) -> bool:
    """Tell whether pandas would change whole numbers, which become floats by gaps."""
    if not types.is_integer(column.type) or not column.null_count:
        return False
    ends = compute.min_max(column).as_py().values()
    return any(end is not None and abs(end) > LARGEST_EXACT for end in ends)
