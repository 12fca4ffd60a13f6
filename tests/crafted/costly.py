"""Tables within all bounds whose names or cells make whatever follows costly."""

import io
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa

from crafted.case import Case
from crafted.parquets import of, written

ROWS = 50
COLUMNS = 2_000
LONG = 200_000
NAME, CELL = 1_000, 131_000  # characters, as many as there may be
READ = r"read \(\d+, \d+\)"


def wide(name, cells=None, n_rows=ROWS, n_columns=COLUMNS):
    """Return Parquet of many columns; ``name`` and ``cells`` are told their place."""
    rng = np.random.default_rng(0)
    columns = {
        name(i): rng.integers(0, 2, n_rows) if cells is None else cells(i)
        for i in range(n_columns)
    }
    return written(pa.table(columns), store_schema=False)


def prefixes(i):
    return "n" * (1 + i // 2) if i % 2 else "log_" * (1 + i % 200) + str(i)


WIDE = {
    "plain": lambda: wide("x{}".format),
    "long_names": lambda: wide(lambda i: f"{i:04d}".rjust(NAME, "x")),
    "words": lambda: wide(lambda i: " ".join(f"w{i}{j}" for j in range(110))),
    "prefixes": lambda: wide(prefixes, n_columns=1_000),
    "years": lambda: wide("income_{:04d}".format),
    "sexes": lambda: wide("sex race gender {}".format),
    "scores": lambda: wide("prob{}".format),
    "weights": lambda: wide("survey weight {}".format),
    "ids": lambda: wide("person id {}".format),
    "joints": lambda: wide(lambda i: "log" + "_" * 900 + str(i)),
    "markup": lambda: wide("<b>[x](y)$a$ :red[{}]".format),
    "accents": lambda: wide(lambda i: "\u0301" * 900 + str(i)),
    "texts": lambda: wide(
        "t{}".format, lambda i: [f"{i} {row} some words more" for row in range(ROWS)]
    ),
    "answers": lambda: wide("b{}".format, lambda i: [True, False, None] * 20),
    "missing": lambda: wide("m{}".format, lambda i: pa.nulls(ROWS, pa.float64())),
    "moments": lambda: wide(
        "d{}".format, lambda i: pa.array(range(ROWS), pa.timestamp("us", "UTC"))
    ),
    "dummies": lambda: wide(
        "region_{}".format, lambda i: (np.arange(ROWS) % COLUMNS == i).astype(int)
    ),
    "few_rows": lambda: wide("x{}".format, lambda i: [0, 1], 2),
}


def cells(*values, n_rows=LONG):
    """Return a CSV file of people whose last column holds these values in turn."""
    rng = np.random.default_rng(0)
    people = {
        "sex": rng.choice(["w", "m"], n_rows),
        "hired": rng.integers(0, 2, n_rows),
    }
    crafted = np.resize(np.array(values, dtype=object), n_rows)
    frame = pd.DataFrame({**people, "crafted": crafted})
    return frame.to_csv(index=False).encode()


def numbered(text, n_rows=LONG):
    """Return a CSV file in which no cell of the last column comes twice."""
    return cells(*map(text.format, range(n_rows)))


def beginning(good, bad, n_good=5_000):
    """Return a CSV file in which the last column is one kind at first, then text."""
    return cells(*[good.format(i) for i in range(n_good)], *[bad] * (LONG - n_good))


def as_outcome(values, groups=("w", "m"), n_rows=400):
    """Return Parquet whose outcome and groups are these values."""
    rng = np.random.default_rng(0)
    table = {
        "sex": [groups[i] for i in rng.integers(0, len(groups), n_rows)],
        "age": rng.integers(18, 80, n_rows),
        "hired": [values[i] for i in rng.integers(0, len(values), n_rows)],
    }
    return written(pa.table(table), compression="none", use_dictionary=False)


def nothing_but(values):
    """Return a CSV file of one column."""
    file = io.StringIO()
    pd.DataFrame({"x": np.resize(values, LONG)}).to_csv(file, index=False)
    return file.getvalue().encode()


LONG_TABLES = {
    "ids": partial(numbered, "person {}"),
    "free_text": partial(numbered, "some words of the person {}"),
    "numbers_as_text": partial(numbered, "{}th"),
    "dates": partial(numbered, "2024-01-01 {}"),
    "dates_first": partial(beginning, "2024-01-01", "never"),
    "numbers_first": partial(beginning, "{}", "none of them"),
    "thousands_first": partial(beginning, '"1,{:03d},000"', "none"),
    "percent": partial(numbered, "{}%"),
    "answers": partial(cells, "true", "false", ""),
    "blanks": partial(cells, *[" " * n + "x" for n in range(50)]),
    "spellings": partial(cells, *["Ab" + " " * n + "c" for n in range(90)]),
    "looks_missing": partial(cells, "?", "-", "nil", "x"),
    "units": partial(cells, *[f"p{n}" for n in range(60_000)]),
    "one_value": partial(cells, "x"),
    "empty": partial(cells, ""),
    "infinite": partial(cells, "inf", "-inf", "1.5"),
    "extremes": partial(cells, "1e308", "-1e308", "5e-324"),
    "large_numbers": partial(cells, str(2**63 - 1), "0"),
    "one_column": partial(nothing_but, [0, 1]),
    "one_column_of_text": partial(nothing_but, [f"x{i}" for i in range(LONG)]),
}
VALUES = {
    "long_outcomes": lambda: as_outcome(["y" * 20_000, "n" * 20_000]),
    "long_groups": lambda: as_outcome(
        ["y", "n"], [f"{i}" + "g" * 20_000 for i in range(20)]
    ),
    "longest_cell": lambda: as_outcome(["y", "n" * CELL], n_rows=100),
    "many_outcomes": lambda: as_outcome([f"o{i}" for i in range(400)]),
    "many_groups": lambda: as_outcome(["y", "n"], [f"g{i}" for i in range(400)]),
    "marks": lambda: as_outcome(["y\0\x1b[31m", "n\u202e"], ["<img src=x>", "$a$"]),
    "far_moments": lambda: of([2**62, 1] * 50, pa.timestamp("ms")),
    "far_zoned": lambda: of([2**61, 1] * 50, pa.timestamp("ms", "Asia/Tokyo")),
    "far_days": lambda: of([2**30, -(2**30)] * 50, pa.date32()),
    "unknown_zone": lambda: of([1, 2] * 50, pa.timestamp("us", "Mars/Phobos")),
    "negative_zero": lambda: of([-0.0, 0.0, float("nan")] * 50),
}
SHORT = {
    "long_answers.csv", "long_free_text.csv", "long_units.csv", "long_empty.csv",
    *(f"values_{name}.parquet" for name in VALUES),
}  # fmt: skip
CASES = {
    **{
        f"wide_{name}.parquet": Case(f"2,000 columns: {name}", make, READ)
        for name, make in WIDE.items()
    },
    **{
        f"long_{name}.csv": Case(f"200,000 cells: {name}", make, READ)
        for name, make in LONG_TABLES.items()
    },
    **{
        f"values_{name}.parquet": Case(
            f"values for whoever draws them: {name}", make, f"{READ}|not read|Keep"
        )
        for name, make in VALUES.items()
    },
}
COSTLY = {name: case._replace(heavy=name not in SHORT) for name, case in CASES.items()}
