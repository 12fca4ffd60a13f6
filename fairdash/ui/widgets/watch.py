"""A run while it goes on elsewhere: redrawn, how far it is, curves, weights."""

import os
from collections.abc import Callable, Sequence

import streamlit as st

from fairdash import plots
from fairdash._wording import Kpi, number, percent, plural, time_left
from fairdash.jobs import cancel, engine_waits_for, wake
from fairdash.methods import CATALOG
from fairdash.results import curves, main_trials, seconds_left, series, weights
from fairdash.store import Snapshot, TrialRecord
from fairdash.sweep import model_label
from fairdash.ui.widgets.blocks import figure, kpi_row
from fairdash.ui.widgets.state import store

_WATCHED = {
    "accuracy": ("Accuracy, validation", percent),
    "demographic_parity_difference": ("DI, validation", number),
    "worst_1_di": ("Worst-1-DI, validation", number),
    "validation_loss": ("Loss, validation", number),
}
_LOSS_HOW = """
The model's loss on training and validation rows, and the adversary's loss below. A
fair model leaves the adversary as unsure as guessing. Validation rows decide nothing
here but show when training has gone on long enough.
"""
_RATIO_HOW = """
How the weights *r* of the training rows are distributed. *r* says where the method
looks: above 1 the adversary's doubt counts for more. In each group the mean is 1.
"""
_INTERVAL = "1s"


def show_progress(snapshot: Snapshot) -> None:
    """Draw how far the run is, with the button that cancels it, and where it stands."""
    progress_box(snapshot, _progress_text(snapshot))
    trials = main_trials(store(), snapshot)
    table, label = curves(store(), trials), _label(trials)
    kpi_row([_watched(name, series(table, name), label) for name in _WATCHED])


def progress_box(snapshot: Snapshot, facts: Sequence[str]) -> None:
    """Draw the bar of a run under the facts, the first of them bold, and Cancel."""
    facts = [*facts, engine_waits_for(store().home)]
    head, *others = (fact for fact in facts if fact)
    words = [f"**{head}**", *others, "saved as it goes, safe to close this page"]
    with (
        st.container(border=True),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        with st.container(gap="xsmall"):
            st.markdown(" · ".join(words))
            st.progress(min(1.0, snapshot.share))
        asked = snapshot.run.cancel_asked is not None
        if st.button(
            "Cancelling" if asked else "Cancel",
            icon=":material/stop_circle:",
            disabled=asked,
        ):
            cancel(store(), snapshot.run.id)
            st.rerun()


def show_curves(snapshot: Snapshot) -> None:
    """Draw loss curves and, for methods that weigh rows, the weights beside them."""
    trials = main_trials(store(), snapshot)
    table, ratio, label = curves(store(), trials), weights(trials), _label(trials)
    if len(table) < 2:
        return
    left, right = st.columns(2, gap="medium")
    n_seeds = int(table["n_seeds"].max())
    seeds = f"mean of {n_seeds} seeds, bands ± 1 sd" if n_seeds > 1 else "one seed"
    n_epochs = max(trial.params.get("n_epochs", 1) for trial in trials)
    groups = store().dataset(snapshot.run.dataset_id).group_names
    role = CATALOG[trials[0].method].colour_role
    with left:
        figure(
            plots.plot_training(table, colour_role=role, n_epochs=n_epochs),
            caption=f"{label}, {seeds}.",
            how=_LOSS_HOW,
            key="losses",
        )
    if ratio:
        with right:
            figure(
                plots.plot_ratio_histogram(ratio, groups=groups),
                caption=f"r of the training rows, {label}; each group has mean 1.",
                how=_RATIO_HOW,
                key="weights",
            )


def _label(trials: Sequence[TrialRecord]) -> str:
    return model_label(trials[0].method, trials[0].params)


def _watched(name: str, values: list[float], note: str) -> Kpi:
    label, style = _WATCHED[name]
    value = style(values[-1]) if values else "–"
    return Kpi(label, value, note, series=values or None)


def _progress_text(snapshot: Snapshot) -> list[str]:
    running = [
        t.progress for t in snapshot.trials if t.status == "running" and t.progress
    ]
    total, done = len(snapshot.trials), snapshot.count("finished")
    if not running:
        head = "Waiting for the engine" if not done else "Putting results together"
    else:
        first = running[0]
        head = f"Epoch {first.epoch} of {first.n_epochs}"
    left = seconds_left(store(), snapshot)
    return [
        head,
        f"{done} of {plural(total, 'model')} finished" if total > 1 else "",
        time_left(left) if left is not None else "",
    ]


def follow(run_id: str, draw: Callable[[Snapshot], None]) -> None:
    """Redraw once a second until the run has ended, then rerun the page once.

    One flat fragment: nested ones with an interval crash. Every poll also sees to it
    that the engine lives, so a run survives the loss of its host.

    Parameters
    ----------
    run_id : str
    draw : callable
        Receives the snapshot of the run and draws it, from one read transaction.
    """
    over = store().run(run_id).over
    interval = None if over else os.environ.get("FAIRDASH_POLL", _INTERVAL)

    @st.fragment(run_every=interval)
    def poll() -> None:
        snapshot = store().snapshot(run_id)
        draw(snapshot)
        if not snapshot.run.over:
            wake(store())
        elif not over:
            st.rerun()

    poll()
