"""Scores of models that exist: of the open table, a file that joins, an ONNX file."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype
from streamlit.runtime.uploaded_file_manager import UploadedFile

from fairdash import audits
from fairdash._escaping import plain
from fairdash._wording import clock_time, count, plural
from fairdash.audits import Setting, own_models, score_name, score_of_key
from fairdash.brought import LARGEST_ONNX, OnnxModel, positive_class
from fairdash.datasets import Dataset, Roles, ScoreColumn, Subgroups, read_apart
from fairdash.store import ScoresRecord
from fairdash.ui.data.roles_form import pick_score_kind
from fairdash.ui.data.table import OpenTable, keep_dataset
from fairdash.ui.selection import selection
from fairdash.ui.widgets.blocks import (
    MOST_MB,
    TABLE_FILES,
    confirm_deletion,
    heading,
    problem,
)
from fairdash.ui.widgets.frame import open_page
from fairdash.ui.widgets.state import store

_BY_ORDER = "Order of rows"
_HOW = (
    "Scores or decisions of a model that exists, in a file of their own: one for each "
    "row of the table, found by a key that both have or in the same order. Scores in a "
    "column of the table itself are chosen under Roles, Scores."
)


def scores_panel(
    table: OpenTable, roles: Roles, subgroups: Subgroups, dataset: Dataset
) -> None:
    """Draw the own scores of a data set, and the form that adds a file of them."""
    added: list[ScoresRecord] = []
    if table.is_dataset:
        added = store().own_scores(table.place)
        _rows(table.place, added)
        for name, why in store().left_scores(table.place, dataset).items():
            st.warning(plain(f"{name} stays with the roles as they were: {why}"))
    st.caption(_HOW)
    sent = st.file_uploader(
        "File of scores",
        type=TABLE_FILES,
        max_upload_size=MOST_MB,
        key=f"{table.key} scores file {len(added)}",  # empty once they were added
    )
    if sent is None:
        return
    try:
        with st.container(width=480):
            _form(sent, table, roles, subgroups, dataset)
    except ValueError as error:
        problem(f"{sent.name} was not added", error)


def list_own_scores() -> None:
    """Draw the own scores of all data sets, each a model that nobody trained here."""
    for known in store().datasets():
        added = store().own_scores(known.id)
        if added or known.roles.scores:
            heading(f"Own scores of {known.name}")
            _rows(known.id, added)


def _rows(data: str, added: Sequence[ScoresRecord]) -> None:
    known: dict[ScoreColumn | None, ScoresRecord] = {one.score: one for one in added}
    for model in own_models(store(), data):
        _row(data, model, known.get(score_of_key(model.trials[0].key)))


def _row(data: str, model: Setting, record: ScoresRecord | None) -> None:
    """Draw own scores with what can be done with them."""
    where = "A column of the table"
    if record is not None:
        where = f"{record.words()}, added {clock_time(record.created)}"
        where += f" from {record.source}" * bool(record.source)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(model.label)}**", width="content")
        st.caption(plain(where), width="content")
        if st.button("Audit", type="tertiary", key=f"audit {data} {model.id}"):
            open_scores(data, score_name(model))
        if record is None:
            return
        if st.button("Delete", type="tertiary", key=f"delete {data} {model.id}"):
            _delete(data, record.score.column)


def _delete(data: str, name: str) -> None:
    def delete() -> None:
        store().delete_scores(data, name)
        st.rerun()

    note = "They leave every page. The file you uploaded stays yours."
    confirm_deletion([f"- {plain(name)}"], note, delete)


def _form(
    sent: UploadedFile,
    table: OpenTable,
    roles: Roles,
    subgroups: Subgroups,
    dataset: Dataset,
) -> None:
    """Draw what the columns of a file mean; raises ValueError where it does not fit."""
    frame = _read(sent.file_id, sent)
    numbers = [str(name) for name in frame if is_numeric_dtype(frame[name])]
    if not numbers:
        raise ValueError("It has no column of numbers that could be scores.")
    st.caption(plain(f"{sent.name}: {plural(len(frame), 'row')}."))
    keys = _keys(frame, dataset)
    score = st.selectbox(
        "Scores", [name for name in numbers if name not in keys] or numbers
    )
    joined = st.selectbox(
        "Joined by",
        [*keys, _BY_ORDER],
        help="A key tells rows apart in both: a column of the same name without "
        f"repeated values. By order: {count(len(table.frame))} scores for all rows, or "
        f"{count(dataset.n_rows)} for the rows used.",
    )
    taken = score in dataset.frame
    name = st.text_input("Name", f"{score} of {sent.name}" if taken else score)
    what = pick_score_kind(frame[score], None, f"{sent.file_id} {score}")
    if st.button("Add these scores", type="primary", icon=":material/add:"):
        key = None if joined == _BY_ORDER else joined
        data = keep_dataset(table, roles, subgroups)
        store().log_scores(
            data,
            frame[[score, key]] if key else frame[score],
            name=name,
            kind=what.kind,
            threshold=what.threshold,
            key=key,
            source=sent.name,
        )
        open_page("pages/1_Data.py", data=data)


@st.cache_resource(max_entries=2, show_spinner="Reading scores…")
def _read(file_id: str, _sent: UploadedFile) -> pd.DataFrame:
    home = store().home
    return read_apart(_sent.getvalue(), home, name=_sent.name, owner=str(home))


def _keys(frame: pd.DataFrame, dataset: Dataset) -> list[str]:
    """Return the columns of both that tell rows apart."""
    both = [str(name) for name in frame if name in dataset.frame]
    tables = frame, dataset.frame
    return [name for name in both if all(one[name].is_unique for one in tables)]


def bring_model(
    table: OpenTable, dataset: Dataset, keep: Callable[[], str]
) -> tuple[str, str] | None:
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
            "stand under Scores, where they can be deleted."
        )
        sent = st.file_uploader(
            "ONNX file",
            type=["onnx"],
            max_upload_size=LARGEST_ONNX >> 20,
            key=f"model file {table.place}",
        )
        if sent is None:
            return None
        content = sent.getvalue()
        digest = hashlib.sha256(content).hexdigest()
        try:
            model = _checked(digest, sent.name, content)
            mapping = model.mapping(dataset.frame)
            outcome = positive_class(model, dataset.roles.positive)
        except ValueError as error:
            problem(f"{sent.name} was not added", error)
            return None
        st.table(mapping.map(plain), border="horizontal", hide_index=True)
        st.caption(plain(f"P(1), of {dataset.roles.outcome()}, is that of {outcome}."))
        name = st.text_input(
            "Name", PurePath(sent.name).stem, max_chars=40, key=f"{digest} name"
        )
        if not st.button("Audit this model", type="primary", width="stretch"):
            return None
        try:
            data = keep()
            store().log_model(data, content, name=name, source=sent.name)
        except ValueError as error:
            problem(f"{sent.name} was not added", error)
            return None
    return data, name.strip()


def open_scores(dataset_id: str, column: str) -> None:
    """Open Local fairness on the scores of a name, at the measure that matters first.

    That is the false positive rate where a positive outcome is bad news.
    """
    record = store().dataset_record(dataset_id)
    dataset, roles = store().dataset(dataset_id), record.roles
    own = audits.own_models(store(), dataset_id)
    (model,) = (one for one in own if audits.score_name(one) == column)
    more: dict[str, Any] = {"models": (model.id,), "opened": ("measures",)}
    asked = selection().measure or "selection_rate"
    if (first := audits.first_measure(roles, asked)) != asked:
        more["measure"] = first
    if len(dataset.group_names) > 2 and roles.groups:
        more["reference"] = dataset.group_names[0]
    open_page("pages/3_Local_fairness.py", data=dataset_id, **more)


@st.cache_resource(max_entries=2, show_spinner="Checking the file…")
def _checked(digest: str, name: str, _content: bytes) -> OnnxModel:
    return OnnxModel(_content, name)
