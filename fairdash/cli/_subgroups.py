"""Search the models of a run for subgroups that nobody named."""

from typing import Annotated

import pandas as pd
import typer

from fairdash.audits import search_model
from fairdash.cli._options import Home, Out, check_out, refuse, write
from fairdash.results import known_models
from fairdash.store import home_folder, open_store


def subgroups(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    measure: Annotated[
        str, typer.Option(help="Rate that is compared between groups.")
    ] = "selection_rate",
    min_size: Annotated[int, typer.Option(help="Fewest rows of a subgroup.")] = 50,
    out: Out = None,
    home: Home = None,
) -> None:
    """Search test rows for subgroups with a gap between groups that is beyond chance.

    Every conjunction of up to three conditions on the features, for every model of a
    run; p-values are adjusted for all that is searched. The exit status is 2 when the
    run or the measure cannot be used.
    """
    store = open_store(home or home_folder())
    try:
        check_out(out)
        data = store.run(run_id).dataset_id
        keys = {t.key for t in store.snapshot(run_id, curves=False).trials}
        models = [
            model
            for model in known_models(store, data, run_id)
            if any(trial.key in keys for trial in model.trials)
        ]
        if not models:
            raise ValueError(f"Run {run_id} has no finished model to search.")
        found = [
            search_model(store, model, data, measure, min_size=min_size)
            for model in models
        ]
    except ValueError as error:
        raise refuse(error) from error
    finally:
        store.close()
    tables = [one.ranked().assign(Model=one.label) for one in found]
    write(pd.concat(tables, ignore_index=True), out)
    for one in found:
        typer.echo(f"{one.label}: {one.headline()}")
        typer.echo(one.ranked().to_string(index=False, float_format="%.3f"))
