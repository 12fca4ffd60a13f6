"""Put a table into the home folder of the app."""

from pathlib import Path

import typer

from fairdash.cli._check import read_roles
from fairdash.datasets import guess_roles
from fairdash.store import open_store


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
