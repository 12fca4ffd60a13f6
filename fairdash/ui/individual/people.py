"""One person to edit, and what becomes of the prediction."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import Kpi, number, percent, plural
from fairdash.audits import (
    AuditedModel,
    Pairs,
    columns_by_effect,
    compare_people,
    counterpart_of,
    number_step,
)
from fairdash.metrics import FairMetric
from fairdash.ui.individual.form import IndividualFields
from fairdash.ui.selection import bound, bound_entry, entry
from fairdash.ui.widgets.blocks import kpi_row

_LISTED = 200
_FIELDS = 10  # columns of a person that stand to be edited; others are searched for
_MISSING = "(missing)"
_AS_IS, _WORST = "as they are", "as the other"


def edit_person(model: AuditedModel, metric: FairMetric, pairs: Pairs) -> None:
    """Draw one person to edit, and what becomes of prediction and fair distance."""
    people = pairs.people.head(_LISTED).set_index("row")
    if people.empty:
        st.caption("There is nobody to edit.")
        return
    left, right = st.columns(2, vertical_alignment="bottom")
    names = {
        row: f"row {row:,} · P(1) {percent(p)} → {percent(q)}"
        for row, p, q in zip(
            people.index.tolist(), people["before"], people["after"], strict=True
        )
    }
    with left:
        row = st.selectbox(
            "Person",
            **bound("person", next(iter(names)), named=names),
        )
    with right:
        start = st.segmented_control(
            "Start from",
            [_AS_IS, _WORST],
            required=True,
            **bound(
                "begin",
                _AS_IS,
                shown=lambda begin: _WORST if begin == "worst" else _AS_IS,
                meant=lambda start: "worst" if start == _WORST else None,
                also={"edits": ()},
            ),
        )
    chosen = people.loc[row]
    place = int(chosen["place"])
    person = model.rows.frame.iloc[[place]].reset_index(drop=True)
    changes = [each for each in chosen["changes"] if each.column in person]
    worst = counterpart_of(person, changes)
    begin = person if start == _AS_IS else worst
    answer = st.container()
    edited = _edit(begin, model, place, row)
    p, q, distance = compare_people(model, metric, place, edited)
    with answer:
        kpi_row(
            [
                Kpi("P(1) as it is", number(p), f"decided {p > 0.5:d}"),
                Kpi("P(1) as edited", number(q), f"decided {q > 0.5:d}"),
                Kpi("Fair distance", number(distance), "squared; 0 is alike"),
            ]
        )


def _edit(
    person: pd.DataFrame, model: AuditedModel, place: int, row: int
) -> pd.DataFrame:
    """Draw fields of the person in a row, and return the person edited."""
    known = model.rows.dataset.frame
    values = {str(name): person[name].iloc[0] for name in person}
    ordered = columns_by_effect(model, place)
    others = ordered[_FIELDS:]
    fields = st.container()
    edits = IndividualFields.here().edits
    touched = [name for name in others if entry(edits, f"{row} {name}") is not None]
    if others:
        searched = st.multiselect(
            f"Of {plural(len(others), 'more column')}",
            others,
            touched,
            placeholder="Search a column to change",
            key=f"searched {row}",
        )
        touched += [name for name in searched if name not in touched]
    with fields, st.grid(min_column_width=150, gap=("xsmall", "medium")):
        for name in [*ordered[:_FIELDS], *touched]:
            value, column = person[name].iloc[0], known[name]
            tie = partial(bound_entry, "edits", f"{row} {name}")
            if pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
                values[name] = _number(name, value, column, tie)
            else:
                levels = sorted(column.dropna().unique().tolist(), key=str)
                options = [*levels, *([_MISSING] if column.isna().any() else [])]
                named = {str(option): option for option in options}
                now = _MISSING if pd.isna(value) else value
                chosen = st.selectbox(
                    plain(name), options, **tie(now, read=named.__getitem__)
                )
                values[name] = None if chosen == _MISSING else chosen
    return pd.DataFrame({name: [value] for name, value in values.items()})


def _number(
    name: str,
    value: float,
    column: "pd.Series[float]",
    tie: Callable[..., dict[str, Any]],
) -> float | None:
    """Draw the field of a number: whole where the column is."""
    step = number_step(column)
    kind, missing = type(step), pd.isna(value)
    return st.number_input(
        plain(name),
        value=None if missing else "min",
        step=step,
        format=None if kind is int else "%.4g",
        **tie(
            None if missing else kind(value),
            read=lambda text: kind(text) if text else None,
        ),
    )
