"""Some rows of a source as a Parquet file: all, or a draw in proportion."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from fairdash._validation import check_one_of
from fairdash.datasets._roles import Roles
from fairdash.datasets._split import draw_in_cells
from fairdash.datasets.guessing.roles import guess_roles
from fairdash.datasets.reading.convert import convert_table
from fairdash.datasets.reading.source import MOST_CELLS
from fairdash.datasets.reading.source import MOST_ROWS as LARGEST_TABLE
from fairdash.datasets.sources.address import Address, is_address, parse_address
from fairdash.datasets.sources.batches import (
    ParquetRows,
    open_parquet,
    spool,
    write_rows,
)
from fairdash.datasets.table_notes import DrawnRows

MOST_ROWS = 1_000_000  # of a source that the operator of a server lists
HEAD_ROWS = 20_000  # that a guess looks at
MOST_VALUES = 50  # of a column by which rows are drawn; numbers of more are cut


class Written(NamedTuple):
    """The rows of a source that were written.

    ``drawn`` says how many rows of how many, and in proportion to what, where not all
    were written. The file holds it too, and it ends the ``title``.
    """

    title: str
    n_total: int
    drawn: DrawnRows | None

    @property
    def n_rows(self) -> int:
        """How many rows were written."""
        return self.n_total if self.drawn is None else self.drawn.n_rows

    def titled(self, name: str) -> str:
        """Return the title of the table under another name."""
        return name if self.drawn is None else f"{name} ({self.drawn.words})"


def write_source(
    address: str | Address,
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    most_rows: int | None = None,
    by: Sequence[str] | None = None,
    random_state: int = 0,
) -> Written:
    """Write the rows of a source as a Parquet file.

    Parameters
    ----------
    address : str
        A folder or glob of Parquet files, here or as ``s3://bucket/prefix``;
        ``postgresql://user@host/database?table=name`` or ``?query=SELECT …``; likewise
        ``sqlite:///file`` and ``duckdb:///file``. Without a password.
    columns : sequence of str, optional
        The columns to read; the others are not.
    most_rows : int, optional
        If there are more rows, so many are drawn at random, in the same proportions of
        the columns ``by``; rows keep their order. Without it all rows are written.
    by : sequence of str, optional
        Usually outcome and sensitive column. By default those that `guess_roles` finds
        in the first 20,000 rows; without a guess, every row is as likely.

    Raises
    ------
    ValueError
        If the source cannot be read, has no rows, or more than a table may have
        while ``most_rows`` draws none, or lacks a column.

    Notes
    -----
    The same rows in the same order, arguments and versions of libraries give the same
    file: its sha256 identifies the table.
    """
    source = parse_address(address) if isinstance(address, str) else address
    if most_rows is not None and most_rows < 2:
        raise ValueError(f"A sample has at least 2 rows, got {most_rows}.")
    named = [*(columns or ()), *(by or ())]
    with TemporaryDirectory(dir=path.parent) as folder:
        if source.kind == "parquet":
            rows = open_parquet(source)
        else:
            selected = None if columns is None else list(dict.fromkeys(named))
            rows = spool(source, selected, Path(folder) / "rows.parquet")
        for column in named:
            check_one_of("column", column, rows.names)
        written_columns = rows.names if columns is None else list(columns)
        n_total = rows.count()
        if not n_total:
            raise ValueError(f"{source.name} has no rows.")
        if most_rows is None:
            _check_size(source.name, n_total, len(written_columns))
        positions: NDArray[np.int64] | None = None
        notes = rows.notes.sampled(n_total, n_total)
        if most_rows is not None and n_total > most_rows:
            if by is None:
                by = _guessed(rows, written_columns)
            cells = _cells(rows, by, n_total)
            positions = draw_in_cells(cells, most_rows, random_state)
            notes = rows.notes.sampled(most_rows, n_total, by)
        write_rows(_rows_at(rows, written_columns, positions), path, notes)
    written = Written(source.name, n_total, notes.drawn)
    return written._replace(title=written.titled(source.name))


def draw_file(path: Path, n_rows: int) -> Path:
    """Return a Parquet file beside one, with so many of its rows if it has more."""
    sample = path.with_name(f"sample_of_{path.name}")
    write_source(Address("parquet", str(path)), sample, most_rows=n_rows)
    return sample


def _check_size(name: str, n_rows: int, n_columns: int) -> None:
    most = min(LARGEST_TABLE, MOST_CELLS // n_columns)
    if n_rows > most:
        raise ValueError(
            f"{name} holds {n_rows:,} rows of {n_columns:,} columns; at most {most:,} "
            "rows are read. Draw some of them (`sample_rows=1_000_000`, "
            "`--sample-rows 1000000`), or read fewer columns."
        )


@contextmanager
def table_file(
    named: str | Path,
    name: str | None = None,
    roles: Roles | None = None,
    *,
    sample_rows: int | None = None,
    sheet: str | None = None,
) -> Iterator[tuple[Path, str]]:
    """Give file and title of a table: a local file as it is, a source as a copy.

    Beyond ``sample_rows`` so many rows are drawn, in proportion to outcome and group:
    those of the ``roles``, else guessed ones. The title is ``name``, by default that of
    the file, with how many rows were drawn. ``sheet`` chooses one of a workbook. Raises
    ValueError when there is no such file, or as `write_source` does.
    """
    by = None if roles is None else (roles.target, *roles.sensitive_columns())
    if is_address(named):
        address = parse_address(str(named))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            written = write_source(address, path, by=by, most_rows=sample_rows)
            yield path, written.titled(name or address.name)
        return
    file = Path(named).expanduser()
    if not file.is_file():
        raise ValueError(f"There is no file {str(file)!r}.")
    if sample_rows is None:
        yield file, name or file.name
        return
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.parquet"
        path = Path(folder) / "rows.parquet"
        convert_table(file, whole, sheet=sheet)
        parquet = Address("parquet", str(whole))
        written = write_source(parquet, path, by=by, most_rows=sample_rows)
        yield path, written.titled(name or file.name)


def _guessed(rows: ParquetRows, columns: Sequence[str]) -> tuple[str, ...]:
    """Return outcome and sensitive column as guessed from the first rows."""
    head = next(iter(rows.batches(columns))).slice(0, HEAD_ROWS).to_pandas()
    try:
        roles = guess_roles(head)
    except ValueError:
        return ()
    return (roles.target, roles.sensitive_feature)


def _cells(rows: ParquetRows, by: Sequence[str], n_rows: int) -> NDArray[np.int64]:
    """Return a number for each row's combination of values of some columns."""
    cell = np.zeros(n_rows, dtype=np.int64)
    for name in by:
        parts = [batch.column(0) for batch in rows.batches([name])]
        try:
            codes = _codes(pa.chunked_array(parts))
        except pa.ArrowException:
            raise ValueError(
                f"Rows cannot be drawn in proportion to the column {name!r}: its cells "
                "hold lists or records. Choose a column of single values."
            ) from None
        cell = cell * (codes.max() + 1) + codes
    return np.unique(cell, return_inverse=True)[1]


def _codes(column: Any) -> NDArray[np.int64]:
    """Return a code for each cell by its value.

    Numbers of many values are cut at the median; text of many values is one.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if compute.count_distinct(column).as_py() > MOST_VALUES:
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return np.zeros(len(column), dtype=np.int64)
        middle = compute.approximate_median(column)
        column = compute.greater(column, middle)
    encoded = column.dictionary_encode(null_encoding="encode").combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _rows_at(
    rows: ParquetRows, columns: Sequence[str], positions: NDArray[np.int64] | None
) -> Iterator[Any]:
    """Yield the rows at some positions, which rise, in batches; all rows for None."""
    start = 0
    for batch in rows.batches(columns):
        if positions is None:
            yield batch
            continue
        end = start + len(batch)
        first, last = np.searchsorted(positions, [start, end])
        yield batch.take(pa.array(positions[first:last] - start))
        start = end
