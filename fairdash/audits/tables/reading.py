"""Read a table that is asked about: its rows, or how many people have which values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fairdash._validation import check_one_of
from fairdash._wording import listing, plural
from fairdash.audits.tables.counting import named_value
from fairdash.audits.tables.question import TableQuestion
from fairdash.datasets import DrawnRows, notes_of, read_table, sources

MOST_PEOPLE = 5_000_000  # from whom thresholds are learned
_CELLWISE = {"missing", "recode", "convert"}  # steps that look at one cell


@dataclass(frozen=True)
class Source:
    """Where rows come from.

    Attributes
    ----------
    name : str
        Of the file.
    digest : str
        Its SHA-256; of rows that were counted where they lie, of the counts.
    rows : int
        All rows of the table.
    date : str
        When it was audited, in UTC: "2026-03-01T12:00:00Z".
    sample : DrawnRows, optional
        Where the rows were drawn from more.
    counted_by : tuple of str
        Columns by which rows were counted where they lie, instead of being read.
    """

    name: str
    digest: str
    rows: int
    date: str
    sample: DrawnRows | None = None
    counted_by: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How rows were counted without being read; "" where they were read."""
        if not self.counted_by:
            return ""
        columns = listing(self.counted_by)
        return f"{plural(self.rows, 'row')} counted where they lie, by {columns}."

    @classmethod
    def of(cls, file: Path, frame: pd.DataFrame, name: str = "") -> "Source":
        """Return the source of a file that was read just now."""
        with open(file, "rb") as content:
            digest = sha256(content.read()).hexdigest()
        return cls.of_frame(name or file.name, digest, frame, _now())

    @classmethod
    def of_frame(
        cls, name: str, digest: str, frame: pd.DataFrame, date: str = ""
    ) -> "Source":
        """Return the source of a table that was read."""
        return cls(name, digest, len(frame), date, notes_of(frame).drawn)


class AskedTable(NamedTuple):
    """A table with what is asked of it; the question counts people if the rows do."""

    frame: pd.DataFrame
    question: TableQuestion
    source: Source


def read_asked(named: str | Path, question: TableQuestion) -> AskedTable:
    """Read what a question needs of a file or an address.

    An address is counted where it lies, by the columns of the question, whatever its
    number of rows. Its rows are read where they are needed: for units, for weights, and
    for steps of preparation that look at several columns.

    Raises
    ------
    ValueError
        As `fairdash.datasets.sources.count_source` and `read_table` do; if the question
        names a column that is not there.
    """
    if sources.is_address(named) and is_cellwise(question):
        address = str(named)
        columns = asked_columns(question, sources.source_columns(address))
        return _of_counts(sources.count_source(address, columns), question)
    with sources.table_file(named) as (file, title):
        frame = read_table(file, name=title)
        return AskedTable(frame, question, Source.of(file, frame, title))


def read_listed(name: str, user: str, question: TableQuestion) -> AskedTable:
    """Count a source of the operator's list by the columns of a question.

    Raises
    ------
    ValueError
        As `fairdash.datasets.sources.count_listed` does; if the question names a column
        that is not there, or needs rows.
    """
    if not is_cellwise(question):
        raise ValueError(
            "This question needs rows: units, weights, and steps of preparation that "
            "look at several columns. Read some of them instead."
        )
    columns = asked_columns(question, sources.listed_columns(name, user))
    return _of_counts(sources.count_listed(name, user, columns), question)


def _of_counts(counted: sources.CountedSource, question: TableQuestion) -> AskedTable:
    """Return counts as a table in which a row stands for so many people."""
    of_people = question.model_copy(update={"count": counted.count})
    return AskedTable(counted.frame, of_people, _counted_source(counted))


def _counted_source(counted: sources.CountedSource) -> Source:
    return Source(
        counted.name,
        counted.digest,
        counted.n_rows,
        _now(),
        counted_by=tuple(counted.columns),
    )


def read_people(named: str | Path, columns: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Read some columns of a file or an address, one row a person, and say how.

    An address is counted by these columns where it lies; each combination of values
    then stands as often as it occurs. The words are "" of a file.

    Raises
    ------
    ValueError
        As `fairdash.datasets.sources.count_source` and `read_table` do; if there are
        more than `MOST_PEOPLE` rows.
    """
    if not sources.is_address(named):
        file = Path(named).expanduser()
        if not file.is_file():
            raise ValueError(f"There is no file {str(file)!r}.")
        return read_table(file), ""
    address = str(named)
    names = sources.source_columns(address)
    for column in columns:
        check_one_of("column", column, names)
    counted = sources.count_source(address, columns)
    if counted.n_rows > MOST_PEOPLE:
        raise ValueError(
            f"{counted.name} holds {counted.n_rows:,} rows; thresholds are learned "
            f"from at most {MOST_PEOPLE:,}. Name a query that chooses some, such as "
            "those of a year."
        )
    times = counted.frame[counted.count].to_numpy()
    rows = counted.frame.drop(columns=counted.count)
    people = rows.loc[rows.index.repeat(times)].reset_index(drop=True)
    return people, _counted_source(counted).words


def asked_columns(question: TableQuestion, names: Sequence[str]) -> list[str]:
    """Return the columns of a table that a question reads, in its order.

    Raises ValueError if it names one that is not there.
    """
    header = pd.DataFrame(columns=list(names))
    pairs = (
        *(("--group", text) for text in question.groups),
        ("--decision", question.decision),
        ("--outcome", question.outcome),
        *(("--negative", text) for text in question.negative),
    )
    columns = [named_value(option, text, header)[0] for option, text in pairs if text]
    columns += [question.score] if question.score is not None else []
    columns += question.subgroups
    columns += [name for condition in question.rows for name in condition.columns()]
    columns += [step.column for step in question.preparation]
    columns += question.types
    return list(dict.fromkeys(columns))


def is_cellwise(question: TableQuestion) -> bool:
    """Return whether equal cells of two rows mean the same to the question."""
    by_row = question.unit or question.weight or question.count
    steps = {step.kind for step in question.preparation}
    return not by_row and steps <= _CELLWISE


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
