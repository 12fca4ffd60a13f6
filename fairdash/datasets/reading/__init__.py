"""A file of any kind as a table, or what is wrong with it."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "TASK",
    "SeveralTablesError",
    "TableFile",
    "TableFormat",
    "all_readers",
    "check_reading",
    "convert_apart",
    "convert_table",
    "load_table",
    "programs",
    "reader_named",
    "table_digest",
    "table_notes",
    "upload_suffixes",
]

if TYPE_CHECKING:
    from fairdash.datasets.reading.apart import TASK, convert_apart
    from fairdash.datasets.reading.convert import TableFile, convert_table
    from fairdash.datasets.reading.format import TableFormat
    from fairdash.datasets.reading.parquet import load_table, table_notes
    from fairdash.datasets.reading.read import check_reading, table_digest
    from fairdash.datasets.reading.registry import all_readers, programs, reader_named
    from fairdash.datasets.reading.source import SeveralTablesError
    from fairdash.datasets.reading.unpack import upload_suffixes
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
