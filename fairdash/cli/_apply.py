"""Apply thresholds to a file of any size, a batch of rows at a time."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from fairdash.postprocessing import Thresholds, decide

BATCH_ROWS = 65_536


def apply_file(
    thresholds_file: Path,
    file: Path,
    *,
    score: str,
    groups: Sequence[str],
    out: Path,
    seed: int,
) -> int:
    """Write ``file`` with the columns ``h`` and ``decision`` added; return its rows.

    One generator draws the decisions of all batches, so they do not depend on where
    batches end.

    Raises
    ------
    ValueError
        When a file cannot be read, a column is missing, or a row has no thresholds;
        nothing is left at ``out``.
    """
    thresholds = Thresholds.from_json(thresholds_file.read_text())
    generator = np.random.default_rng(seed)
    partial = out.with_name(f"{out.name}.partial")
    done = 0
    try:
        with _Writer(partial, out.suffix) as writer:
            for batch in _batches(file, [score, *groups]):
                decided = decide(
                    thresholds,
                    batch.column(score).to_pandas().rename(score),
                    [batch.column(group).to_pandas().rename(group) for group in groups],
                    random_state=generator,
                    first_row=done + 1,
                )
                table = pa.Table.from_batches([batch])
                for name in decided:
                    table = table.append_column(name, pa.array(decided[name]))
                writer.write(table)
                done += len(batch)
    except pa.ArrowInvalid as error:
        partial.unlink(missing_ok=True)
        raise ValueError(f"It cannot be read: {error}") from error
    except ValueError:
        partial.unlink(missing_ok=True)
        raise
    if not done:
        partial.unlink(missing_ok=True)
        raise ValueError("The file has no rows.")
    partial.replace(out)
    return done


def _batches(file: Path, needed: Sequence[str]) -> Iterator[Any]:
    with open(file, "rb") as source:
        is_parquet = source.read(4) == b"PAR1"
    if is_parquet:
        with parquet.ParquetFile(file) as table:
            _check_columns(table.schema_arrow.names, needed)
            yield from table.iter_batches(BATCH_ROWS)
        return
    with closing(csv.open_csv(file)) as reader:
        _check_columns(reader.schema.names, needed)
        yield from (batch for batch in reader if len(batch))


def _check_columns(present: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in present]
    if missing:
        raise ValueError(f"It has no columns {missing}; it has {list(present)[:20]}.")
    taken = [name for name in ("h", "decision") if name in present]
    if taken:
        raise ValueError(
            f"It already has columns {taken}; rename these, since they would be added."
        )


class _Writer:
    """A CSV or Parquet file, opened when its first batch says its columns."""

    def __init__(self, path: Path, suffix: str) -> None:
        if suffix not in (".csv", ".parquet"):
            message = f"`--out` must end in .csv or .parquet, got {suffix!r}."
            raise ValueError(message)
        self._path, self._suffix = path, suffix
        self._file: Any = None

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, table: Any) -> None:
        if self._file is None:
            kind = csv.CSVWriter if self._suffix == ".csv" else parquet.ParquetWriter
            self._file = kind(self._path, table.schema)
        self._file.write_table(table)
