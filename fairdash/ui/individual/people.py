"""Single people: their worst counterparts, and what becomes of one that is edited."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import Kpi, number, percent, plural
from fairdash.audits import (
    AuditedModel,
    Change,
    Counterparts,
    columns_by_effect,
    compare_people,
    counterpart_of,
    counterparts_caption,
    counterparts_headline,
    number_step,
)
from fairdash.metrics import FairMetric
from fairdash.ui.individual.form import IndividualFields
from fairdash.ui.selection import bound, bound_entry, entry
from fairdash.ui.widgets.blocks import heading, kpi_row, show_table

_CARDS, _LISTED, _SHOWN_CHANGES = 3, 200, 5
_FIELDS = 10  # columns of a person that stand to be edited; others are searched for
_MISSING = "(missing)"
_AS_IS, _WORST = "as they are", "worst counterpart"
_HOW = """
For each person the search looks for the counterpart whose P(1) differs most, among rows
whose every value occurs in the table. Only counterparts whose squared **fair
distance**, of the row exactly as shown, is within ε are counted and shown; a person who
differs in sensitive directions alone is at 0. It is a search: a worse counterpart may
exist.
"""


def show_people(found: Counterparts, model: AuditedModel) -> None:
    """Draw those who are moved most as "this row, changed so", and the list of all."""
    heading(counterparts_headline(found, model.rows.seed), _HOW)
    searched = counterparts_caption(found, model.rows.n, model.rows.seed)
    if found.people.empty:
        st.caption(searched)
        return
    with st.grid(columns=_CARDS, min_column_width=280, gap="small"):
        people = found.people.head(_CARDS).to_dict("records")
        for rank, person in enumerate(people, start=1):
            _card(rank, person)
    listed = found.people.head(_LISTED)
    with st.expander(
        f"The {len(listed)} most changed people",
        type="compact",
        icon=":material/table_rows:",
    ):
        table = pd.DataFrame(
            {
                "rank": range(1, len(listed) + 1),
                "row": listed["row"],
                "P(1)": listed["before"],
                "changed so": listed["after"],
                "decision": list(map(_decision, listed["before"], listed["after"])),
                "fair distance": listed["fair_distance"],
                "what changes": [
                    "; ".join(map(str, changes)) for changes in listed["changes"]
                ],
            }
        )
        show_table(table)
    st.caption(searched)


def what_if(model: AuditedModel, metric: FairMetric, found: Counterparts) -> None:
    """Draw one person to edit, and what becomes of prediction and fair distance."""
    people = found.people.set_index("row")
    if people.empty:
        return
    heading("What if this person were different?")
    left, right = st.columns(2, vertical_alignment="bottom")
    names = {
        row: f"row {row:,} · P(1) {percent(p)} → {percent(q)}"
        for row, p, q in zip(
            people.index.tolist(), people["before"], people["after"], strict=True
        )
    }
    with left:
        row = st.selectbox(
            "Person, most changed first",
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
    worst = counterpart_of(person, chosen["changes"])
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


def _card(rank: int, person: dict[Any, Any]) -> None:
    """Draw one person as "this row, changed so"."""
    before, after = percent(person["before"]), percent(person["after"])
    with st.container(border=True, gap="xsmall", height="stretch"):
        decision = _decision(person["before"], person["after"])
        st.markdown(f"**{rank}. Row {person['row']:,}** · decision {decision}")
        _changes_table(person["changes"])
        away = number(person["fair_distance"], 3)
        st.caption(f"P(1) {before} → {after}, fair distance {away}")


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


def _changes_table(changes: list[Change]) -> None:
    """Draw what differs, the largest change first."""
    lines = [(c.column, *c.labels()) for c in changes[:_SHOWN_CHANGES]]
    shown = pd.DataFrame(lines, columns=["column", "is", "changed so"]).map(plain)
    st.table(shown, border="horizontal", hide_index=True)
    if len(changes) > _SHOWN_CHANGES:
        rest = ", ".join(change.column for change in changes[_SHOWN_CHANGES:])
        st.caption(plain(f"Also {rest}."))


def _decision(before: float, after: float) -> str:
    one, other = before > 0.5, after > 0.5
    return f"{one:d}" if one == other else f"{one:d} → {other:d}"
