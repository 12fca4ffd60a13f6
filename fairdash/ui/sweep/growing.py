"""A sweep while it grows: finished models, and where the others stand by now."""

import numpy as np
import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import plural, time_left
from fairdash.methods import CATALOG
from fairdash.results import AXES, read_sweep, seconds_left
from fairdash.store import Snapshot
from fairdash.sweep import model_label
from fairdash.ui.widgets.blocks import figure
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.watch import progress_box

_HEIGHT = 420  # of the front
_FINISHED = (
    "Large marks: finished models on test rows; filled: fronts chosen on validation "
    "rows, open: over the DI limit. Small: in training, on validation rows."
)
_NONE_FINISHED = "Models in training, on validation rows; they move until they finish."
_UNFINISHED = {
    "x_sd": np.nan,
    "y_sd": np.nan,
    "within": False,
    "front": False,
    "line": False,
    "knee": False,
}


def show_growing_sweep(snapshot: Snapshot) -> None:
    """Draw progress, the front so far and the models in training."""
    run = snapshot.run
    done, total = snapshot.count("finished"), len(snapshot.trials)
    left = seconds_left(store(), snapshot)
    facts = [
        f"{done} of {plural(total, 'model')} finished",
        time_left(left) if left is not None else "measuring the speed",
    ]
    progress_box(snapshot, facts)
    sweep, training = read_sweep(snapshot), models_in_training(snapshot)
    if sweep is None and training.empty:
        st.skeleton(height=_HEIGHT)
        return
    limit = float(run.spec.get("di_limit", 0.05))
    models = training.iloc[:0].assign(**_UNFINISHED)
    runs = models
    finding = "Where the models in training stand"
    if sweep is not None:
        models = sweep.points(AXES, limit, "validation", single=False)
        runs = sweep.single_runs(AXES)
        kept = f"{models['within'].sum()} of {plural(len(models), 'setting')}"
        finding = f"{kept} keep DI within {limit:g} so far"
    figure(
        plots.plot_front(models, runs, training=training),
        finding=finding,
        caption=_NONE_FINISHED if sweep is None else _FINISHED,
        alt=f"{finding}. {plural(len(training), 'model')} in training.",
        key=f"{run.id} growing",
    )


def models_in_training(snapshot: Snapshot) -> pd.DataFrame:
    """Return the last look on validation rows at every model that is not finished.

    One that was not looked at yet has no place in the figure and is left out.

    Returns
    -------
    DataFrame
        The ``training`` of `fairdash.plots.plot_front`.
    """
    rows = []
    for trial in snapshot.trials:
        if trial.status != "running" or trial.progress is None:
            continue
        curves, method = trial.progress.curves, CATALOG[trial.method]
        x, y = ((curves.get(metric) or [None])[-1] for metric in AXES)
        label = model_label(trial.method, trial.params)
        role = method.colour_role
        rows.append((label, method.label, role, x, y))
    names = ["label", "method", "colour_role", "x", "y"]
    table = pd.DataFrame(rows, columns=names).astype({"x": float, "y": float})
    return table.dropna(ignore_index=True)
