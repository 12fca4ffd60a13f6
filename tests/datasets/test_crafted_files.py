"""Small files that were made to stop a server are refused, or read like others.

They are read in a process of its own, whose memory and time the system limits.
"""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from openpyxl import Workbook
from pyarrow import parquet

from fairdash.datasets.reading.read import unique_names

pytestmark = pytest.mark.timeout(180)
MANY = 20_000
MOST_SECONDS, MOST_BYTES = 10, 1 << 30  # of a processor, and beside what was there
READER = """
import json, resource, sys, tempfile, time
from pathlib import Path
import openpyxl, pandas
from fairdash.datasets import convert_table, load_table

def resident(peak):
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:" if peak else "VmRSS:")[1].split()[0]) << 10

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for path in map(Path, sys.argv[1:]):
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that of this file
    before, started = resident(peak=False), time.process_time()
    try:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.parquet"
            convert_table(path.read_bytes(), table, name=path.name)
            said = f"read {load_table(table, compact=True).shape}"
    except ValueError as error:
        said = str(error)
    seconds = time.process_time() - started
    print(json.dumps([path.name, said, seconds, resident(peak=True) - before]))
    sys.stdout.flush()
"""


def text(*rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def workbook(*rows):
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


PEOPLE = workbook(["age", "sex"], [31, "w"], [32, "m"])


def repacked(content, **changes):
    """Return a workbook with files of it written anew."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            change = changes.get(name.rsplit("/", 1)[-1].removesuffix(".xml"))
            data = old.read(name).decode()
            new.writestr(name, change(data) if change else data)
    return packed.getvalue()


def sheet_with(rows, header=("age", "sex")):
    """Return a workbook whose sheet has further rows as they stand in XML."""
    return repacked(
        workbook(header),
        sheet1=lambda xml: xml.replace("</sheetData>", rows + "</sheetData>"),
    )


def far_row():
    return repacked(PEOPLE, sheet1=lambda xml: xml.replace('r="3"', 'r="2000000000"'))


def far_cell():
    cells = "".join(
        f'<row r="{r}"><c r="XFD{r}" t="inlineStr"><is><t>x</t></is></c></row>'
        for r in range(1, 2_000)
    )
    return repacked(
        workbook([None]),
        sheet1=lambda xml: re.sub(
            "<sheetData ?/>|<sheetData>.*</sheetData>",
            f"<sheetData>{cells}</sheetData>",
            xml,
        ),
    )


def far_empty_cells():
    return sheet_with(
        "".join(
            f'<row r="{r}"><c r="A{r}"><v>1</v></c><c r="XFD{r}"/></row>'
            for r in range(2, 15_000)
        )
    )


def shared_strings():
    texts = f"<si><t>{'x' * 1_000}</t></si>" * 480_000
    packed = io.BytesIO(PEOPLE)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f"<sst>{texts}</sst>")
    return packed.getvalue()


def one_cell():
    random = np.random.default_rng(0).integers(97, 122, 2 << 20, dtype=np.uint8)
    cell = random.tobytes().decode() * 10
    return sheet_with(f'<row><c t="inlineStr"><is><t>{cell}</t></is></c></row>')


def many_rows():
    return sheet_with("<row><c><v>1</v></c></row>" * 1_100_000)


def zeros(n_rows, n_columns):
    """Return Parquet of zeros: a gigabyte of them is a megabyte."""
    file, column = io.BytesIO(), pa.array(np.zeros(n_rows))
    names = [f"x{i}" for i in range(n_columns)]
    table = pa.table(dict.fromkeys(names, column))
    parquet.write_table(table, file, compression="zstd")
    return file.getvalue()


def texts(n_rows, length, *, alike):
    file = io.BytesIO()
    codes = pa.array(np.zeros(n_rows, dtype=np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * length]))
    table = pa.table({"age": codes, "text": column})
    # without the schema of Arrow the text comes back as text
    parquet.write_table(table, file, store_schema=alike)
    return file.getvalue()


def doubled_key():
    pairs = [f'"k{i}": 1' for i in range(50_000)]
    return f"[{{{', '.join([*pairs, pairs[777]])}}}]".encode()


def one_key_a_record():
    wide = json.dumps({f"k{i}": 1 for i in range(1_900)})
    return "\n".join([wide, *['{"k0": 1}'] * 100_000]).encode()


WIDE = r"0 columns, more than 2,000; keep those"
TIMES = "unpacks to more than 250 times its size"
CRAFTED = {
    "equal.csv": (lambda: text(["x"] * MANY, ["1"] * MANY), WIDE),
    "other.csv": (lambda: text([f"x{i}" for i in range(5 * MANY)], ["1"]), WIDE),
    "most.csv": (lambda: text(["x"] * 2_000, ["1"] * 2_000), r"read \(1, 2000\)"),
    "bomb.csv.gz": (lambda: gzip.compress(b"a,b\n" + b"1,2\n" * (20 << 20)), TIMES),
    "keys.jsonl": (
        lambda: "\n".join(json.dumps({f"k{i}": 1}) for i in range(MANY)).encode(),
        WIDE,
    ),
    "sparse.jsonl": (
        one_key_a_record,
        "more than 10,526 rows of 1,900 columns, .* CSV",
    ),
    "twice.json": (doubled_key, "A record has 'k777' twice"),
    "deep.json": (
        lambda: b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]",
        "no valid JSON after row 0 .lists in lists without end",
    ),
    "spaces.json": (
        lambda: b'[{"a": 1},' + b" " * (30 << 20) + b'{"a": 2}]',
        r"read \(2, 1\)",
    ),
    "digits.json": (
        lambda: b'[{"a": ' + b"9" * 4_000_000 + b"}]",
        "'a' has a cell of 4,000,000 characters",
    ),
    "far_row.xlsx": (far_row, r"read \(1, 2\)"),
    "far_cell.xlsx": (far_cell, r"16,384 columns, more than 2,000"),
    "far_empty_cells.xlsx": (far_empty_cells, "spans more than 200,000,000 cells"),
    "shared_strings.xlsx": (shared_strings, "more than 128 MiB of texts; save"),
    "one_cell.xlsx": (one_cell, "a cell of more than 1,048,576 characters; save"),
    "many_rows.xlsx": (many_rows, "a sheet of more than 1,048,576 rows"),
    "zeros.parquet": (
        lambda: zeros(11_000_000, 20),
        "more than 10,000,000 rows of 20 columns",
    ),
    "texts.parquet": (
        lambda: texts(3_500_000, 1_000, alike=False),
        "more than 1 GiB of texts, or to 1,000 times its size",
    ),
    "categories.parquet": (
        lambda: texts(3_500_000, 1_000, alike=True),
        "more than 1 GiB of texts, or to 1,000 times its size",
    ),
    "cells.parquet": (
        lambda: texts(100_000, 1_000_000, alike=False),
        "'text' has a cell of 1,000,000 characters",
    ),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of every file: what was said, seconds and bytes, by name."""
    folder = tmp_path_factory.mktemp("crafted")
    paths = [folder / name for name in CRAFTED]
    for path, (make, _) in zip(paths, CRAFTED.values(), strict=True):
        path.write_bytes(make())
    read = subprocess.run(
        [sys.executable, "-c", READER, *paths],
        stdout=subprocess.PIPE,
        text=True,
        timeout=150,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        check=False,
    )
    lines = [json.loads(line) for line in read.stdout.splitlines()]
    return {
        name: (path, *rest) for (name, *rest), path in zip(lines, paths, strict=False)
    }


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_costs_little(outcomes, name):
    assert name in outcomes, "the process was ended by its limits"
    path, said, seconds, n_bytes = outcomes[name]
    assert re.search(CRAFTED[name][1], said), said
    assert seconds < MOST_SECONDS
    assert n_bytes < MOST_BYTES
    assert path.stat().st_size < 32 << 20


def test_names_are_told_apart_one_by_one():
    names = unique_names(["a", "a", "a.1", "", "a", "Unnamed: 3", "a.1"])
    expected = ["a", "a.2", "a.1", "Unnamed: 3", "a.3", "Unnamed: 3.1", "a.1.1"]
    assert names == expected
    assert len(set(unique_names(["x"] * MANY))) == MANY
