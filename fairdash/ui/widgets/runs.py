"""Start a run on a data set, and follow it while it goes on elsewhere."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any

import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash._wording import duration, plural, time_left
from fairdash.audits import progress, training, trials
from fairdash.datasets import SAMPLES
from fairdash.jobs import cancel, engine, submit, wake
from fairdash.methods import CATALOG
from fairdash.scored import ScoredModel
from fairdash.store import DatasetRecord, RunRecord, Snapshot, TrialRecord, Unreachable
from fairdash.sweep import BASELINE, DataSource, MethodGrid, SweepSpec, model_label
from fairdash.ui import pages
from fairdash.ui.widgets.blocks import figure, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_AUDIT = "audited run"  # in the session: the run whose end opens Local fairness
# Training rows above which pages train on a sample, and the size of that.
LARGE = 200_000
PROPOSED = 100_000
_LOSS_HOW = """
The model's loss on training and validation rows, and the adversary's loss. A
fair model leaves the adversary as unsure as guessing. Validation rows decide nothing
here but show when training has gone on long enough.
"""
_INTERVAL = "1s"  # of the polls; tests set another one in the environment


def start_training(
    dataset_id: str,
    grid: MethodGrid,
    seeds: int,
    *,
    beside: str = BASELINE,
    train_rows: int | None = None,
) -> str:
    """Submit a run of a method and, on the same splits, of the one it is held to.

    ``beside`` names the latter, at the settings both have, of which network and
    schedule are those of the method; trained before, its results are used again. Each
    of the ``seeds`` is a split with a training of its own. Returns the id of the run;
    raises ValueError when the settings cannot be trained.
    """
    spec = training_spec(dataset_id, grid, seeds, beside, train_rows)
    params = CATALOG[grid.method].settings(
        trials.single_values(grid.params), grid.effort
    )
    label = model_label(grid.method, params)
    return submit(store(), spec, name=f"{spec.data.name} · {label}")


def training_spec(
    dataset_id: str,
    grid: MethodGrid,
    seeds: int,
    beside: str = BASELINE,
    train_rows: int | None = None,
) -> SweepSpec:
    """Return what `start_training` submits."""
    record = store().dataset_record(dataset_id)
    methods = [grid]
    if grid.method != beside:
        methods += [_alike(grid, beside)]
    return SweepSpec(
        data=source(record),
        methods=tuple(methods),
        seeds=tuple(range(seeds)),
        subgroups=record.subgroups,
        train_rows=train_rows,
    )


def _alike(grid: MethodGrid, beside: str) -> MethodGrid:
    """Return the method ``beside`` with the settings that it shares with a grid."""
    defaults = CATALOG[beside].settings({}, grid.effort)
    settings = CATALOG[grid.method].settings({}, grid.effort) | dict(grid.params)
    params = {}
    for name, value in settings.items():
        if name in defaults and value != defaults[name]:
            params[name] = value
    return MethodGrid(method=beside, params=params, effort=grid.effort)


def start_audit(dataset_id: str) -> None:
    """Train the baseline and go where it is watched; its end shows where it is unfair.

    Large data are subsampled for training, and the results say so. Raises
    ValueError when the data set cannot be trained on.
    """
    grid = MethodGrid(method=BASELINE)
    run = start_training(dataset_id, grid, 1, train_rows=rows_to_train(dataset_id))
    st.session_state[_AUDIT] = run
    open_page(pages.TRAIN, run=run, data=dataset_id)


def finish_audit(snapshot: Snapshot) -> None:
    """Go to Local fairness when the run that an audit started has finished."""
    if st.session_state.get(_AUDIT) != snapshot.run.id or not snapshot.run.over:
        return
    del st.session_state[_AUDIT]
    if snapshot.run.status == "finished":
        open_page(
            pages.LOCAL_FAIRNESS, run=snapshot.run.id, data=snapshot.run.dataset_id
        )


def source(record: DatasetRecord) -> DataSource:
    """Return where the table is from: a sample by its name, which works anywhere."""
    place: dict[str, Any] = {"table": record.table_sha256}
    for name, sample in SAMPLES.items():
        if sample.path.name == record.table_name:
            place = {"sample": name}
    return DataSource(**place, roles=record.roles, name=record.name)


def rows_to_train(dataset_id: str) -> int | None:
    """Return how many rows pages train on and say so; None is all of them.

    More than `LARGE` training rows are replaced by a stratified sample of `PROPOSED`.
    """
    if trials.part_sizes(store(), dataset_id)[0] <= LARGE:
        return None
    st.caption(trials.trained_on(store(), dataset_id, PROPOSED))
    return PROPOSED


def progress_facts(snapshot: Snapshot) -> list[str]:
    """Return what an open run does, how many models have finished, the time left."""
    reason_to_wait = engine.why_waits(store(), snapshot)
    facts = [reason_to_wait or training.activity(snapshot)]
    total = len(snapshot.trials)
    if total > 1:
        done = snapshot.count("finished")
        facts.append(f"{done} of {plural(total, 'model')} finished")
    if not reason_to_wait:
        # Time before the engine started is no measure of how fast it trains.
        card = engine.engine_card(store().root) or {}
        seconds = progress.seconds_left(store(), snapshot, card.get("since", 0.0))
        if seconds is not None:
            facts.append(time_left(seconds))
    return [fact for fact in facts if fact]


def show_progress(snapshot: Snapshot) -> None:
    """Draw how far a run is, or for what it waits, with the button that cancels it."""
    head, *facts = progress_facts(snapshot)
    rest = [*facts, "saved as it goes, safe to close this page"]
    with (
        st.container(border=True),
        st.container(horizontal=True, vertical_alignment="center"),
    ):
        with st.container(gap="xsmall"):
            st.markdown(" · ".join([f"**{plain(head)}**", *map(plain, rest)]))
            st.progress(min(1.0, progress.share_done(store(), snapshot)))
        cancelled = snapshot.run.cancel_asked is not None
        if st.button(
            "Cancelling" if cancelled else "Cancel",
            icon=":material/stop_circle:",
            disabled=cancelled,
        ):
            cancel(store(), snapshot.run.id)
            st.rerun()


def show_ending(run: RunRecord, saved: str) -> None:
    """Say how a run ended unless it simply finished."""
    if run.status == "failed":
        problem(f"{run.name} failed", f"{training.why_failed(store(), run)} {saved}")
    elif run.status == "cancelled":
        after = duration(ceil(training.runtime(run) or 0))
        st.info(saved, title=f"Cancelled after {after}")


def show_curves(setting_trials: Sequence[TrialRecord | ScoredModel]) -> None:
    """Draw the loss curves of one setting, the mean over its trials."""
    first = setting_trials[0]
    table = training.curves(store(), setting_trials)
    label = model_label(first.method, first.params)
    # One epoch is no curve; a run that goes on may have more of them soon.
    if len(table) < 2:
        if all(map(training.is_finished, setting_trials)):
            st.caption(plain(f"{label} has no losses by epoch."))
        return
    n_seeds = len(setting_trials)
    seeds = f"mean of {n_seeds} seeds" if n_seeds > 1 else "one seed"
    n_epochs = max(trial.params.get("n_epochs", 1) for trial in setting_trials)
    role = CATALOG[first.method].colour_role
    figure(
        plots.plot_training(table, colour_role=role, n_epochs=n_epochs),
        caption=f"{label}, {seeds}.",
        how=_LOSS_HOW,
        key="losses",
    )


@contextmanager
def waiting_for_database() -> Iterator[None]:
    """Say that Postgres is waited for, in a fragment that looks again by itself."""
    try:
        yield
    except Unreachable as error:
        st.info(plain(error), title=engine.FOR_DATABASE)


def follow(run_id: str, draw: Callable[[Snapshot], None]) -> None:
    """Redraw once a second until the run has ended, then rerun the page once.

    One flat fragment: nested ones with an interval crash. Every poll also sees to it
    that the engine lives, so a run survives the loss of its host. ``draw`` receives the
    snapshot of the run, from one read transaction.
    """
    over = store().run(run_id).over
    interval = None if over else os.environ.get("FAIRDASH_POLL", _INTERVAL)

    @st.fragment(run_every=interval)
    @waiting_for_database()
    def poll() -> None:
        try:
            snapshot = store().snapshot(run_id)
        except ValueError:
            st.rerun()  # deleted in another window: the whole page says so
        draw(snapshot)
        if not snapshot.run.over:
            wake(store())
        elif not over:
            st.rerun()

    poll()
