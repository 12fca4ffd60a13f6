"""Put a data set to work: keep its roles, train the model everything is held to."""

import streamlit as st

from fairdash.datasets import SAMPLES, Roles, Subgroups
from fairdash.jobs import submit
from fairdash.methods import CATALOG
from fairdash.results import single_values
from fairdash.store import DatasetRecord, Snapshot
from fairdash.sweep import BASELINE, DataSource, MethodGrid, SweepSpec, model_label
from fairdash.ui.data.table import OpenTable
from fairdash.ui.widgets.frame import exists, open_page
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.train_rows import audit_rows

_WHERE = "pages/3_Local_fairness.py"
_TRAIN = "pages/2_Train.py"
_AUDIT = "audited run"


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
        Key of the method to compare with, at the settings both have; trained before,
        its results are used again.
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
        common = {param.name for param in CATALOG[beside].params}
        params = {name: v for name, v in grid.params.items() if name in common}
        methods += [MethodGrid(method=beside, params=params, effort=grid.effort)]
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
    known: dict[str, str] = {"table": record.table_sha256}
    for name, sample in SAMPLES.items():
        if sample.path.name == record.table_name:
            known = {"sample": name}
    return DataSource(**known, roles=record.roles, name=record.name)
