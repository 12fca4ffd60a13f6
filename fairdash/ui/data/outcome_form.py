"""What counts as 1: the positive values of the outcome, or a cut, and its meaning."""

from typing import Any, Literal

import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash._wording import plain
from fairdash.datasets import Cut, Roles, common_labels, count_values, guess_meaning

_FEW = 4
_MOST_PILLS = 12
_SIGNS: dict[Literal[">", ">=", "<", "<="], str] = {
    ">": ">",
    ">=": "≥",
    "<": "<",
    "<=": "≤",
}
_MEANINGS: dict[str, Literal["favourable", "unfavourable"] | None] = {
    "Favourable": "favourable",
    "Unfavourable": "unfavourable",
    "Neither": None,
}


def pick_positive(
    column: "pd.Series[Any]", known: str | tuple[str, ...] | Cut, key: str
) -> str | tuple[str, ...] | Cut:
    """Draw the choice of what counts as 1: a value, several values or a cut."""
    number = pd.api.types.is_numeric_dtype(column)
    if isinstance(known, Cut) or (number and count_values(column, _FEW) > _FEW):
        return _pick_cut(column, known, key)
    labels = sorted(common_labels(column))
    if len(labels) <= 2:
        chosen: str | None = st.segmented_control(
            "Positive value",
            labels,
            default=known if known in labels else labels[-1] if labels else None,
            required=True,
            key=f"{key} positive",
        )
        return chosen or "1"  # an empty column has no label
    named = [known] if isinstance(known, str) else list(known)
    options: dict[str, Any] = {
        "label": "Positive values",
        "options": labels,
        "default": [value for value in named if value in labels],
        "help": "They count as 1, all other values as 0.",
        "key": f"{key} positive set",
    }
    if len(labels) <= _MOST_PILLS:
        values = st.pills(selection_mode="multi", **options)
    else:
        values = st.multiselect(**options)
    # with nothing chosen the table is refused, and says which values there are
    return tuple(values) or labels[-1]


def pick_meaning(
    roles: Roles, target: str, positive: str | tuple[str, ...] | Cut, key: str
) -> tuple[str, Literal["favourable", "unfavourable"] | None]:
    """Draw what the outcome 1 means in words, behind the words themselves."""
    same = (roles.target, roles.positive) == (target, positive)
    name, meaning = (
        (roles.positive_name, roles.positive_is)
        if same
        else guess_meaning(target, positive)
    )
    told = roles.model_copy(
        update={
            "target": target,
            "positive": positive,
            "positive_name": name,
            "positive_is": meaning,
        }
    )
    with st.popover(
        plain(f"1 = {told.positive_words()}") if name else "What does 1 mean?",
        type="tertiary",
        help="What the positive outcome means for the person; change it here.",
    ):
        name = st.text_input(
            "The outcome 1 in words",
            name,
            max_chars=40,
            placeholder="recidivated",
            key=f"{key} name",
        )
        current = next(x for x, value in _MEANINGS.items() if value == meaning)
        chosen = st.segmented_control(
            "For the person it is",
            list(_MEANINGS),
            default=current,
            required=True,
            key=f"{key} meaning",
        )
    return name.strip(), _MEANINGS[chosen]


def _pick_cut(column: "pd.Series[Any]", known: object, key: str) -> str | Cut:
    start = known if isinstance(known, Cut) else None
    left, right = st.columns([1, 2], gap="xsmall")
    sign = left.selectbox(
        "Positive if",
        list(_SIGNS),
        index=list(_SIGNS).index(start.sign) if start else 0,
        format_func=_SIGNS.__getitem__,
        key=f"{key} sign",
    )
    value = right.number_input(
        "this value",
        value=start.value if start else None,
        placeholder=f"{column.min():g} to {column.max():g}",
        format="%g",
        key=f"{key} cut",
    )
    if value is None:
        return known if isinstance(known, str) else value_label(column.max())
    return Cut(sign=sign, value=value)
