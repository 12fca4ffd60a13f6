"""Files of other kinds than Excel and Parquet, made to cost more than their bytes."""

import io
import struct

import pyarrow as pa

from crafted.case import LIMIT, Case
from crafted.workbooks import packed

ODS = "application/vnd.oasis.opendocument.spreadsheet"
NAMES = "urn:oasis:names:tc:opendocument:xmlns"
SWOLLEN = r"more than (16 MiB|2 GiB) of memory once it is read"


def ods(rows):
    """Return a workbook of LibreOffice with rows in its own XML."""
    content = (
        f'<office:document-content xmlns:office="{NAMES}:office:1.0" '
        f'xmlns:table="{NAMES}:table:1.0" xmlns:text="{NAMES}:text:1.0">'
        f"<office:body><office:spreadsheet><table:table table:name='S'>{rows}"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{NAMES}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{ODS}"/>'
        "</manifest:manifest>"
    )
    return packed(
        {
            "mimetype": ODS,
            "content.xml": content,
            "META-INF/manifest.xml": manifest,
        }
    )


def ods_row(cells, repeated=1):
    """Return a row of texts; each cell and the row may be repeated."""
    result = "".join(
        f'<table:table-cell table:number-columns-repeated="{times}" '
        f'office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
        for text, times in cells
    )
    row = f'<table:table-row table:number-rows-repeated="{repeated}">'
    return f"{row}{result}</table:table-row>"


def arrow_file(table, **options):
    """Return a table as an Arrow file."""
    sink = io.BytesIO()
    with pa.ipc.new_file(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)
    ) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _zeros():
    return arrow_file(
        pa.table({"x": pa.repeat(pa.scalar(0.0), 40_000_000)}), compression="zstd"
    )


def _far_offsets():
    """Return a file whose texts begin where no text is."""
    content = bytearray(arrow_file(pa.table({"x": ["ab", "cd", "ef"]})))
    place = content.index(struct.pack("<4i", 0, 2, 4, 6))
    content[place : place + 16] = struct.pack("<4i", 0, 2, 1 << 30, 6)
    return bytes(content)


def _stata(n_rows, n_columns):
    """Return the beginning of a Stata file that says it has many rows."""
    head = b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>"
    head += struct.pack("<H", n_columns) + b"</K><N>" + struct.pack("<Q", n_rows)
    return head + b"</N><label>\0\0</label><timestamp>\0</timestamp></header><map>"


FORMATS = {
    "repeated.ods": Case(
        "a cell that stands in all columns of a million rows",
        lambda: ods(ods_row([("x", 16_384)], 1_048_576)),
        f"{LIMIT}|columns, none or more than 2,000|damaged",
    ),
    "rows.ods": Case(
        "a row that comes a million times",
        lambda: ods(ods_row([("a", 1), ("b", 1)]) + ods_row([("x", 2)], 1_000_000)),
        rf"read \(\d+, 2\)|{LIMIT}|{SWOLLEN}",
        heavy=True,
    ),
    "zeros.feather": Case(
        "320 MB of one number in a few bytes", _zeros, f"{SWOLLEN}|{LIMIT}"
    ),
    "offsets.arrow": Case(
        "texts that begin nowhere", _far_offsets, "damaged Arrow file"
    ),
    "names.jsonl": Case(
        "another name in each line",
        lambda: b"".join(b'{"n%d": 1}\n' % i for i in range(20_000)),
        f"20,000 columns, none or more than 2,000|{LIMIT}",
        heavy=True,
    ),
    "deep.jsonl": Case(
        "lists in lists in lists",
        lambda: b'{"a": 1}\n{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        f"not readable as JSON lines|{LIMIT}|stopped the process",
    ),
    "many.dta": Case(
        "a file that says it has 2**40 rows",
        lambda: _stata(1 << 40, 8),
        "damaged|more than",
    ),
    "zeros.csv.zst": Case(
        "300 MB of one line in a few bytes",
        lambda: pa.compress(b"a,b\n" + b"0,0\n" * 75_000_000, "zstd", asbytes=True),
        f"times its size|{LIMIT}",
    ),
}
