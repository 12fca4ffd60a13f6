"""Options that several commands share, and how commands refuse."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from pydantic import ValidationError

from fairdash._escaping import as_csv, as_printed, visible_table
from fairdash._validation import check_one_of, explain_invalid
from fairdash._wording import without_sentences
from fairdash.audits import Answer, tables
from fairdash.cli._parsing import RefusedCommand
from fairdash.datasets import join_tables, read_table, sources
from fairdash.store import Store, open_store

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of all data. Default: $FAIRDASH_HOME or ~/.fairdash."),
]
Out = Annotated[
    Path | None, typer.Option(help="CSV or Parquet file to write all rows to.")
]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]
JoinFile = Annotated[
    Path | None,
    typer.Option(
        "--join",
        exists=True,
        dir_okay=False,
        help="Second file with further columns, one row for each key.",
    ),
]
JoinBy = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Column that both files have; id=person where the second calls it person. "
        "Repeat it for several.",
    ),
]
Table = Annotated[
    str,
    typer.Argument(
        help="File, or an address: a folder of Parquet files, s3://bucket/loans, "
        "postgresql://user@host/database?table=loans. An address is counted where it "
        "lies; its rows are read only if a unit, a weight or a model needs them."
    ),
]
SampleRows = Annotated[
    int | None,
    typer.Option(help="Draw so many rows and read those; the result says so."),
]
Run = Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")]
Model = Annotated[
    str | None, typer.Option(help="Id or label of the model, if not the main one.")
]
Decided = Annotated[
    str | None,
    typer.Option(help="Rule: half, as_many, 'top 20', 'costs 3' or 'custom 0.4'."),
]
Groups = Annotated[
    list[str], typer.Option(help="Column of the groups; repeat it to cross several.")
]
Weight = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
CountColumn = Annotated[
    str | None,
    typer.Option(
        help="Column of how many people a row stands for, of a table of counts."
    ),
]
Unit = Annotated[
    str | None, typer.Option(help="Column of whom a row belongs to, if of several.")
]
Seed = Annotated[int | None, typer.Option(help="Default: the first.")]
Constraint = Annotated[str, typer.Option(help="As of the methods for noisy groups.")]


@contextmanager
def refusing(file: Path | str | None = None) -> Iterator[None]:
    """End the command with one clear line on stderr where a ValueError is raised.

    Parameters
    ----------
    file : Path, optional
        Named before the error.
    """
    try:
        yield
    except ValueError as error:
        raise refuse(error, file) from error


def refuse(error: ValueError | str, file: Path | str | None = None) -> RefusedCommand:
    """Return the exit after one clear line on stderr."""
    explain(error, file)
    return RefusedCommand()


def explain(error: ValueError | str, name: Path | str | None = None) -> None:
    """Print an error as one line on stderr, after the name of what it is about."""
    why = explain_invalid(error) if isinstance(error, ValidationError) else error
    message = f"{name}: {why}" if name else str(why)
    echo(" ".join(message.split()), err=True)


def read_joined(
    file: Path | str,
    join: Path | None = None,
    by: list[str] | None = None,
    *,
    sheet: str | None = None,
    table: str = "",
) -> pd.DataFrame:
    """Read a table, joined with a second one where that is given.

    ``table`` is the digest of the second one where a store keeps it.
    """
    if (join is None) != (not by):
        raise ValueError("Give `--join FILE` and `--by COLUMN` together, or neither.")
    frame = read_table(file, sheet=sheet)
    if join is None:
        return frame
    second = read_table(join)
    return join_tables(frame, second, by or (), name=join.name, table=table)


def read_rows(
    named: str,
    join: Path | None = None,
    by: list[str] | None = None,
    *,
    sample_rows: int | None = None,
) -> tuple[pd.DataFrame, tables.Source]:
    """Read the rows of a file or an address, joined with a second file if given."""
    with sources.table_file(named, sample_rows=sample_rows) as (file, title):
        frame = read_joined(file, join, by)
        return frame, tables.Source.of(file, frame, title)


@contextmanager
def opened(home: Path | None, file: Path | str | None = None) -> Iterator[Store]:
    """Open the store of a home folder, refusing as `refusing` does, and close it."""
    with refusing(file), closing(open_store(home)) as store:
        yield store


def check_out(out: Path | None) -> None:
    """Raise ValueError unless a file to write a table to is CSV or Parquet."""
    if out is not None:
        check_one_of("--out", out.suffix, (".csv", ".parquet"))


def write(table: pd.DataFrame, out: Path | None) -> None:
    """Write a table to a CSV or Parquet file, if there is one to write."""
    if out is not None and out.suffix == ".parquet":
        table.to_parquet(out, index=False)
    elif out is not None:
        out.write_bytes(as_csv(table).encode())


def say(answer: Answer, out: Path | None = None) -> None:
    """Print the words and the table of an answer; write all its numbers."""
    if answer.data is not None:
        write(answer.data, out)
    details = without_sentences(answer.details, answer.verdict)
    for words in filter(None, (answer.verdict, details)):
        echo(words)
    if answer.table is not None:
        echo(f"\n{answer.table.title}")
        echo_table(answer.table.frame)


def echo(text: str, *, err: bool = False) -> None:
    """Print text; names in it send nothing to the terminal but themselves."""
    typer.echo(as_printed(text), err=err)


def echo_table(table: pd.DataFrame, *, missing: str = "NaN") -> None:
    """Print a table, with three decimals of every share."""
    # Names in a table send nothing to the terminal but themselves.
    text = visible_table(table).to_string(
        index=False, float_format="%.3f", na_rep=missing
    )
    typer.echo(text)
