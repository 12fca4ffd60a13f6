"""Put a data set to work: how many rows, the model everything is held to."""

from typing import Any

import streamlit as st

from fairdash._wording import count
from fairdash.datasets import FRACTIONS, SAMPLES, Roles, Subgroups
from fairdash.jobs import submit
from fairdash.methods import CATALOG
from fairdash.results import part_sizes, rows_used, single_values, trained_on
from fairdash.store import DatasetRecord, Snapshot
from fairdash.sweep import BASELINE, DataSource, MethodGrid, SweepSpec, model_label
from fairdash.ui.data.table import OpenTable
from fairdash.ui.selection import bound
from fairdash.ui.widgets.frame import exists, open_page
from fairdash.ui.widgets.state import store

_WHERE = "pages/3_Local_fairness.py"
_TRAIN = "pages/2_Train.py"
_AUDIT = "audited run"
LARGE = 200_000  # training rows beyond which a subsample is offered
PROPOSED = 100_000
_LEAST = 1_000
_STEP = 50_000


def keep_dataset(table: OpenTable, roles: Roles, subgroups: Subgroups) -> str:
    """Keep the roles of a table, confirmed now, and return the id of the data set."""
    roles = roles.model_copy(update={"guessed": False})
    data = store().add_dataset(table.digest, roles, table.name, subgroups)
    store().drop_draft(table.place)
    return data


def start_training(
    dataset_id: str,
    grid: MethodGrid,
    seeds: int,
    *,
    beside: str = BASELINE,
    train_rows: int | None = None,
) -> str:
    """Submit a run of a method and, on the same splits, of the one it is held to.

    Parameters
    ----------
    dataset_id : str
    grid : MethodGrid
    seeds : int
        Number of splits, each with a training of its own.
    beside : str, default="unconstrained"
        Key of the method to compare with, at the settings both have, of which network
        and schedule are those of the method; trained before, its results are used
        again.
    train_rows : int, optional
        Most rows to train on, as in `SweepSpec`.

    Returns
    -------
    str
        Id of the run.

    Raises
    ------
    ValueError
        When the settings cannot be trained.
    """
    record = store().dataset_record(dataset_id)
    methods = [grid]
    if grid.method != beside:
        methods += [_alike(grid, beside)]
    spec = SweepSpec(
        data=source(record),
        methods=tuple(methods),
        seeds=tuple(range(seeds)),
        subgroups=record.subgroups,
        train_rows=train_rows,
    )
    known = CATALOG[grid.method].settings(single_values(grid.params), grid.effort)
    label = model_label(grid.method, known)
    return submit(store(), spec, name=f"{record.name} · {label}")


def _alike(grid: MethodGrid, beside: str) -> MethodGrid:
    """Return a method with the network and the schedule of the one compared with it."""
    usual = CATALOG[beside].settings({}, grid.effort)
    known = CATALOG[grid.method].settings({}, grid.effort) | dict(grid.params)
    params = {n: v for n, v in known.items() if n in usual and v != usual[n]}
    return MethodGrid(method=beside, params=params, effort=grid.effort)


def start_audit(dataset_id: str) -> None:
    """Train the baseline and go where it is watched; its end shows where it is unfair.

    Of large data it is trained on a subsample, and its results say so.

    Raises
    ------
    ValueError
        When the data set cannot be trained on.
    """
    grid = MethodGrid(method=BASELINE)
    run = start_training(dataset_id, grid, 1, train_rows=audit_rows(dataset_id))
    st.session_state[_AUDIT] = run
    open_page(_TRAIN, run=run, data=dataset_id)


def finish_audit(snapshot: Snapshot) -> None:
    """Go to Local fairness when the run that an audit started has finished."""
    if st.session_state.get(_AUDIT) != snapshot.run.id or not snapshot.run.over:
        return
    del st.session_state[_AUDIT]
    if snapshot.run.status == "finished" and exists(_WHERE):
        open_page(_WHERE, run=snapshot.run.id, data=snapshot.run.dataset_id)


def source(record: DatasetRecord) -> DataSource:
    """Return where the table is from: a sample by its name, which works anywhere."""
    known: dict[str, Any] = {"table": record.table_sha256}
    for name, sample in SAMPLES.items():
        if sample.path.name == record.table_name:
            known = {"sample": name}
    return DataSource(**known, roles=record.roles, name=record.name)


def audit_rows(dataset_id: str) -> int | None:
    """Return how many rows an audit trains on: `PROPOSED` of more than `LARGE`."""
    return PROPOSED if part_sizes(store(), dataset_id)[0] > LARGE else None


def audit_note(n_rows: int) -> str:
    """Return what an audit does with data of so many rows, where it is not all."""
    n_train = round(n_rows * FRACTIONS[0])
    if n_train <= LARGE:
        return ""
    return f"Trains on {count(PROPOSED)} of {count(n_train)} training rows."


def train_rows_input(dataset_id: str, *, start: int | None) -> int | None:
    """Draw the choice where there are more than `LARGE` training rows.

    Parameters
    ----------
    dataset_id : str
    start : int or None
        What is filled in, `PROPOSED` at first; None for all rows.

    Returns
    -------
    int or None
        How many rows to draw; None to train on all.
    """
    n_train, _, _ = part_sizes(store(), dataset_id)
    if n_train <= LARGE:
        return None
    chosen = st.number_input(
        "Training rows",
        _LEAST,
        n_train,
        step=_STEP,
        help="Fewer rows train faster. They are drawn anew for every seed.",
        width=260,
        **bound(
            "train_rows",
            rows_used(store(), dataset_id, start),
            shown=lambda n_rows: min(max(n_rows, _LEAST), n_train),
        ),
    )
    train_rows = chosen if chosen < n_train else None
    st.caption(
        trained_on(store(), dataset_id, train_rows) or "Trained on all training rows."
    )
    return train_rows
