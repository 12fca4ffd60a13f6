"""Print how consistent the models of a run are when columns are flipped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fairdash._validation import value_label
from fairdash.audits import Flips, audit_run, flip_values
from fairdash.cli._options import Home, Out, check_out, refuse, write
from fairdash.datasets import Dataset
from fairdash.store import home_folder, open_store

SHOWN = (
    "balanced_accuracy",
    "consistency",
    "ctf",
    "moved",
    "gap_rms",
    "gap_max",
)


def audit_flips(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    flip: Annotated[
        list[str],
        typer.Option(
            help="Column to flip, to all its values or to some: race=White,Black. "
            "Repeat it to flip several at once."
        ),
    ],
    out: Out = None,
    by_seed: Annotated[
        bool, typer.Option("--by-seed", help="One row per model and seed.")
    ] = False,
    home: Home = None,
) -> None:
    """Flip columns of the test rows and print how often predictions stay.

    Audits every model of a run: consistency, CTF score, largest change of P(1), and
    gaps of the true positive rates between groups. The exit status is 2 when the run
    or a column cannot be used.
    """
    try:
        audit(home or home_folder(), run_id, flip, out=out, by_seed=by_seed)
    except ValueError as error:
        raise refuse(error) from error


def audit(
    home: Path, run_id: str, flips: Sequence[str], *, out: Path | None, by_seed: bool
) -> None:
    """Audit a run under ``flips`` such as "sex" or "race=White,Black".

    Raises
    ------
    ValueError
        When the run does not exist or has no model that can be audited, a column is
        not a feature, a value does not occur, or ``out`` is neither CSV nor Parquet.
    """
    check_out(out)
    store = open_store(home)
    try:
        dataset = store.dataset(store.run(run_id).dataset_id)
        chosen = _flips(flips, dataset)
        table = audit_run(store, run_id, chosen, by_seed=by_seed)
    finally:
        store.close()
    write(table, out)
    settings = table.columns[: list(table.columns).index("consistency")]
    spreads = [f"{name}_sd" for name in SHOWN if f"{name}_sd" in table]
    many = [] if by_seed or not (table["n_seeds"] > 1).any() else spreads
    shown = table[[*settings, "n", *_beside(SHOWN, many)]]
    typer.echo(shown.to_string(index=False, float_format="%.3f", na_rep=""))
    words = "; ".join(
        f"{name}: {', '.join(map(value_label, values))}"
        for name, values in chosen.items()
    )
    typer.echo(f"run {run_id}, test rows set to every combination of {words}")


def _flips(given: Sequence[str], dataset: Dataset) -> Flips:
    """Return the values each column is set to; those of a number are read as such."""
    flips: dict[str, tuple[object, ...]] = {}
    for text in given:
        name, _, listed = text.partition("=")
        (known,) = flip_values(dataset, [name]).values()
        flips[name] = known
        if listed:
            column = dataset.frame[name].dropna().unique().tolist()
            values = {value_label(value): value for value in column}
            flips[name] = tuple(
                values.get(value.strip(), value.strip()) for value in listed.split(",")
            )
    return flips


def _beside(names: Sequence[str], spreads: Sequence[str]) -> list[str]:
    """Return the names, each followed by its spread where that is shown."""
    pairs = ((name, f"{name}_sd") for name in names)
    return [n for pair in pairs for n in pair if n in names or n in spreads]
