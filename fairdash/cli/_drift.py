"""Compare the models of a run on a table that they never saw."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash.audits import drift, portable, trials
from fairdash.cli._options import Home, Out, Run, Seed, check_out, opened, say
from fairdash.datasets import read_table


def drift_of_run(
    run_id: Run,
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help="Table with the columns of the data set."
        ),
    ],
    measure: Annotated[
        str,
        typer.Option(help="Measure whose gaps are compared."),
    ] = "selection_rate",
    model: Annotated[
        str | None,
        typer.Option(
            help="Id or label of the model in detail, if not the one a sweep opens on."
        ),
    ] = None,
    seed: Seed = None,
    out: Out = None,
    home: Home = None,
) -> None:
    """Compare the models of a run on its test rows and on a table they never saw.

    Accuracy and gaps with intervals, the change of gaps inside subgroups, and how far
    every column shifted. The file needs the features and the sensitive column, not the
    outcome. The exit status is 2 when it cannot be used.
    """
    with opened(home) as store:
        check_out(out)
        data = store.run(run_id).dataset_id
        result = drift(
            store,
            trials.known_models_of(store, [run_id]),
            data,
            main=portable.model_asked(store, run_id, model),
            subgroups=store.dataset_record(data).subgroups,
            other=(file.name.split(".")[0], read_table(file)),
            measure=measure,
            seed=seed,
        )
    say(result.answer(), out)
    typer.echo(f"\n{result.headline()}")
    typer.echo(result.changes.to_string(index=False, float_format="%.3f"))
    say(result.shift_answer())
