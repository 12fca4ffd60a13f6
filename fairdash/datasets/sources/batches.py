"""The rows of a source in Arrow batches, only the columns asked for."""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import dataset as arrow_dataset
from pyarrow import parquet

from fairdash._lazy import load
from fairdash.datasets.sources.address import SCHEME, Address, database_file, shown

BATCH_ROWS = 50_000
NUMBERS = {int, float, Decimal}
MOMENTS = {datetime.date, datetime.datetime}


class ParquetRows:
    """The rows of one or many Parquet files, in the order of their names."""

    def __init__(self, files: Any, name: str) -> None:
        self._files, self._name = files, name

    @property
    def names(self) -> list[str]:
        """Names of all columns, those of the folders (``year=2024``) too."""
        return list(self._files.schema.names)

    def count(self) -> int:
        """Return the number of rows, from the footers."""
        with reached(self._name):
            return int(self._files.count_rows())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of some columns; the others are not read."""
        with reached(self._name):
            yield from self._files.to_batches(
                columns=list(columns), batch_size=BATCH_ROWS
            )


@contextmanager
def reached(name: str) -> Iterator[None]:
    """Say that a source cannot be read, without what its library says of it."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise ValueError(
            f"{name} could not be read ({type(error).__name__}). See that it is there, "
            "holds tables of the same columns, and that this machine may read it."
        ) from None  # the text of a library may hold credentials


def open_parquet(address: Address) -> ParquetRows:
    """Return the rows of a folder, a glob or a prefix of an object store."""
    name = shown(address.place)
    with reached(name):
        if SCHEME.match(address.place):
            system, place = load("fsspec").url_to_fs(address.place)
            paths = system.glob(place) if "*" in place else system.find(place)
        else:
            system, place = None, Path(address.place)
            parts = place.anchor or ".", str(place.relative_to(place.anchor or "."))
            some = Path(parts[0]).glob(parts[1]) if "*" in parts[1] else [place]
            paths = [
                str(file)
                for path in some
                for file in (path.rglob("*") if path.is_dir() else [path])
            ]
        files = sorted(path for path in paths if path.endswith((".parquet", ".pq")))
        if not files:
            raise ValueError(f"{name} holds no Parquet file; name their folder.")
        arrow_files = arrow_dataset.dataset(
            files, filesystem=system, format="parquet", partitioning="hive"
        )
    return ParquetRows(arrow_files, name)


def spool(address: Address, columns: Sequence[str] | None, path: Path) -> ParquetRows:
    """Copy rows of a database, only the columns asked for, into a file of ours.

    Two queries may give the rows in two orders, a file gives them in one.
    """
    read = _duckdb if address.kind == "duckdb" else _sql
    with reached(shown(address.place)):
        if not write_rows(read(address, columns), path):
            raise ValueError(f"{address.name} has no rows.")
    return ParquetRows(arrow_dataset.dataset(path, format="parquet"), address.name)


def write_rows(batches: Iterator[Any], path: Path) -> bool:
    """Write batches as a Parquet file; return whether there is one."""
    writer: Any = None
    for batch in batches:
        writer = writer or parquet.ParquetWriter(path, batch.schema)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()
    return writer is not None


def _duckdb(address: Address, columns: Sequence[str] | None) -> Iterator[Any]:
    duckdb = load("duckdb")
    path = str(database_file(address))
    table = address.table or ""
    source = (
        f"({address.query})"
        if address.query
        else ".".join(map(_quoted, table.split(".")))
    )
    wanted = ", ".join(map(_quoted, columns)) if columns else "*"
    try:
        with duckdb.connect(path, read_only=True) as link:
            rows = link.sql(f"SELECT {wanted} FROM {source} AS source")
            yield from rows.to_arrow_reader(BATCH_ROWS)
    except duckdb.Error as error:
        raise _refused(address, error) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql(address: Address, columns: Sequence[str] | None) -> Iterator[Any]:
    sa = load("sqlalchemy")
    url = sa.make_url(address.place)
    if address.kind == "sqlite":
        path = database_file(address)
        url = sa.make_url(f"sqlite:///file:{path}?mode=ro&uri=true")
    else:
        url = url.set(drivername="postgresql+psycopg")
    if address.query:
        source: Any = sa.text(f"({address.query}) AS source")
    else:
        schema, _, table = (address.table or "").rpartition(".")
        source = sa.table(table, schema=schema or None)
    wanted = [sa.column(name) for name in columns] if columns else [sa.text("*")]
    try:
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
        with engine.connect() as link:
            if address.kind == "postgresql":
                link.execute(sa.text("SET TRANSACTION READ ONLY"))
                # else a scan may begin where another is, and rows have another order
                link.execute(sa.text("SET LOCAL synchronize_seqscans = off"))
            streamed = link.execution_options(yield_per=BATCH_ROWS)
            rows = streamed.execute(sa.select(*wanted).select_from(source))
            names, schema_of = list(rows.keys()), None
            for part in rows.partitions():
                columns_of = list(zip(*part, strict=True))
                if schema_of is None:
                    kinds = map(_kind, columns_of)
                    schema_of = pa.schema(list(zip(names, kinds, strict=True)))
                arrays = [
                    _array(values, field, address.name)
                    for values, field in zip(columns_of, schema_of, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema_of)
    except (sa.exc.SQLAlchemyError, UnicodeError) as error:
        raise _refused(address, error) from None


def _kind(values: Sequence[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= MOMENTS:
        return pa.timestamp("us")
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds and kinds <= NUMBERS else pa.string()


def _array(values: Sequence[Any], field: Any, name: str) -> Any:
    if pa.types.is_string(field.type):
        values = [None if value is None else str(value) for value in values]
    elif pa.types.is_floating(field.type):
        values = [float(v) if isinstance(v, int | Decimal) else v for v in values]
    elif pa.types.is_timestamp(field.type):
        values = [_moment(value) for value in values]
    try:
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, ValueError):
        raise ValueError(
            f"The column {field.name!r} of {name} holds values of several kinds; cast "
            "it to one in a query."
        ) from None


def _moment(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value


def _refused(address: Address, error: Exception) -> ValueError:
    """Return an error that names the table, and no more than the kind of trouble."""
    return ValueError(
        f"{address.name} could not be read from {shown(address.place)} "
        f"({type(error).__name__}). See that the database is there, that it has the "
        "table and columns, and that this login may read them."
    )
