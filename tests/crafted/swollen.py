"""Small files whose columns take far more memory once they are read."""

import gzip
import re
from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa

from crafted.case import LIMIT, Case
from crafted.parquets import written
from crafted.workbooks import DATA, PARTS, SHEET, STRINGS, packed

LARGE, MANY = 4_000_000, 8_000_000  # rows
PLAIN = {"write_statistics": False, "store_schema": False, "compression": "zstd"}
SWOLLEN = r"more than (16 MiB|2 GiB) of memory once it is read"


def same(value, kind=None, *, n_rows=LARGE, n_columns=1, **options):
    """Return Parquet of columns that hold one value in all rows."""
    column = pa.repeat(pa.scalar(value, kind), n_rows)
    names = [f"x{i}" for i in range(n_columns)]
    return written(pa.table(dict.fromkeys(names, column)), **(PLAIN | options))


def with_gaps(value, kind, n_rows=LARGE):
    """Return the same with a gap at first, which makes other cells larger."""
    values = pa.repeat(pa.scalar(value, kind), n_rows - 1)
    column = pa.chunked_array([pa.nulls(1, kind), values])
    return written(pa.table({"x": column}), **PLAIN)


def dictionary(n_rows, length, n_values=1):
    """Return Parquet in which a few long texts are those of all rows."""
    texts = pa.array([f"{i}" + "x" * length for i in range(n_values)])
    codes = pa.array(np.arange(n_rows, dtype=np.int32) % n_values)
    column = pa.DictionaryArray.from_arrays(codes, texts)
    return written(pa.table({"n": codes, "text": column}), **PLAIN)


def shared_texts(n_rows, length):
    """Return a workbook whose cells are all one long shared text."""
    rows = "".join(
        f'<row r="{r}"><c r="A{r}" t="s"><v>0</v></c></row>' for r in range(2, n_rows)
    )
    header = '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row>'
    data = f"<sheetData>{header}{rows}</sheetData>"
    sheet = re.sub(DATA, lambda _: data, PARTS[SHEET].decode())
    texts = PARTS[STRINGS].decode().replace("<t>age</t>", f"<t>{'x' * length}</t>")
    return packed({**PARTS, SHEET: sheet, STRINGS: texts})


def lines(line, n):
    """Return a packed CSV file of one line many times below a header."""
    header = b",".join(
        b"c%d" % i for i in range(1 + line.partition(b"\n")[0].count(b","))
    )
    return gzip.compress(header + b"\n" + line * n, 1)


ZEROS = {
    f"{n_rows // 1_000_000}m_x_{n_columns}": partial(
        same, 0.0, n_rows=n_rows, n_columns=n_columns
    )
    for n_rows, n_columns in ((MANY, 20), (2_000_000, 100), (40_000_000, 2))
}
KINDS = {
    "int8": lambda: same(0, pa.int8(), n_rows=20_000_000),
    "bool": lambda: same(True, n_rows=20_000_000),
    "null": lambda: same(None, pa.null()),
    "half": lambda: same(0.0, pa.float16()),
    "decimal": lambda: same(Decimal("0.00"), pa.decimal128(38, 2)),
    "decimal256": lambda: same(Decimal(0), pa.decimal256(76, 0)),
    "date": lambda: same(0, pa.date32()),
    "moment": lambda: same(0, pa.timestamp("ns")),
    "zoned": lambda: same(0, pa.timestamp("us", "Europe/Berlin")),
    "time": lambda: same(0, pa.time64("ns")),
    "duration": lambda: same(0, pa.duration("ns")),
    "empty_text": lambda: same(""),
    "bytes": lambda: same(b"x"),
    "fixed_bytes": lambda: same(b"x" * 8, pa.binary(8)),
    "bool_gaps": lambda: with_gaps(True, pa.bool_()),
    "int8_gaps": lambda: with_gaps(1, pa.int8()),
    "uint64_gaps": lambda: with_gaps(2**64 - 1, pa.uint64()),
    "one_group": lambda: same(0.0, n_rows=MANY, row_group_size=MANY),
    "many_groups": lambda: same(0.0, n_rows=MANY, row_group_size=10_000),
    "uncompressed": lambda: same(0.0, n_rows=MANY, compression="none"),
    "old_pages": lambda: same(0.0, n_rows=MANY, data_page_version="2.0"),
    "delta": lambda: same(
        7,
        pa.int64(),
        n_rows=MANY,
        use_dictionary=False,
        column_encoding={"x0": "DELTA_BINARY_PACKED"},
    ),
    "split": lambda: same(
        0.0,
        n_rows=MANY,
        use_dictionary=False,
        column_encoding={"x0": "BYTE_STREAM_SPLIT"},
    ),
    "prefix": lambda: same(
        "x" * 200,
        n_rows=200_000,
        use_dictionary=False,
        column_encoding={"x0": "DELTA_BYTE_ARRAY"},
    ),
}
TEXTS = {
    "one_text": lambda: dictionary(20_000, 100_000),
    "few_texts": lambda: dictionary(20_000, 100_000, 5),
    "short_texts": lambda: dictionary(LARGE, 60, 5),
    "page_of_text": lambda: dictionary(1_000_000, 10_000),
}
ELSEWHERE = {
    "commas.csv.gz": lambda: lines(b"," * 15 + b"\n", 1_000_000),
    "answers.csv.gz": lambda: lines(b"true,1\n,0\n", 2_000_000),
    "zeros.csv.gz": lambda: lines(b"0,0\n", 8_000_000),
    "texts.csv.gz": lambda: lines(b"a,b\n", 8_000_000),
    "zeros.parquet.gz": lambda: gzip.compress(same(0.0, n_rows=MANY)),
    "zeros.parquet.zip": lambda: packed({"t.parquet": same(0.0, n_rows=MANY)}),
    "shared_long.xlsx": lambda: shared_texts(20_000, 30_000),
}


SHORT = {
    "zeros_40m_x_2", "same_bool_gaps", "same_null", "same_time", "same_split",
    "dictionary_short_texts", "answers.csv.gz", "zeros.parquet.zip",
}  # fmt: skip
SWELLING = {
    **{
        f"{name}.parquet": Case(
            f"columns of one value, many times their bytes: {name}",
            make,
            SWOLLEN,
            name not in SHORT,
        )
        for name, make in (
            {f"zeros_{name}": make for name, make in ZEROS.items()}
            | {f"same_{name}": make for name, make in KINDS.items()}
            | {f"dictionary_{name}": make for name, make in TEXTS.items()}
        ).items()
    },
    **{
        name: Case(
            f"the same elsewhere: {name}",
            make,
            f"{SWOLLEN}|{LIMIT}|times its",
            name not in SHORT,
        )
        for name, make in ELSEWHERE.items()
    },
}
