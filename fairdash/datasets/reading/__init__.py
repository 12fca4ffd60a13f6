"""A file of any kind as a table, or what is wrong with it."""

from fairdash.datasets.reading.format import (
    DECIMALS,
    DELIMITERS,
    ENCODINGS,
    THOUSANDS,
    TableFormat,
)
from fairdash.datasets.reading.parquet import load_table
from fairdash.datasets.reading.read import (
    TableFile,
    convert_table,
    read_table,
    sniff_table,
)
from fairdash.datasets.reading.source import SeveralTablesError

__all__ = [
    "DECIMALS",
    "DELIMITERS",
    "ENCODINGS",
    "THOUSANDS",
    "SeveralTablesError",
    "TableFile",
    "TableFormat",
    "convert_table",
    "load_table",
    "read_table",
    "sniff_table",
]
