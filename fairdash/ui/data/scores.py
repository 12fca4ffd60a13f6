"""Models that exist: a column of scores, or an ONNX file."""

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import clock_time
from fairdash.audits import gaps, trials
from fairdash.brought import LARGEST_ONNX
from fairdash.datasets import ScoreColumn
from fairdash.store import ScoresRecord
from fairdash.ui import pages
from fairdash.ui.data.table import OpenTable
from fairdash.ui.selection import SharedFields
from fairdash.ui.widgets.blocks import confirm_deletion, heading, problem
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store


def list_own_scores() -> None:
    """Draw the own scores of all data sets, each a model that nobody trained here."""
    for record in store().datasets():
        added = store().own_scores(record.id)
        if added or record.roles.scores:
            heading(f"Own scores of {record.name}")
            _rows(record.id, added)


def _rows(data: str, added: Sequence[ScoresRecord]) -> None:
    """Draw a line for each model of a data set; added scores can be deleted."""
    by_score: dict[ScoreColumn | None, ScoresRecord] = {
        record.score: record for record in added
    }
    for model in trials.own_models(store(), data):
        record = by_score.get(model.score)
        origin = "A column of the table" if record is None else _origin(record)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(model.label)}**", width="content")
            st.caption(plain(origin), width="content")
            if st.button("Audit", type="tertiary", key=f"audit {data} {model.id}"):
                open_scores(data, model.score_name)
            if record is None:
                continue
            if st.button("Delete", type="tertiary", key=f"delete {data} {model.id}"):
                _delete(data, record.score.column)


def _origin(record: ScoresRecord) -> str:
    """Say when scores were added, and from which file."""
    words = f"{record.words()}, added {clock_time(record.created)}"
    if record.source:
        words += f" from {record.source}"
    return words


def _delete(data: str, name: str) -> None:
    def delete() -> None:
        store().delete_scores(data, name)
        st.rerun()

    note = "They leave every page. The file you uploaded stays yours."
    confirm_deletion([name], note, delete)


def bring_model(table: OpenTable, keep: Callable[[], str]) -> tuple[str, str] | None:
    """Draw the popover for an ONNX file.

    ``keep`` keeps the data set of edited roles and returns its id. Returns that and the
    name of the model's scores on the click that asks for an audit.
    """
    with (
        st.popover("Bring a model", icon=":material/upload:", width="stretch"),
        st.container(width=420),
    ):
        st.caption(
            "An ONNX file, as skl2onnx writes it of a scikit-learn pipeline. It is run "
            "in a process of its own that can open no file. Models brought before "
            "stand on Runs, where they can be deleted."
        )
        sent = st.file_uploader(
            "ONNX file",
            type=["onnx"],
            max_upload_size=LARGEST_ONNX >> 20,  # Streamlit counts in MiB
            key=f"model file {table.place}",
        )
        if sent is None:
            return None
        name = st.text_input("Name", PurePath(sent.name).stem, max_chars=40)
        if not st.button("Audit this model", type="primary", width="stretch"):
            return None
        try:
            data = keep()
            store().log_model(data, sent.getvalue(), name=name, source=sent.name)
        except ValueError as error:
            problem(f"{sent.name} was not added", error)
            return None
    return data, name.strip()


def open_scores(dataset_id: str, column: str) -> None:
    """Open Local fairness on the scores of a name, at the measure that matters first.

    That is the false positive rate where a positive outcome is bad news.
    """
    dataset = store().dataset(dataset_id)
    models = {
        model.score_name: model for model in trials.own_models(store(), dataset_id)
    }
    model = models[column]
    fields: dict[str, Any] = {"models": (model.id,), "opened": ("measures",)}
    chosen = SharedFields.here().measure or "selection_rate"
    first = gaps.opening_measure(store(), model, dataset_id, chosen)
    if first != chosen:
        fields["measure"] = first
    # Groups that somebody listed begin with the one that others are compared with.
    if len(dataset.group_names) > 2 and dataset.roles.groups:
        fields["reference"] = dataset.group_names[0]
    open_page(pages.LOCAL_FAIRNESS, data=dataset_id, **fields)
