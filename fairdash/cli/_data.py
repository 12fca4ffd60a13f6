"""The commands of `fairdash data`: add a table, check one, fetch a public one."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash.cli._add import add_file
from fairdash.cli._check import check_file
from fairdash.cli._fetch import fetch_files, public_tables
from fairdash.cli._options import UNUSABLE, File, Home, refuse
from fairdash.store import home_folder

data = typer.Typer(no_args_is_help=True, help="Add or check a table, or fetch one.")

RolesFile = Annotated[
    Path | None,
    typer.Option(help="YAML file of the roles; else they are guessed.", exists=True),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of a workbook, or file of an archive, of several."),
]


@data.command()
def add(
    file: File, roles: RolesFile = None, sheet: Sheet = None, home: Home = None
) -> None:
    """Put a table into the app without an upload, of any size, and print its address.

    The exit status is 2 when the file cannot be read or the roles do not fit it.
    """
    try:
        add_file(home or home_folder(), file, roles, sheet)
    except ValueError as error:
        raise refuse(error, file) from error


@data.command()
def check(file: File, roles: RolesFile = None, sheet: Sheet = None) -> None:
    """Check a table and print what to change.

    The exit status is 0 when it can be used as it is, 1 when there are warnings, and 2
    when there are errors or a file cannot be read.
    """
    try:
        severities = check_file(file, roles, sheet)
    except ValueError as error:
        raise refuse(error, file) from error
    raise typer.Exit(
        UNUSABLE if "error" in severities else int("warning" in severities)
    )


@data.command("fetch", epilog=public_tables().replace("\n", "\n\n"))
def fetch_public(
    name: Annotated[
        str | None,
        typer.Argument(help="Public table; without one, all are listed and no more."),
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="Rows that a paper uses. Default: the first.")
    ] = None,
    to: Annotated[
        Path, typer.Option(help="Folder of the original file and of what is written.")
    ] = Path(),
) -> None:
    """Download a public table, or find it in the folder, and write it with its roles.

    The table is written as Parquet and its roles as YAML, for `fairdash data check`.
    The exit status is 2 when the table or the variant is unknown or cannot be fetched.
    """
    if name is None:
        typer.echo(public_tables())
        return
    try:
        fetch_files(name, variant, to)
    except ValueError as error:
        raise refuse(error) from error
