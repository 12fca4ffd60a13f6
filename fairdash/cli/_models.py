"""Ask models of a run: flips, subgroups, drift."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from fairdash._validation import value_label
from fairdash.audits import (
    Flips,
    Setting,
    audit_run,
    drift,
    drift_over_seeds,
    flip_values,
    gap_column,
    known_models,
    model_asked,
    same_model,
    search_model,
)
from fairdash.cli._options import (
    Home,
    Out,
    Run,
    Seed,
    check_out,
    opened,
    say,
    write,
)
from fairdash.datasets import Dataset, read_table
from fairdash.store import Store

SHOWN = (
    "balanced_accuracy",
    "consistency",
    "ctf",
    "moved",
    "gap_rms",
    "gap_max",
)


def audit_flips(
    run_id: Run,
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
    with opened(home) as store:
        check_out(out)
        dataset = store.dataset(store.run(run_id).dataset_id)
        chosen = _flips(flip, dataset)
        table = audit_run(store, run_id, chosen, by_seed=by_seed)
    write(table, out)
    settings = table.columns[: list(table.columns).index("consistency")]
    spread = not by_seed and (table["n_seeds"] > 1).any()
    names = [n for name in SHOWN for n in ((name, f"{name}_sd") if spread else (name,))]
    shown = table[[*settings, "n", *(name for name in names if name in table)]]
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


def subgroups(
    run_id: Run,
    measure: Annotated[
        str, typer.Option(help="Rate that is compared between groups.")
    ] = "selection_rate",
    min_size: Annotated[int, typer.Option(help="Fewest test rows of a subgroup.")] = 50,
    out: Out = None,
    home: Home = None,
) -> None:
    """Search for subgroups with a gap between groups that is beyond chance.

    Every conjunction of up to three conditions on the features, for every model of a
    run. Training and validation rows are searched; what is listed is tested on test
    rows, with p-values adjusted for the list. The exit status is 2 when the
    run or the measure cannot be used.
    """
    with opened(home) as store:
        check_out(out)
        data = store.run(run_id).dataset_id
        found = [
            search_model(store, one, data, measure, min_size=min_size)
            for one in _models(store, run_id)
        ]
    tables = [one.ranked().assign(Model=one.label) for one in found]
    write(pd.concat(tables, ignore_index=True), out)
    for one in found:
        typer.echo(f"{one.label}: {one.headline()}")
        typer.echo(one.ranked().to_string(index=False, float_format="%.3f"))


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
