"""Audit a source of the operator's list where it lies: counts come, no row does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain, visible
from fairdash._validation import value_labels
from fairdash._wording import count
from fairdash.audits import Answer, tables
from fairdash.datasets import column_kinds, sources
from fairdash.ui.selection import OF_DATA, Fields, bound, choose
from fairdash.ui.widgets.blocks import context, form_beside, problem
from fairdash.ui.widgets.results import result_page
from fairdash.ui.widgets.state import who

MOST_VALUES = 50  # of a column whose values are chosen; scores have more
# Entries of the session: what sources said, and the answer to the last question.
_COLUMNS = "source columns"
_VALUES = "source values"
_ANSWER = "source answer"
_NEEDS_ROWS = (
    "Counts answer measures by group and inside subgroups. To train a model, to search "
    "for subgroups, or to look for similar people, read rows: a sample is drawn where "
    "the source has too many."
)


@dataclass(frozen=True)
class SourceFields(Fields):
    """What is asked of a source, in the address of the Data page."""

    source: str | None = field(default=None, metadata=OF_DATA)
    source_groups: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    source_inside: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    # Column of the decision or score, and of the outcome; values that are positive.
    source_decision: str | None = field(default=None, metadata=OF_DATA)
    source_accepted: tuple[str, ...] = field(default=(), metadata=OF_DATA)
    source_threshold: float | None = field(default=None, metadata=OF_DATA)
    source_outcome: str | None = field(default=None, metadata=OF_DATA)
    source_good: tuple[str, ...] = field(default=(), metadata=OF_DATA)


def open_source(name: str) -> None:
    """Open the form that asks a source."""
    choose(source=name)
    st.rerun()


def audits_source() -> bool:
    """Return whether the address asks for the audit of a source."""
    return SourceFields.here().source is not None


def audit_source() -> None:
    """Draw what can be asked of the source in the address, and its answer."""
    name = str(SourceFields.here().source)
    context(name, "counted where it lies; no row is read")
    if st.button("Another table", type="tertiary", icon=":material/arrow_back:"):
        _leave()
    try:
        columns = _columns(name)
    except ValueError as error:
        problem(f"{name} was not asked", error)
        return
    form_place, result_place = form_beside("source", answered=False, form=1 / 3)
    question = None
    with form_place, st.container(border=True, gap="xsmall"):
        try:
            question = _form(name, columns)
        except ValueError as error:
            problem(f"{name} was not asked", error)
        pressed = st.button(
            "Count and audit",
            type="primary",
            icon=":material/arrow_forward:",
            width="stretch",
            disabled=question is None,
        )
        st.caption(_NEEDS_ROWS)
    with result_place:
        if question is not None:
            _show(name, question, pressed=pressed)


def _form(name: str, columns: Sequence[str]) -> tables.TableQuestion | None:
    """Draw the form; return the question, None until all that it needs is chosen."""
    st.header("Question", anchor=False)
    groups = st.multiselect(
        "Columns of groups",
        columns,
        format_func=visible,
        **_several("source_groups", columns),
    )
    decision = st.selectbox(
        "Decision or score",
        columns,
        format_func=visible,
        placeholder="Choose a column",
        **_column(
            "source_decision", columns, also=("source_accepted", "source_threshold")
        ),
    )
    fields: dict[str, Any] = {}
    if decision is not None:
        fields |= _decided(name, decision)
    outcome = st.selectbox(
        "Outcome, for error rates",
        columns,
        format_func=visible,
        placeholder="None",
        **_column("source_outcome", columns, also=("source_good",)),
    )
    is_complete = bool(groups and fields)
    if outcome is not None:
        good = _pick_values(name, outcome, "Positive outcomes", "source_good")
        fields["outcome"] = _named(outcome, good)
        is_complete = is_complete and bool(good)
    inside = st.multiselect(
        "Subgroups by",
        columns,
        format_func=visible,
        **_several("source_inside", columns),
    )
    if not is_complete:
        return None
    return tables.TableQuestion(groups=tuple(groups), subgroups=tuple(inside), **fields)


def _decided(name: str, column: str) -> dict[str, Any]:
    """Draw what a positive decision is; return the fields of a question, or none.

    Of numbers of many values it is a threshold.
    """
    values = _values(name, column)
    if len(values) <= MOST_VALUES:
        accepted = _pick_values(name, column, "Positive decisions", "source_accepted")
        return {"decision": _named(column, accepted)} if accepted else {}
    if not pd.api.types.is_numeric_dtype(values.index.dtype):
        raise ValueError(
            f"{column!r} holds {len(values):,} different texts, so it is no decision. "
            f"Choose a column of numbers, or of at most {MOST_VALUES} values."
        )
    threshold = st.number_input(
        "Positive from",
        **bound("source_threshold", 0.5, by_value=True),
        format="%g",
    )
    return {"score": column, "threshold": threshold}


def _pick_values(name: str, column: str, label: str, chosen: str) -> list[str]:
    """Draw the values of a column, each with its number of rows; return those chosen.

    Raises ValueError where they are too many.
    """
    values = _values(name, column)
    if len(values) > MOST_VALUES:
        raise ValueError(
            f"{column!r} has {len(values):,} values, and at most {MOST_VALUES} can be "
            "chosen from. Choose another column."
        )
    labels = value_labels(values.index.to_series())
    rows = values.groupby(labels.to_numpy()).sum()
    options = column_kinds.sorted_labels(set(rows.index))
    return st.multiselect(
        label,
        options,
        format_func=lambda value: f"{visible(value)} ({count(rows[value])})",
        **_several(chosen, options),
    )


def _named(column: str, values: Sequence[str]) -> str:
    """Return "column=value,value", as a question names them."""
    if len(values) > 1:
        for value in values:
            if "," in value or value != value.strip():
                raise ValueError(
                    f"{value!r} of {column!r} holds a comma or begins or ends with a "
                    "space, so it can only be chosen alone. Choose one value."
                )
    return f"{column}={','.join(values)}"


def _columns(name: str) -> list[str]:
    """Return the columns of a source; asked once in a session."""
    loaded = st.session_state.setdefault(_COLUMNS, {})
    if name not in loaded:
        loaded[name] = sources.listed_columns(name, _mail())
    return loaded[name]


def _values(name: str, column: str) -> "pd.Series[int]":
    """Return how many rows have each value of a column; asked once in a session."""
    loaded = st.session_state.setdefault(_VALUES, {})
    if (name, column) not in loaded:
        with st.spinner(plain(f"Counting the values of {column}…")):
            counted = sources.count_listed(name, _mail(), [column])
        frame = counted.frame.dropna(subset=column)
        loaded[name, column] = frame.set_index(column)[counted.count]
    return loaded[name, column]


def _show(name: str, question: tables.TableQuestion, *, pressed: bool) -> None:
    """Draw the answer to a question that was asked, or say why there is none."""
    key = (name, question.model_dump_json())
    if pressed:
        try:
            with st.spinner(plain(f"Counting {name} where it lies…")):
                st.session_state[_ANSWER] = key, _answer(name, question)
        except ValueError as error:
            st.session_state.pop(_ANSWER, None)
            problem(f"{name} was not audited", error)
            return
    answered, answer = st.session_state.get(_ANSWER, (None, None))
    if answered != key:
        return
    page = result_page("source audit", beside=False)
    page.show(answer)
    page.evidence()
    context(*answer.facts)


def _answer(name: str, question: tables.TableQuestion) -> Answer:
    counted = tables.read_listed(name, _mail(), question)
    return tables.table_answer(tables.audit_table(*counted))


def _several(name: str, among: Sequence[str]) -> dict[str, Any]:
    """Return what ties a widget of several texts to a field."""
    return bound(name, [], among=among, shown=list, meant=tuple)


def _column(name: str, among: Sequence[str], *, also: Sequence[str]) -> dict[str, Any]:
    """Return what ties a choice of a column to a field; its values go with it."""
    return bound(name, None, among=[None, *among], also=dict.fromkeys(also)) | {
        "index": None
    }


def _leave() -> None:
    choose(**dict.fromkeys(SourceFields.__dataclass_fields__))
    st.rerun()


def _mail() -> str:
    user = who()
    return user.mail if user else ""
