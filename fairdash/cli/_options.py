"""What several commands have in common: their options, and how they refuse."""

from pathlib import Path
from typing import Annotated

import typer

UNUSABLE = 2  # exit status when a file or a configuration cannot be used

Home = Annotated[
    Path | None,
    typer.Option(help="Folder of all data. Default: $FAIRDASH_HOME or ~/.fairdash."),
]
Out = Annotated[
    Path | None, typer.Option(help="CSV or Parquet file to write all rows to.")
]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]


def refuse(error: ValueError, file: Path | None = None) -> typer.Exit:
    """Return the exit after one clear line on stderr."""
    message = f"{file}: {error}" if file else str(error)
    typer.echo(" ".join(message.split()), err=True)
    return typer.Exit(UNUSABLE)
