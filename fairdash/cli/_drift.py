"""Compare the models of a run on a table that they never saw."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairdash.audits import (
    Setting,
    drift,
    drift_over_seeds,
    gap_column,
    known_models,
    model_asked,
    same_model,
)
from fairdash.cli._options import (
    Home,
    Out,
    Run,
    Seed,
    check_out,
    opened,
    say,
)
from fairdash.datasets import read_table
from fairdash.store import Store


def drift_of_run(
    run_id: Run,
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
        str,
        typer.Option(help="Measure whose gaps are compared."),
    ] = "selection_rate",
    model: Annotated[
        str | None,
        typer.Option(help="Id or label of the model in detail, if not the first."),
    ] = None,
    seed: Seed = None,
    out: Out = None,
    home: Home = None,
) -> None:
    """Compare the models of a run on its test rows and on a table they never saw.

    Accuracy and gaps per table with intervals, the change of gaps inside subgroups, and
    how far every column shifted. The file needs the features and the
    sensitive column, not the outcome. The exit status is 2 when it cannot be used.
    """
    with opened(home) as store:
        check_out(out)
        data = store.run(run_id).dataset_id
        models = _models(store, run_id)
        main = model_asked(store, run_id, model) if model else models[0]
        asked: dict[str, Any] = {
            "main": next(one for one in models if same_model(one, main)),
            "subgroups": store.dataset_record(data).subgroups,
            "measure": measure,
            "other": (file.name.split(".")[0], read_table(file)) if file else None,
            "parts": parts,
        }
        found = drift(store, models, data, seed=seed, **asked)
        means = None
        if seed is None and len(asked["main"].seeds) > 1:
            means = drift_over_seeds(store, models, data, **asked)
    say(found.answer(), out)
    typer.echo(f"\n{found.gap_headline()}")
    typer.echo(found.changes.to_string(index=False, float_format="%.3f"))
    say(found.shift_answer())
    if means is not None:
        gap = gap_column(measure)
        names = ["accuracy", gap, f"{gap}_change"]
        ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
        columns = ["table", "label", "n_seeds", *(n for n in ends if n in means)]
        typer.echo("\nMeans over seeds, 95% intervals over seeds")
        typer.echo(means[columns].to_string(index=False, float_format="%.3f"))


def _models(store: Store, run_id: str) -> list[Setting]:
    """Return the models of a run with their trials of all runs, the baseline first."""
    data = store.run(run_id).dataset_id
    keys = {t.key for t in store.snapshot(run_id, curves=False).trials}
    models = [
        model
        for model in known_models(store, data, run_id)
        if any(trial.key in keys for trial in model.trials)
    ]
    if not models:
        raise ValueError(f"Run {run_id} has no finished model.")
    return models
