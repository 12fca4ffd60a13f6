"""Parquet files whose footer, pages or types are made to mislead a reader."""

import io
import json
from base64 import b64encode
from datetime import date, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from crafted.case import LIMIT, Case

LIED = 12_345  # rows; its bytes stand nowhere else in a footer
DAMAGED = "is a damaged Parquet file"
TEXTS = "more than 1 GiB of texts, or to 1,000 times its size"


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
        at, end = footer.index(before) + len(before), footer.index(b"parquet-cpp") - 2
        told = b"\x16" + whole(times * n_rows) + b"\x19\xfc" + varint(times)
        head = footer[: at - len(before)] + told
        return head + times * footer[at + 1 : end] + footer[end:]

    return footed(zeros(n_rows, n_columns), change)


def texts(n_rows, length, *, alike):
    codes = pa.array(np.zeros(n_rows, dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length]))
    # without the schema of Arrow the text comes back as text
    return written(pa.table({"age": codes, "text": column}), store_schema=alike)


def packed_texts(codec):
    """Return 128 MiB of texts that a codec makes small, without a dictionary."""
    column = pa.array(["x" * 65_536]).take(pa.array(np.zeros(2_048, np.int32)))
    options = {"compression": codec, "use_dictionary": False}
    return written(pa.table({"text": column}), write_statistics=False, **options)


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
    told, true = whole(n_rows), whole(LIED)
    changed = footed(content, lambda footer: footer.replace(true, told, times))
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


def arrow_schema(content):
    """Return a file whose Arrow schema is another text."""
    table = pa.table({"age": [31, 32], "sex": ["w", "m"]})
    return written(
        table.replace_schema_metadata({"ARROW:schema": content}), store_schema=False
    )


def deep(depth):
    kind, value = pa.int64(), 1
    for _ in range(depth):
        kind, value = pa.list_(kind), [value]
    return of([value], kind)


def nested_structs(depth):
    """Return a footer of structures in one another, which Thrift reads by recursion."""
    return b"PAR1" + _foot(b"\x1c" * depth + b"\x00" * depth)


def endless_list():
    """Return a footer that says it has two billion columns."""
    return b"PAR1" + _foot(b"\x15\x04\x19" + b"\xfc" + varint(2**31 - 1))


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


def other_statistics():
    """Return a file that says its largest age is smaller than its smallest."""
    content = written(pa.table({"age": [31, 32], "sex": ["w", "m"]}))
    low, high = (n.to_bytes(8, "little") for n in (31, 2**62))
    return footed(content, lambda footer: footer.replace(low, high))


READ = r"read \(2, 2\)"
ANY = r"read \(\d+, \d+\)|"
CODECS = "snappy", "gzip", "brotli", "zstd", "lz4"
KINDS = {
    "decimal": lambda: of([Decimal("9" * 38), None], pa.decimal128(38, 0)),
    "decimal256": lambda: of([Decimal("9" * 76), None], pa.decimal256(76, 0)),
    "half": lambda: of(np.array([1, np.inf], np.float16)),
    "times": lambda: of([time(1), None]),
    "spans": lambda: of([timedelta(days=99_999), None]),
    "dates": lambda: of([date.min, date.max]),
    "nulls": lambda: of([None, None], pa.null()),
    "unsigned": lambda: of([2**64 - 1, None], pa.uint64()),
    "farthest": lambda: of([2**63 - 1, -(2**63)], pa.timestamp("ms")),
    "zones": lambda: of([0, 2**62], pa.timestamp("us", tz="Africa/Nairobi")),
    "bytes": lambda: of([b"\xff\xfe", b""], pa.binary()),
    "fixed": lambda: of([b"\xff" * 16, b"x" * 16], pa.binary(16)),
    "views": lambda: of(["a", "b"], pa.string_view()),
    "large": lambda: of(["a", "b"], pa.large_string()),
    "uuid": lambda: of(
        pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([b"x" * 16] * 2, pa.binary(16))
        )
    ),
    "json": lambda: of(
        pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{", "}"]))
    ),
    "list": lambda: of([[1], [2, 3]]),
    "struct": lambda: of([{"a": 1}, {"a": 2}]),
    "map": lambda: of([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "fixed_list": lambda: of([[1, 2], [3, 4]], pa.list_(pa.int64(), 2)),
    "union_of_dictionaries": lambda: of([["a"], ["b"]], pa.list_(pa.string())),
}
PARQUETS = {
    "zeros.parquet": Case(
        "11,000,000 rows of 20 columns in 55 kB",
        lambda: repeated_zeros(22),
        "more than 10,000,000 rows of 20 columns",
    ),
    "zeros_within.parquet": Case(
        "9,500,000 rows of 20 columns in 50 kB, 1.5 GB in memory",
        lambda: repeated_zeros(19),
        r"read \(9500019, 20\)|times its size|rows|" + LIMIT,
        heavy=True,
    ),
    "texts.parquet": Case(
        "3,500,000 texts of 1,000 letters that are one",
        lambda: texts(3_500_000, 1_000, alike=False),
        TEXTS,
    ),
    "categories.parquet": Case(
        "the same, read as categories",
        lambda: texts(3_500_000, 1_000, alike=True),
        TEXTS,
    ),
    "cells.parquet": Case(
        "100,000 cells of a megabyte that are one",
        lambda: texts(100_000, 1_000_000, alike=False),
        "'text' has a cell of 1,000,000 characters",
    ),
    "columns.parquet": Case(
        "10,000 columns in 1.4 MB, of which pyarrow looks at each for each",
        lambda: zeros(1, 10_000),
        "10,000 columns, more than 2,000",
        heavy=True,
    ),
    "most_columns.parquet": Case(
        "2,000 columns in 40,008 rows, 1.6 GB in memory",
        lambda: repeated_zeros(8, 5_001, 2_000),
        r"read \(40008, 2000\)|" + LIMIT,
        heavy=True,
    ),
    "long_names.parquet": Case(
        "20 columns with names of 100,000 letters",
        lambda: written(pa.table({f"{i}" + "x" * 100_000: [1] for i in range(20)})),
        "characters|name",
    ),
    "same_names.parquet": Case(
        "columns of one name that are different",
        lambda: written(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])),
        "two different columns named 'a'",
    ),
    "no_names.parquet": Case(
        "columns without a name",
        lambda: written(pa.table([pa.array([1]), pa.array([2])], names=["", ""])),
        r"read \(1, 2\)",
    ),
    "no_columns.parquet": Case(
        "rows without columns",
        lambda: written(pa.table({"a": [1, 2]}).select([])),
        "no columns",
    ),
    "large_dictionary.parquet": Case(
        "500,000 rows, each with a value of its own",
        lambda: of([f"{i:020}" for i in range(500_000)]),
        r"read \(500000, 2\)",
    ),
    **{
        f"packed_by_{codec}.parquet": Case(
            f"128 MiB of texts by {codec}",
            lambda codec=codec: packed_texts(codec),
            rf"read \(2048, 1\)|{TEXTS}",
        )
        for codec in CODECS
    },
    "more_rows.parquet": Case(
        "a footer that says there are 2**62 rows",
        lambda: lied(2**62),
        "rows of 2 columns",
    ),
    "more_rows_at_first.parquet": Case(
        "a footer that says there are 2**62 rows, and then how many there are",
        lambda: lied(2**62, 1),
        "rows of 2 columns",
    ),
    "fewer_rows.parquet": Case(
        "a footer that says there are 2 rows of 12,345",
        lambda: lied(2, 1),
        r"read \((2|12345), 2\)|" + DAMAGED,
    ),
    "fewer_rows_everywhere.parquet": Case(
        "the same in every part of it", lambda: lied(2), ANY + DAMAGED
    ),
    "negative_rows.parquet": Case(
        "a footer that says there is one row less than none",
        lambda: lied(-1),
        f"{DAMAGED}|no rows",
    ),
    "many_groups.parquet": Case(
        "2,000 parts of a row each",
        lambda: of(range(2_000), row_group_size=1),
        r"read \(2000, 2\)|" + LIMIT,
    ),
    "two_gib.parquet": Case(
        "pages that say they unpack to 2 GiB", pages_of_two_gib, f"{DAMAGED}|{LIMIT}"
    ),
    "other_codes.parquet": Case(
        "rows that name values which are not there", other_codes, DAMAGED
    ),
    "other_statistics.parquet": Case(
        "a smallest value that is larger than the largest", other_statistics, READ
    ),
    "metadata.parquet": Case(
        "4 MB of what libraries keep beside a table",
        lambda: with_metadata({"about": "x" * 4_000_000}),
        READ,
    ),
    "deep_pandas.parquet": Case(
        "what pandas keeps, 50,000 lists in one another",
        lambda: of_pandas("[" * 50_000 + "]" * 50_000),
        f"{READ}|{DAMAGED}",
    ),
    "no_json_pandas.parquet": Case(
        "what pandas keeps, and it is no JSON",
        lambda: of_pandas("{"),
        f"{READ}|{DAMAGED}",
    ),
    "odd_index.parquet": Case(
        "an index that is a number",
        lambda: of_pandas({"index_columns": 5}),
        f"{READ}|{DAMAGED}",
    ),
    "odd_pandas.parquet": Case(
        "what pandas keeps, and it is a list",
        lambda: of_pandas([1]),
        f"{READ}|{DAMAGED}",
    ),
    "all_index.parquet": Case(
        "an index that is every column",
        lambda: of_pandas({"index_columns": ["age", "sex"]}),
        "no columns",
    ),
    "no_schema.parquet": Case(
        "an Arrow schema that is none",
        lambda: arrow_schema("x" * 999),
        f"{READ}|{DAMAGED}",
    ),
    "large_schema.parquet": Case(
        "an Arrow schema of which the first bytes say 2 GiB",
        lambda: arrow_schema(b64encode(b"\xff\xff\xff\xff\xf0\xff\xff\x7f" * 9)),
        f"{READ}|{DAMAGED}",
    ),
    "deep_lists.parquet": Case("90 lists in one another", lambda: deep(90), DAMAGED),
    "structs.parquet": Case(
        "a footer of 1,000,000 structures in one another",
        lambda: nested_structs(1_000_000),
        DAMAGED,
    ),
    "endless_list.parquet": Case(
        "a footer that says it has two billion columns", endless_list, DAMAGED
    ),
    "no_footer.parquet": Case(
        "a footer longer than the file",
        lambda: parquet_file(a=[1])[:-8] + b"\xff\xff\xff\x7fPAR1",
        DAMAGED,
    ),
    "empty_footer.parquet": Case(
        "a footer of no bytes", lambda: b"PAR1" + _foot(b""), DAMAGED
    ),
    "only_magic.parquet": Case("four letters", lambda: b"PAR1", DAMAGED),
    "half.parquet": Case(
        "a file without its end", lambda: parquet_file(a=[1])[:-20], DAMAGED
    ),
    "locked.parquet": Case(
        "a file whose footer is locked",
        lambda: b"PAR1" + parquet_file(a=[1])[4:-4] + b"PARE",
        DAMAGED,
    ),
    **{
        f"kind_{name}.parquet": Case(
            f"a column of a rare kind: {name}",
            make,
            rf"{READ}|exclude|{DAMAGED}",
        )
        for name, make in KINDS.items()
    },
}
