"""The commands that keep and move: `fairdash data`, `store`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fairdash._parsing import parsed
from fairdash._record import InvalidError
from fairdash._wording import clock_time, plural, size
from fairdash.cli._options import (
    File,
    Home,
    JoinBy,
    JoinFile,
    check_out,
    echo,
    opened,
    read_joined,
    refuse,
    refusing,
    write,
)
from fairdash.cli._parsing import CommandApp
from fairdash.datasets import (
    Roles,
    find_wide_counts,
    notes_of,
    read_table,
    rows_of_counts,
    sources,
)
from fairdash.jobs import pack_runs, unpack_runs
from fairdash.store import Backup, Store, back_up, home_folder, restore

data = CommandApp(
    no_args_is_help=True, add_completion=False, help="Add, list and remove tables."
)


store = CommandApp(
    no_args_is_help=True,
    add_completion=False,
    help="Look after everything that is kept.",
)

Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A file, a folder or glob of Parquet files, s3://bucket/prefix, or a "
        "database: postgresql://user@host/database?table=name, sqlite:///file?table=name",
    ),
]
RolesFile = Annotated[
    Path | None,
    typer.Option(help="YAML file of the roles; else they are guessed.", exists=True),
]
Sheet = Annotated[
    str | None,
    typer.Option(help="Sheet of a workbook, or file of an archive, of several."),
]
SampleRows = Annotated[
    int | None, typer.Option(help="Draw so many rows; by default all are kept.")
]


def read_roles(path: Path) -> Roles:
    """Return the roles in a YAML file; ValueError if it holds none."""
    try:
        return Roles.model_validate(parsed(path.read_bytes(), "YAML"))
    except InvalidError as error:
        message = f"{path} holds no roles: {error}"
        raise ValueError(message) from error


def guessed_roles(store: Store, digest: str) -> Roles:
    """Return the guessed roles of a table; ValueError where there are none."""
    guess = store.overview(digest).guess
    if isinstance(guess, str):
        raise ValueError(guess)
    return guess.roles


@data.command()
def add(
    table: Table,
    roles: RolesFile = None,
    sheet: Sheet = None,
    sample_rows: SampleRows = None,
    join: JoinFile = None,
    by: JoinBy = None,
    home: Home = None,
) -> None:
    """Put a table into the app without an upload, of any size, and print its address.

    All rows are kept. With --sample-rows some are drawn, in proportion to outcome and
    group; the name of the data set and every page on it say so. With --join columns of
    a second file are added.

    The exit status is 2 when the file cannot be read or the roles do not fit it.
    """
    with opened(home, sources.shown(table)) as store:
        chosen = read_roles(roles) if roles else None
        with sources.table_file(
            table, roles=chosen, sample_rows=sample_rows, sheet=sheet
        ) as (file, name):
            own_sheet = sheet if sample_rows is None else None
            if join is None and not by:
                digest = store.add_table(file, name, sheet=own_sheet)
            else:
                second = "" if join is None else store.add_table(join, join.name)
                frame = read_joined(file, join, by, sheet=own_sheet, table=second)
                digest = store.add_frame(frame, name)
        table_roles = chosen or guessed_roles(store, digest)
        title = name
        if not sources.is_address(table) and sample_rows is None:
            title = name.split(".")[0].replace("_", " ")
        key = store.add_dataset(digest, table_roles, title)
        record = store.dataset_record(key)
    echo(f"{title}: {record.n_rows} rows, outcome {table_roles.outcome()}")
    echo(f"open /Data?data={key} in the app")


@data.command()
def counts(
    file: File,
    out: Annotated[Path, typer.Argument(help="CSV or Parquet file to write.")],
    sheet: Sheet = None,
) -> None:
    """Write a table with counts of groups in columns as rows of counts.

    Columns such as applicants_men and admitted_men, or APPLCNM and ADMSSNM of IPEDS,
    become a row for each group and outcome, which other commands count by
    `--count people`.
    """
    with refusing(file):
        check_out(out)
        table = read_table(file, sheet=sheet)
        wide = find_wide_counts(table)
        rows = rows_of_counts(table, wide)
        write(rows, out)
    assert wide is not None, "refused otherwise"
    echo(" ".join(notes_of(rows).sentences))
    echo(
        f"fairdash audit {shlex.quote(str(out))} --decision {wide.outcome}=yes "
        f"--group {wide.feature} --count people"
    )


@data.command("list")
def list_kept(home: Home = None) -> None:
    """List everything that is kept: data sets with models, and files."""
    with opened(home) as store:
        listed = store.kept()
    for item in listed:
        counts = [
            plural(n, what)
            for n, what in ((item.n_rows, "row"), (item.n_runs, "run"))
            if n
        ]
        echo(
            f"{item.id}  {item.kind:8}  {clock_time(item.created)}  "
            f"{size(item.n_bytes):>8}  {item.name} ({', '.join(counts)})"
        )
    if not listed:
        echo("nothing is kept")


@data.command()
def remove(
    key: Annotated[str, typer.Argument(metavar="ID", help="As `data list` shows it.")],
    home: Home = None,
) -> None:
    """Delete a data set with its runs and models, or a file, for good.

    The exit status is 2 when there is no such thing, or a run on it is still open.
    """
    with opened(home) as store:
        store.remove(key)
    echo(f"{key} was deleted")


@store.command("export")
def export_runs(
    run_ids: Annotated[list[str], typer.Argument(metavar="RUN...")],
    out: Annotated[Path, typer.Option(help="ZIP file to write.")],
    rows: Annotated[
        bool,
        typer.Option("--rows/--no-rows", help="Tables and scores too, or only models."),
    ] = True,
    home: Home = None,
) -> None:
    """Write finished runs with their tables and models as one file, for `store import`.

    With --no-rows no row of the data is in it: add the table before `store import`.
    The exit status is 2 when there is no such run, or it is not over.
    """
    with opened(home) as files:
        pack_runs(files, run_ids, out, rows=rows)
    echo(f"{out}: {plural(len(run_ids), 'run')}, {size(out.stat().st_size)}")


@store.command("import")
def import_runs(file: File, home: Home = None) -> None:
    """Put the runs of a file of `store export` in the store, and print their addresses.

    What is there already is not put there again. The exit status is 2 when the file
    cannot be used; nothing of its runs is kept then.
    """
    with opened(home) as files:
        imported = unpack_runs(files, file)
        for run_id in imported.runs:
            run = files.run(run_id)
            echo(f"{run.name}: open /Train?run={run_id} in the app")


@store.command()
def backup(
    folder: Annotated[
        Path, typer.Argument(help="New or empty, or of a backup of the same home.")
    ],
    home: Home = None,
) -> None:
    """Copy a home with those of its users into a folder, while it is in use.

    The folder is a home: `fairdash app --home FOLDER` opens it. A second backup into
    it copies only what is new. A database in a Postgres becomes a file of the folder.

    The exit status is 1 when something in the home is damaged, which standard error
    then names, and 2 when no backup was made. A backup that was in the folder stands
    then.
    """
    source = home or home_folder()
    if not source.is_dir():
        raise refuse(f"There is no home folder {source}. Name one by --home.")
    with opened(source) as stored:
        done = back_up(stored, folder)
    _say_copied(folder, done)


@store.command("restore")
def restore_home(
    folder: Annotated[
        Path, typer.Argument(help="Which `fairdash store backup` has written.")
    ],
    home: Home = None,
) -> None:
    """Make a home of a backup; each file is compared with its digest.

    The home must be empty or not there: what is in one is never replaced. A restore
    that was stopped goes on when it is called again.

    The exit status is 1 when something in the backup is damaged, which standard error
    then names, and 2 when nothing was restored.
    """
    target = home or home_folder()
    with refusing():
        done = restore(folder, target)
    _say_copied(target, done)


def _say_copied(folder: Path, done: Backup) -> None:
    """Print what was copied; end with status 1 where something was damaged."""
    echo(
        f"{folder}: {plural(done.n_homes, 'home')}, {plural(done.n_new, 'new item')} "
        f"({size(done.n_bytes)})"
    )
    for damaged in sorted(done.damaged):
        echo(f"{damaged} is damaged or missing", err=True)
    if done.damaged:
        raise typer.Exit(1)
