"""Train the paper's settings for noisy groups, and print which one each rule keeps."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fairdash.audits import (
    Noise,
    NoisyRows,
    Question,
    choose_settings,
    from_counts,
    from_levels,
    search_spec,
    simulated,
)
from fairdash.cli._options import (
    Auxiliary,
    Constraint,
    Home,
    Out,
    check_out,
    opened,
    write,
)
from fairdash.cli._run import follow
from fairdash.jobs import attach, keep_data, keep_table, queue
from fairdash.sweep import SweepSpec

SHOWN = {
    "label": "model, by rule",
    "chosen": "step sizes",
    "promised": "validation",
    "error": "error",
    "error_sd": "± error",
    "true": "true",
    "true_sd": "± true",
    "noisy": "recorded",
    "soft": "soft",
    "ball": "ball",
    "status": "decides",
}


def choose_under_noise(
    config: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    made: Annotated[
        float | None,
        typer.Option(
            "--simulated",
            help="Share of rows whose group is replaced at random: the table's groups "
            "are the true ones.",
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            help="Assumed share of wrong groups, the same for all, instead: the "
            "table's groups are the recorded ones."
        ),
    ] = None,
    auxiliary: Auxiliary = None,
    constraint: Constraint = "true_positive_rate_parity",
    slack: Annotated[float, typer.Option(help="By how much a rate may be worse.")] = (
        0.05
    ),
    inline: Annotated[
        bool, typer.Option("--inline", help="Train in this process.")
    ] = False,
    out: Out = None,
    home: Home = None,
) -> None:
    """Train 36 settings for noisy groups and print the one that each rule keeps.

    Of a configuration the data, subgroups, seeds and training rows are taken, not the
    methods: those are Hinge, Naive, DRO and Soft at the step sizes that Wang et al.
    searched, 3, 12, 36 and 36 settings. All rules judge validation rows: recorded
    groups as if true, the method's own constraint (the paper's rule), the exact worst
    case, and, where they are known, true groups (what the paper's public code does and
    no user can). Printed are the step sizes kept, by seed where they differ, what the
    rule saw on validation rows, and, of the test rows, error and largest violations;
    --out writes them by seed. The exit status is 1 when training failed or was
    cancelled, 2 when something cannot be used.
    """
    with opened(home, config) as store:
        check_out(out)
        given = keep_table(store, SweepSpec.from_yaml(config), None)
        dataset_id = keep_data(store, given)
        dataset = store.dataset(dataset_id)
        noise = _noise(NoisyRows.of(dataset), made, level, auxiliary)
        question = Question(constraint, slack)
        searched = search_spec(given.data, dataset, question, noise, given.subgroups)
        spec = given.model_copy(update={"methods": searched.methods})
        with attach(store.home):
            name = f"{given.data.name} · 36 settings under noise"
            snapshot = follow(store, queue(store, spec, name=name), inline=inline)
        if snapshot.run.status != "finished":
            typer.echo(f"run {snapshot.run.id}: {snapshot.run.status}", err=True)
            raise typer.Exit(1)
        found = choose_settings(store, dataset, snapshot.trials, noise, question)
    write(found.by_seed, out)
    table = found.table.assign(status=found.table["status"].replace("", np.nan))
    shown = table[list(SHOWN)].dropna(axis=1, how="all").rename(columns=SHOWN)
    typer.echo(shown.to_string(index=False, float_format="%.3f", na_rep=""))
    typer.echo(f"\n{found.verdict()}\nrun {snapshot.run.id}: {snapshot.run.status}")


def _noise(
    rows: NoisyRows, made: float | None, level: float | None, auxiliary: Path | None
) -> Noise:
    """Return the noise of the one option that says it."""
    if sum(one is not None for one in (made, level, auxiliary)) != 1:
        raise ValueError("Give one of --simulated, --level and --auxiliary.")
    if made is not None:
        return simulated(rows, made)
    if level is not None:
        return from_levels(rows.groups, level)
    assert auxiliary is not None, "one of the three is given"
    return from_counts(rows, auxiliary.read_text())
