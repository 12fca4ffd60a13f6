"""Hold the models of a run to another table."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash.audits import DRIFT_MEASURES, drift
from fairdash.cli._options import Home, Out, check_out, refuse, write
from fairdash.datasets import read_table
from fairdash.results import Setting, known_models
from fairdash.store import home_folder, open_store


def drift_of_run(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            exists=True, dir_okay=False, help="Table with the columns of the data set."
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(help="Column of time or place that divides the table."),
    ] = None,
    measure: Annotated[
        str, typer.Option(help=f"One of {', '.join(DRIFT_MEASURES)}.")
    ] = DRIFT_MEASURES[0],
    model: Annotated[
        str | None,
        typer.Option(help="Id or label of the model in detail, if not the first."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Default: the first.")] = None,
    out: Out = None,
    home: Home = None,
) -> None:
    """Compare the models of a run on its test rows and on a table they never saw.

    Accuracy and fairness per table with intervals, the change of local gaps, what
    drives it, and how far every column shifted. The file needs the features and the
    sensitive column, not the outcome. The exit status is 2 when it cannot be used.
    """
    store = open_store(home or home_folder())
    try:
        check_out(out)
        run = store.run(run_id)
        keys = {t.key for t in store.snapshot(run_id, curves=False).trials}
        models = [
            one
            for one in known_models(store, run.dataset_id, run_id)
            if any(trial.key in keys for trial in one.trials)
        ]
        named = [one for one in models if model is None or _called(one, model)]
        if not named:
            labels = ", ".join(one.label for one in models) or "none"
            raise ValueError(f"Run {run_id} has no model {model!r}. It has: {labels}.")
        found = drift(
            store,
            models,
            run.dataset_id,
            main=named[0],
            subgroups=store.dataset_record(run.dataset_id).subgroups,
            measure=measure,
            seed=seed,
            other=(file.name.split(".")[0], read_table(file)) if file else None,
            parts=parts,
        )
    except ValueError as error:
        raise refuse(error) from error
    finally:
        store.close()
    write(found.points, out)
    typer.echo(found.verdict())
    for headline, table in (
        (f"{found.label} on every table", found.table_of_tables()),
        (found.gap_headline(), found.changes),
        (found.driver_headline(), found.driver_table()),
        (found.shift_headline(), found.shift_table()),
    ):
        typer.echo(f"\n{headline}")
        typer.echo(table.to_string(index=False, float_format="%.3f"))


def _called(setting: Setting, name: str) -> bool:
    return name == setting.id or setting.label.startswith(name)
