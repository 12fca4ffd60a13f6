"""Parquet files whose footer, pages or types are made to mislead a reader."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from crafted.case import LIMIT, Case

LIED = 12_345  # rows; its bytes stand nowhere else in a footer
DAMAGED = "is a damaged Parquet file"
TEXTS = f"more than 1 GiB of texts|{LIMIT}"


def parquet_file(**columns):
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def written(table, **options):
    """Return an Arrow table as Parquet."""
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


def of(values, kind=None, **options):
    """Return Parquet of one crafted column beside a plain one."""
    column = values if isinstance(values, pa.Array) else pa.array(values, kind)
    plain = pa.array(range(len(column)))
    return written(pa.table({"plain": plain, "crafted": column}), **options)


def zeros(n_rows, n_columns):
    """Return Parquet of zeros: a gigabyte of them is a megabyte."""
    names = [f"x{i}" for i in range(n_columns)]
    table = pa.table(dict.fromkeys(names, pa.repeat(0.0, n_rows)))
    options = {"write_statistics": False, "store_schema": False}
    return written(table, compression="zstd", **options)


def repeated_zeros(times, n_rows=500_001, n_columns=20):
    """Return Parquet of zeros whose parts are the same bytes: 25 kB of gigabytes."""

    def change(footer):
        before = b"\x16" + whole(n_rows) + b"\x19"  # rows, then a list of one part
        at = footer.index(before) + len(before)
        end = footer.index(b"parquet-cpp") - 2
        length = b"\x16" + whole(times * n_rows) + b"\x19\xfc" + varint(times)
        head = footer[: at - len(before)] + length
        return head + times * footer[at + 1 : end] + footer[end:]

    return footed(zeros(n_rows, n_columns), change)


def texts(n_rows, length, *, alike):
    codes = pa.array(np.zeros(n_rows, dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length]))
    # without the schema of Arrow the text comes back as text
    return written(pa.table({"age": codes, "text": column}), store_schema=alike)


def varint(n):
    low = bytearray()
    while n > 127:
        low.append(n & 127 | 128)
        n >>= 7
    return bytes([*low, n])


def whole(n):
    """Return a number as the footer has it: zigzag, seven bits a byte."""
    return varint(2 * n if n >= 0 else -2 * n - 1)


def footed(content, change):
    """Return a file with its footer changed and the length of that right again."""
    size = int.from_bytes(content[-8:-4], "little")
    footer = change(content[-8 - size : -8])
    return content[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def lied(n_rows, times=-1):
    """Return a file whose footer says it has other rows, everywhere or at first."""
    content = written(pa.table({"age": pa.array(range(LIED)), "sex": ["w"] * LIED}))
    length = whole(n_rows)
    true = whole(LIED)
    changed = footed(content, lambda footer: footer.replace(true, length, times))
    assert changed != content
    return changed


def with_metadata(metadata):
    """Return a file with what libraries keep beside a table."""
    table = pa.table({"age": [31, 32], "sex": ["w", "m"]})
    return written(table.replace_schema_metadata(metadata))


def of_pandas(said):
    return with_metadata(
        {"pandas": said if isinstance(said, str) else json.dumps(said)}
    )


def deep(depth):
    kind = pa.int64()
    value = 1
    for _ in range(depth):
        kind = pa.list_(kind)
        value = [value]
    return of([value], kind)


def nested_structs(depth):
    """Return a footer of structures in one another, which Thrift reads by recursion."""
    return b"PAR1" + _foot(b"\x1c" * depth + b"\x00" * depth)


def _foot(footer):
    return footer + len(footer).to_bytes(4, "little") + b"PAR1"


def pages_of_two_gib():
    """Return a file whose pages say that they unpack to 2 GiB."""
    content = written(
        pa.table({"age": pa.array(np.arange(50_000))}),
        use_dictionary=False,
        compression="snappy",
    )
    at = content.index(b"\x15\x00\x15", 4)  # of a data page: its size follows
    end = at + 3
    while content[end] & 128:
        end += 1
    return content[: at + 3] + whole(2**31 - 1) + content[end + 1 :]


def other_codes():
    """Return a file whose rows name values that its dictionary does not have."""
    content = written(pa.table({"sex": ["w", "m", "x"] * 4_000}), compression="none")
    codes = bytes([0b00100100, 0b01001001, 0b10010010]) * 40  # 0, 1, 2 in two bits each
    assert codes in content
    return content.replace(codes, b"\xff" * len(codes))


READ = r"read \(2, 2\)"
KINDS = {
    "bytes": lambda: of([b"\xff\xfe", b""], pa.binary()),
    "list": lambda: of([[1], [2, 3]]),
}
PARQUETS = {
    "zeros.parquet": Case(
        "11,000,000 rows of 20 columns in 55 kB",
        lambda: repeated_zeros(22),
        "rows of 20 columns",
    ),
    "texts.parquet": Case(
        "3,500,000 texts of 1,000 letters that are one",
        lambda: texts(3_500_000, 1_000, alike=False),
        TEXTS,
    ),
    "more_rows.parquet": Case(
        "a footer that says there are 2**62 rows",
        lambda: lied(2**62),
        "rows of 2 columns",
    ),
    "two_gib.parquet": Case(
        "pages that say they unpack to 2 GiB", pages_of_two_gib, f"{DAMAGED}|{LIMIT}"
    ),
    "other_codes.parquet": Case(
        "rows that name values which are not there", other_codes, DAMAGED
    ),
    "deep_pandas.parquet": Case(
        "what pandas keeps, 50,000 lists in one another",
        lambda: of_pandas("[" * 50_000 + "]" * 50_000),
        f"{READ}|{DAMAGED}",
    ),
    "structs.parquet": Case(
        "a footer of 1,000,000 structures in one another",
        lambda: nested_structs(1_000_000),
        DAMAGED,
    ),
    "no_footer.parquet": Case(
        "a footer longer than the file",
        lambda: parquet_file(a=[1])[:-8] + b"\xff\xff\xff\x7fPAR1",
        DAMAGED,
    ),
    **{
        f"kind_{name}.parquet": Case(
            f"a column of a rare kind: {name}", make, rf"{READ}|exclude|{DAMAGED}"
        )
        for name, make in KINDS.items()
    },
}
