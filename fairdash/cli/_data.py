"""The commands of `fairdash data`: add, list and remove, check, fetch."""

from pathlib import Path
from typing import Annotated

import typer
import yaml

from fairdash._wording import clock_time, plural, size
from fairdash.cli._options import UNUSABLE, File, Home, refuse
from fairdash.datasets import (
    PUBLIC,
    Roles,
    check_table,
    fetch_table,
    guess_roles,
    read_table,
)
from fairdash.store import home_folder, open_store

data = typer.Typer(
    no_args_is_help=True,
    help="Add, list and remove tables; check or fetch one.",
)

RolesFile = Annotated[
    Path | None,
    typer.Option(help="YAML file of the roles; else they are guessed.", exists=True),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of a workbook, or file of an archive, of several."),
]


def public_tables() -> str:
    """Return every public table with its variants: name, rows and what these are."""
    lines = []
    for name, public in PUBLIC.items():
        lines.append(f"{name}: {public.title}. {public.note}")
        lines += [
            f"  {variant} ({rows.n_rows:,} rows): {rows.rows}"
            for variant, rows in public.variants.items()
        ]
    return "\n".join(lines)


def fetch_files(name: str, variant: str | None, folder: Path) -> None:
    """Write a public table and its roles into a folder and print what they are.

    The publisher's file is looked for in the folder too, and kept there.

    Raises
    ------
    ValueError
        As `fairdash.datasets.fetch`, or when the folder cannot be written to.
    """
    frame = fetch_table(name, folder.absolute(), variant)
    public = PUBLIC[name]
    variant = variant or next(iter(public.variants))
    table = folder / f"{name}-{variant}.parquet"
    roles = table.with_suffix(".yaml")
    known = public.roles.model_dump(mode="json", exclude_defaults=True)
    try:
        frame.to_parquet(table, index=False)
        roles.write_text(yaml.safe_dump(known, sort_keys=False))
    except OSError as error:
        raise ValueError(f"{table} could not be written: {error}.") from error
    typer.echo(f"{public.title} ({variant}): {len(frame)} rows, from {public.url}")
    typer.echo(f"rows  {public.variants[variant].rows}")
    typer.echo(public.note)
    typer.echo(f"table {table}")
    typer.echo(f"roles {roles}")


def check_file(file: Path, roles_file: Path | None, sheet: str | None) -> set[str]:
    """Print the findings about a table and return their severities.

    Raises
    ------
    ValueError
        When a file cannot be read.
    """
    frame = read_table(file, sheet=sheet, compact=True)
    roles = guess_roles(frame) if roles_file is None else read_roles(roles_file)
    typer.echo(f"{file.name}: {len(frame)} rows, {frame.shape[1]} columns")
    typer.echo(f"outcome {roles.target!r}, positive value {roles.positive!r}")
    typer.echo(f"sensitive feature {roles.sensitive_feature!r}")
    findings = check_table(frame, roles)
    for finding in findings.to_dict("records"):
        remedy = finding["remedy"]
        typer.echo(f"{finding['severity']}: {finding['message']} {remedy}".strip())
    if findings.empty:
        typer.echo("nothing to change")
    return set(findings["severity"])


def read_roles(path: Path) -> Roles:
    """Return the roles in a YAML file; ValueError if it holds none."""
    try:
        return Roles.model_validate(yaml.safe_load(path.read_text()))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not valid YAML.") from error


def add_file(home: Path, file: Path, roles_file: Path | None, sheet: str | None) -> str:
    """Keep a file with its roles, print where the app shows it, return its id.

    Raises
    ------
    ValueError
        When the file cannot be read or the roles, guessed or not, do not fit it.
    """
    store = open_store(home)
    try:
        table = store.add_table(file, file.name, sheet=sheet)
        if roles_file is None:
            roles = guess_roles(store.table(table))
        else:
            roles = read_roles(roles_file)
        title = file.name.split(".")[0].replace("_", " ")
        data = store.add_dataset(table, roles, title)
        record = store.dataset_record(data)
    finally:
        store.close()
    typer.echo(f"{title}: {record.n_rows} rows, outcome {roles.outcome()}")
    typer.echo(f"open /Data?data={data} in the app")
    return data


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


@data.command("list")
def list_kept(home: Home = None) -> None:
    """List everything that is kept: data sets with their models, and other files."""
    store = open_store(home)
    try:
        found = store.kept()
    finally:
        store.close()
    for one in found:
        runs = f", {plural(one.n_runs, 'run')}" if one.n_runs else ""
        typer.echo(
            f"{one.id}  {one.kind:8}  {clock_time(one.created)}  "
            f"{size(one.n_bytes):>8}  {one.name} ({plural(one.n_rows, 'row')}{runs})"
        )
    if not found:
        typer.echo("nothing is kept")


@data.command()
def remove(
    key: Annotated[str, typer.Argument(metavar="ID", help="As `data list` shows it.")],
    home: Home = None,
) -> None:
    """Delete a data set with its runs and models, or another file, for good.

    The exit status is 2 when there is no such thing, or a run on it is still open.
    """
    store = open_store(home)
    try:
        store.remove(key)
    except ValueError as error:
        raise refuse(error) from error
    finally:
        store.close()
    typer.echo(f"{key} was deleted")


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
