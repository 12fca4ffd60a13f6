"""Arrow files, which Feather files are too."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairdash._lazy import LazyModule
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.registry import OpenedFile, Reader
from fairdash.datasets.reading.source import (
    Scratch,
    Source,
    check_columns,
    check_memory,
    check_rows,
)
from fairdash.datasets.table_notes import notes_in

if TYPE_CHECKING:
    import pyarrow as pa

    from fairdash.datasets.reading import memory
else:
    pa = LazyModule("pyarrow")
    memory = LazyModule("fairdash.datasets.reading.memory")

MAGIC = b"ARROW1"


class ArrowFile:
    """The columns of an Arrow file; errors are those of `ParquetRows`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        with source.open() as file, self._undamaged():
            schema = pa.ipc.open_file(file).schema
        self.header = list(schema.names)
        self.notes = notes_in(schema.metadata)
        check_columns(source.name, self.header)
        for name, kind in zip(self.header, schema.types, strict=True):
            memory.check_kind(source.name, name, kind)

    def columns(self) -> list[Any]:
        """Return the columns, read in parts: a part may unpack to any size."""
        parts: list[list[Any]] = [[] for _ in self.header]
        n_rows = n_bytes = 0
        with self.source.open() as file, self._undamaged():
            content = pa.ipc.open_file(file)
            for place in range(content.num_record_batches):
                batch = content.get_batch(place)
                batch.validate(full=True)  # offsets may point anywhere
                n_rows += batch.num_rows
                check_rows(self.source, n_rows, len(self.header))
                for part, column, name in zip(
                    parts, batch.columns, self.header, strict=True
                ):
                    plain = memory.plain_column(column, name, self.source.name)
                    n_bytes += plain.nbytes
                    part.append(plain)
                check_memory(self.source, n_bytes)
        return [pa.chunked_array(part or [pa.nulls(0)]) for part in parts]

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, MemoryError):
                raise
            message = f"{self.source.name} is a damaged Arrow file"
            raise ValueError(f"{message}; write it again.") from error


def _read(
    source: Source, form: TableFormat, scratch: Scratch
) -> tuple[OpenedFile, TableFormat]:
    return ArrowFile(source), form


def _small_files() -> list[bytes]:
    frame = pd.DataFrame({"town": ["Köln", None], "age": [31, 32]})
    files = []
    for compression in ("uncompressed", "lz4", "zstd"):
        buffer = io.BytesIO()
        frame.to_feather(buffer, compression=compression)
        files.append(buffer.getvalue())
    return files


READER = Reader(
    kind="arrow",
    label="Arrow",
    programs=("Arrow",),
    suffixes=(".feather", ".arrow", ".ipc"),
    fits=lambda source, head: head.startswith(MAGIC),
    sniff=lambda source: TableFormat(kind="arrow", sheet=source.member),
    read=_read,
    warm_up=_small_files,
)
