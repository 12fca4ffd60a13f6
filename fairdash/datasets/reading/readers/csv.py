"""Text with a delimiter between the cells: CSV, TSV and their like."""

from fairdash._lazy import load
from fairdash.datasets.reading.format import ENCODINGS, TableFormat, sniff_text
from fairdash.datasets.reading.registry import OpenedFile, Reader
from fairdash.datasets.reading.source import Scratch, Source

TEXT = "day,town\n2024-01-31,Köln\n"


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    csv_text = load("fairdash.datasets.reading.csv_text").CsvText
    return csv_text(source, form, scratch), form


def _small_files() -> list[bytes]:
    encodings = [name for name in ENCODINGS if not name.endswith("sig")]
    return [f"# 2024\n{TEXT}".encode(), *(TEXT.encode(name) for name in encodings)]


READER = Reader(
    kind="csv",
    label="CSV",
    programs=("CSV",),
    suffixes=(".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".test"),
    fits=lambda source, head: True,
    sniff=sniff_text,
    read=_read,
    finds="delimiter, encoding, decimal comma, thousands marks, comments",
    takes="`table_format=TableFormat(...)`",
    has_types=False,
    warm_up=_small_files,
    rank=9,  # whatever is nothing else
)
