"""What a file may hold: bounds far above any table of people, kept while it is read.

A file of a kilobyte can name a billion cells, so nothing is believed that a file says
of itself, and nothing is read to the end before it is counted.
"""

from typing import Any

MOST_COLUMNS = 10_000
MOST_ROWS = 50_000_000
MOST_CELLS = 200_000_000  # rows times columns, empty ones too
MOST_RECORD_CELLS = 20_000_000  # the same of workbooks and JSON, read cell by cell
MOST_SHEET_ROWS = 1 << 20  # of Excel: a row is numbered, so a gap may have no end
LONGEST_CELL = 131_072  # characters; more is a quote that is never closed
MOST_UNPACKED = 4 << 30  # bytes; a small archive can be made to fill any disk
MOST_TEXT = 1 << 30  # bytes of the texts of a Parquet file, each cell counted
MOST_BESIDE = 128 << 20  # bytes of what of a workbook is kept in memory
MOST_TIMES = 250  # as many bytes as in the archive; tables reach twenty
MOST_TEXT_TIMES = 1_000  # the same of the texts of a Parquet file
UNSUSPECTED = 64 << 20  # bytes that any archive may unpack to


def check_columns(name: str, n_columns: int) -> None:
    """Raise ValueError when a file has no columns, or too many."""
    if not n_columns:
        raise ValueError(f"{name} has no columns; choose a file with columns.")
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {n_columns:,} columns, more than {MOST_COLUMNS:,}; keep those "
            "that are needed."
        )


def check_rows(
    name: str, n_rows: int, n_columns: int, most_cells: int = MOST_CELLS
) -> None:
    """Raise ValueError when a file has too many rows for its columns."""
    most = min(MOST_ROWS, most_cells // n_columns)
    if n_rows > most:
        way = "keep the columns and rows that are needed"
        if most_cells < MOST_CELLS:
            way += ", or save the table as CSV"
        raise ValueError(
            f"{name} has more than {most:,} rows of {n_columns:,} columns, the most "
            f"that are read; {way}."
        )


def check_unpacked(name: str, unpacked: int, packed: int) -> None:
    """Raise ValueError when an archive unpacks to more than a table can be."""
    if unpacked > MOST_UNPACKED:
        raise ValueError(
            f"{name} unpacks to more than {MOST_UNPACKED >> 30} GiB; keep the columns "
            "and rows that are needed."
        )
    if unpacked > UNSUSPECTED and unpacked > MOST_TIMES * packed:
        raise ValueError(
            f"{name} unpacks to more than {MOST_TIMES} times its size, as no table "
            "does; save the table anew, unpacked."
        )


def check_cell(column: str, longest: Any) -> None:
    """Raise ValueError when the longest cell of a column is no cell."""
    if longest is not None and longest > LONGEST_CELL:
        raise ValueError(
            f"The column {column!r} has a cell of {longest:,} characters; close its "
            "quote, or exclude the column."
        )
