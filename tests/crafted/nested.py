"""Parquet files whose cells hold lists or records, each an object in memory."""

import numpy as np
import pyarrow as pa

from crafted.case import Case
from crafted.parquets import deep, of, written

MANY, ROWS = 20_000_000, 50  # children of a column, and its rows


def lists(values, n_rows=ROWS):
    """Return Parquet in which a column holds all values, the same number a row."""
    offsets = np.linspace(0, len(values), n_rows + 1).astype(np.int64)
    column = pa.LargeListArray.from_arrays(pa.array(offsets), values)
    return written(pa.table({"plain": np.arange(n_rows), "crafted": column}))


def records(n):
    """Return n records of a number."""
    return pa.StructArray.from_arrays([pa.repeat(pa.scalar(1, pa.int8()), n)], ["x"])


def beside_many(column):
    """Return Parquet of 300 plain columns and a crafted one, the last."""
    plain = {f"x{i}": pa.array(range(len(column))) for i in range(300)}
    return written(pa.table(plain | {"crafted": column}))


KINDS = {
    "list": lambda: of([[1], [2, 3]]),
    "large_list": lambda: of([[1], []], pa.large_list(pa.int8())),
    "fixed_list": lambda: of([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
    "record": lambda: of([{"x": 1}, {"x": 2}]),
    "records": lambda: of([[{"x": 1}], []]),
    "record_of_lists": lambda: of([{"x": [1]}, {"x": []}]),
    "map": lambda: of([[("x", 1)], []], pa.map_(pa.string(), pa.int64())),
    "map_of_records": lambda: of(
        [[("x", {"y": 1})]], pa.map_(pa.string(), pa.struct({"y": pa.int8()}))
    ),
    "tensor": lambda: of(
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 100, 100)))
    ),
    "empty_record": lambda: of([{"x": None}, None]),
    "deep": lambda: deep(20),
    "last_of_many": lambda: beside_many(pa.array([[1], [2]])),
}
MANY_CHILDREN = {
    "records_20m": lambda: lists(records(MANY)),
    "int8_40m": lambda: lists(pa.repeat(pa.scalar(0, pa.int8()), 2 * MANY)),
    "int8_100m": lambda: lists(pa.repeat(pa.scalar(0, pa.int8()), 5 * MANY)),
    "texts_2m": lambda: lists(pa.repeat(pa.scalar("x"), MANY // 10)),
    "times_2m": lambda: lists(pa.repeat(pa.scalar(0, pa.timestamp("s")), MANY // 10)),
    "lists_2m": lambda: lists(pa.array([[]] * (MANY // 10), pa.list_(pa.int8()))),
}
SHORT = {"list", "map", "last_of_many", "records_20m", "lists_2m"}  # in every run
REFUSED = "the cells of the column 'crafted' hold (lists|records|maps), not single"
NESTED = {
    f"nested_{name}.parquet": Case(
        f"cells that hold what is no value: {name}", make, REFUSED, name not in SHORT
    )
    for name, make in (KINDS | MANY_CHILDREN).items()
}
