"""The rows of a database cursor as Arrow batches of one schema."""

import datetime
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

BATCH_ROWS = 50_000
NUMBERS = {int, float, Decimal}
MOMENTS = {datetime.date, datetime.datetime}


def cursor_batches(
    cursor: Any, names: Sequence[str], name: str
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a cursor; the first batch decides the type of each column."""
    schema = None
    while rows := cursor.fetchmany(BATCH_ROWS):
        columns = list(zip(*rows, strict=True))
        if schema is None:
            kinds = map(_kind, columns)
            schema = pa.schema(list(zip(names, kinds, strict=True)))
        arrays = [
            _array(values, field, name)
            for values, field in zip(columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _kind(values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= MOMENTS:
        return pa.timestamp("us")
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds and kinds <= NUMBERS else pa.string()


def _array(values: Sequence[Any], field: Any, name: str) -> Any:
    if pa.types.is_string(field.type):
        values = [None if value is None else str(value) for value in values]
    elif pa.types.is_floating(field.type):
        values = [float(v) if isinstance(v, int | Decimal) else v for v in values]
    elif pa.types.is_timestamp(field.type):
        values = [_moment(value) for value in values]
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, ValueError):
        raise ValueError(
            f"The column {field.name!r} of {name} holds values of several kinds; cast "
            "it to one in a query."
        ) from None


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value
