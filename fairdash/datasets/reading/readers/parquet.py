"""Parquet files."""

import io

import pandas as pd

from fairdash._lazy import load
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import OpenedFile, Reader
from fairdash.datasets.reading.source import Scratch, Source


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    return load("fairdash.datasets.reading.parquet").ParquetRows(source), form


def _small_files() -> list[bytes]:
    buffer = io.BytesIO()
    day = pd.to_datetime(pd.Series(["2024-01-31"]))
    zoned = day.dt.tz_localize("Europe/Berlin")
    pd.DataFrame({"day": day, "seen": zoned, "town": ["Köln"]}).to_parquet(buffer)
    return [buffer.getvalue()]


READER = Reader(
    kind="parquet",
    label="Parquet",
    programs=("Parquet",),
    suffixes=(".parquet",),
    fits=lambda source, head: head.startswith(b"PAR1"),
    sniff=lambda source: TableFormat(kind="parquet", sheet=source.member),
    read=_read,
    warm_up=_small_files,
)
