"""Take a trained model away, and score files with it."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash.audits import exported, load
from fairdash.cli._options import File, Home, refuse
from fairdash.datasets import read_table
from fairdash.store import home_folder, open_store


def export(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    out: Annotated[Path, typer.Option(help="ZIP file to write.")],
    model: Annotated[
        str | None, typer.Option(help="Id or label of the model, if not the main one.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Default: the first.")] = None,
    home: Home = None,
) -> None:
    """Write a trained model as a file for `fairdash.load` and `fairdash predict`.

    It holds a readable description and the weights, and nothing that can run code. The
    exit status is 2 when there is no such model.
    """
    store = open_store(home or home_folder())
    try:
        found = exported(store, run_id, model, seed)
    except ValueError as error:
        raise refuse(error) from error
    finally:
        store.close()
    out.write_bytes(found.to_bytes())
    typer.echo(f"{out}: {found.facts['label']}, seed {found.facts['seed']}")


def predict(
    model: File,
    file: File,
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
) -> None:
    """Score the rows of a table with an exported model.

    Adds the column score, P(y = 1), or with thresholds the probability of a positive
    decision. The exit status is 2 when a file cannot be used.
    """
    if out.suffix not in (".csv", ".parquet"):
        error = ValueError(f"`--out` must end in .csv or .parquet, got {out.suffix!r}.")
        raise refuse(error)
    try:
        portable = load(model)
    except ValueError as error:
        raise refuse(error) from error
    try:
        frame = read_table(file)
        if "score" in frame:
            raise ValueError("It already has a column 'score'; rename it.")
        scored = frame.assign(score=portable.predict_proba(frame)[:, 1])
    except ValueError as error:
        raise refuse(error, file) from error
    if out.suffix == ".parquet":
        scored.to_parquet(out, index=False)
    else:
        scored.to_csv(out, index=False)
    typer.echo(f"{out}: {len(scored):,} rows scored")
