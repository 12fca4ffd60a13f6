"""Read a file of any kind into a table, or say what is wrong with it."""

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd

from fairdash._lazy import is_installed, load
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import reader_named, sniff
from fairdash.datasets.reading.rows import MISSING, csv_rows, renamed, unreadable
from fairdash.datasets.reading.source import (
    Source,
    as_source,
    check_columns,
    check_memory,
    check_rows,
    temporary,
)
from fairdash.datasets.reading.unpack import unpack
from fairdash.datasets.sources.address import is_address
from fairdash.datasets.table_notes import TableNotes

PART_ROWS = 100_000  # whose memory is counted at once, before all rows are read


class Reading(NamedTuple):
    """The arguments of `read_table` that describe a file beside its content."""

    sheet: str | None = None
    table_format: TableFormat | None = None


def table_digest(
    source: str | Path | bytes,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
) -> str:
    """Return the sha256 of a file, and of how it is read where that was chosen."""
    if isinstance(source, bytes):
        digest = sha256(source).hexdigest()
    else:
        with open(source, "rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    if sheet is None and table_format is None:
        return digest
    return sha256(f"{digest} {sheet!r} {table_format!r}".encode()).hexdigest()


def check_reading(
    digest: str, source: str | Path | bytes, table_format: TableFormat | None, name: str
) -> Reading:
    """Return how a file was read to make the table of a digest.

    Raises ValueError when there is no such file, or it is another one.
    """
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise ValueError(f"There is no file {str(source)!r}.")
    sheet = table_format.sheet if table_format else None
    for chosen_sheet in (None, sheet):
        for chosen_format in (None, table_format):
            if digest == table_digest(source, chosen_sheet, chosen_format):
                return Reading(chosen_sheet, chosen_format)
    raise ValueError(
        f"{name} is not the table asked for: its sha256 is not {digest[:12]}…; give "
        "the original file."
    )


def read_table(
    source: str | Path | bytes,
    *,
    name: str | None = None,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    digest: str | None = None,
    sample_rows: int | None = None,
) -> pd.DataFrame:
    """Read a table from a file, plain or in gzip, Zstandard or ZIP, or an address.

    Files are of the kinds of `fairdash.datasets.reading.readers`: CSV, workbooks,
    Parquet, Arrow, JSON lines and, with the extra "statistics", those of SPSS, Stata
    and SAS.

    An address is a folder or glob of Parquet files, an object store or a table of a
    database, see `write_source`.

    Without PyArrow, of the extra "app", pandas reads CSV files only: ``007`` is 7 then.

    How a CSV file is written is found from its beginning: see `TableFormat`. A
    column holds whole numbers, numbers or True and False when all its cells do, else
    text; ``007`` is text. Empty cells, ``?``, ``NA``, ``N/A``, ``NaN``
    and ``null`` are missing; ``None`` is a value.

    Parameters
    ----------
    name : str, optional
        Name of the file in messages; by default that of the path.
    sheet : str, optional
        Sheet of an Excel workbook or file in a ZIP archive; needed when there are
        several.
    table_format : TableFormat, optional
        How a CSV file is written, where it was not understood.
    digest : str, optional
        `table_digest` of the table that this must be; it also says whether ``sheet``
        and ``table_format`` were chosen for it, or found.
    sample_rows : int, optional
        If there are more rows, so many are drawn, in proportion to the outcome and the
        group that `guess_roles` finds. Without it all rows are read.

    Returns
    -------
    DataFrame
        With a RangeIndex and text as column names. Where two columns have one name,
        the second is called ``"age.1"``. `fairdash.datasets.notes_of` it says that,
        and how many rows of how many were drawn; audits of the table say so too.

    Raises
    ------
    ValueError
        If the file is empty, has no columns or no rows, or too many of either, cannot
        be read, has a row with too many or too few cells, or is not the table of
        ``digest``.
    """
    if is_address(source):
        table_file = load("fairdash.datasets.sources.draw").table_file
        with table_file(source, sample_rows=sample_rows) as (path, title):
            return read_table(path, name=title, digest=digest)
    if digest is not None:
        called = as_source(source, name, None).name
        sheet, table_format = check_reading(digest, source, table_format, called)
    if not is_installed("pyarrow") and sample_rows is None:
        return _read_plain(as_source(source, name, sheet), table_format)
    convert_table = load("fairdash.datasets.reading.convert").convert_table
    load_table = load("fairdash.datasets.reading.parquet").load_table
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        convert_table(source, path, name=name, sheet=sheet, table_format=table_format)
        if sample_rows is not None:
            path = load("fairdash.datasets.sources.draw").draw_file(path, sample_rows)
        return load_table(path)


def _read_plain(source: Source, table_format: TableFormat | None) -> pd.DataFrame:
    with ExitStack() as files:
        file = unpack(source, temporary(files))
        form = table_format or sniff(file)
        if form.kind != "csv":
            load(reader_named(form.kind).library)  # raises: it names the extra
            load("pyarrow")
        try:
            rows = csv_rows(file, form)
            first = next(rows, [])
            header = first if form.header else [""] * len(first)
            check_columns(source.name, header)
            n_rows = sum(1 for _ in rows) + (not form.header)  # of the same width
            check_rows(source, n_rows, len(header))
            # texts that come again are shared, as those of a page take few bytes
            n_bytes = 0
            for part in _frames(file, form, chunksize=PART_ROWS):
                n_bytes += int(part.memory_usage(index=False).sum())
                check_memory(source, n_bytes)
            (frame,) = _frames(file, form)
        except (csv.Error, UnicodeError) as error:
            raise unreadable(file, form, error) from error
    if not len(frame):
        message = f"{source.name} has a header but no rows; add rows of data."
        raise ValueError(message)
    # once more: a column of numbers and text takes more than its parts
    check_memory(source, int(frame.memory_usage(index=False).sum()))
    frame = frame.rename(columns=str)
    if form.header:
        names = renamed(header, list(map(str, frame)))
        TableNotes(renamed=names).put(frame)
    return frame


def _frames(
    file: Source, form: TableFormat, chunksize: int | None = None
) -> Iterator[pd.DataFrame]:
    """Yield what pandas reads of a CSV file, at once or in parts of so many rows."""
    with file.open() as content:
        parts: Any = pd.read_csv(
            content,
            sep=form.delimiter,
            encoding=form.encoding,
            quotechar=form.quote,
            decimal=form.decimal,
            thousands=form.thousands or None,
            header=0 if form.header else None,
            skiprows=form.skipped,
            skipinitialspace=form.spaces,
            keep_default_na=False,
            na_values=MISSING,
            chunksize=chunksize,
        )
        yield from parts if chunksize else [parts]
