"""Scores from a file of the reader's own, with or without the outcome."""

from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from fairdash.ui.selection import choose, selection
from fairdash.ui.widgets.blocks import more, problem
from fairdash.ui.widgets.score_source import Upload, upload_of
from fairdash.ui.widgets.state import store

_KEPT = "post-process uploads"
_NONE = "Not in the file"
_MOST_GROUPS = 20


def uploads() -> list[Upload]:
    """Return the files of this session, the newest first, and the one addressed."""
    kept: list[Upload] = st.session_state.get(_KEPT, [])
    addressed = upload_of(selection().scores or "")
    return kept if addressed is None or addressed in kept else [addressed, *kept]


def upload_scores() -> None:
    """Draw the form for a file of scores; a new one becomes the source shown."""
    with more("Upload scores", icon=":material/upload:"), st.container(width=340):
        scores_form("Without the outcome the accuracy stays unknown.")


def scores_form(without_outcome: str) -> None:
    """Draw what the popover holds, saying what is missing without the outcome."""
    st.caption(
        "A column of probabilities or margins of any model, and a column of groups. "
        f"{without_outcome}"
    )
    sent = st.file_uploader(
        "File of scores",
        type=["csv", "gz", "parquet"],
        max_upload_size=200,
        key="scores file",
    )
    if sent is None:
        return
    try:
        table = store().add_table(sent.getvalue(), sent.name)
        frame = store().table(table)
    except ValueError as error:
        problem(f"{sent.name} was not loaded", error)
        return
    chosen = _columns(frame, table, sent.name)
    if chosen is not None and st.button("Use these scores", type="primary"):
        kept = [one for one in uploads() if one != chosen]
        st.session_state[_KEPT] = [chosen, *kept]
        choose(scores=chosen.id)
        st.rerun()


def _columns(frame: pd.DataFrame, table: str, name: str) -> Upload | None:
    numbers = [str(c) for c in frame if _may_score(frame[c])]
    few = [str(c) for c in frame if 1 < frame[c].nunique() <= _MOST_GROUPS]
    if not numbers or not few:
        what = "numbers from -1 to 1" if not numbers else "two to twenty values"
        problem(f"{name} holds no scores of groups", f"It has no column of {what}.")
        return None
    score = st.selectbox("Scores", numbers, key=f"{table} score")
    groups = st.multiselect(
        "Groups",
        [column for column in few if column != score],
        default=[column for column in few if column != score][:1],
        max_selections=3,
        help="Several columns are crossed.",
        key=f"{table} groups",
    )
    binary = [c for c in frame if frame[c].nunique() == 2 and frame[c].notna().all()]
    outcome = st.selectbox(
        "Outcome",
        [_NONE, *(str(c) for c in binary if str(c) != score and str(c) not in groups)],
        key=f"{table} outcome",
    )
    positive = ""
    if outcome != _NONE:
        values = sorted(frame[outcome].astype(str).unique())
        positive = st.selectbox(
            "Positive outcome", values, index=1, key=f"{table} {outcome} positive"
        )
    if not groups:
        st.caption("Choose at least one column of groups.")
        return None
    known = "" if outcome == _NONE else outcome
    return Upload(table, name, score, tuple(groups), known, positive)


def _may_score(column: "pd.Series[Any]") -> bool:
    return is_numeric_dtype(column) and not is_bool_dtype(column)
