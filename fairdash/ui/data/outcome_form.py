"""Forms for the outcome, its meaning, and the scores of an existing model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import streamlit as st

from fairdash._escaping import plain, visible
from fairdash._validation import value_label
from fairdash._wording import amount, value_spans
from fairdash.datasets import Cut, Roles, ScoreColumn, column_kinds, guessing

Meaning = Literal["favourable", "unfavourable"] | None
_FEW = 4
_SIGNS: dict[Literal[">", ">=", "<", "<="], str] = {
    ">": ">",
    ">=": "≥",
    "<": "<",
    "<=": "≤",
}
_MEANINGS: dict[str, Meaning] = {
    "Favourable": "favourable",
    "Unfavourable": "unfavourable",
    "Neither": None,
}
_BY_VALUE = "By value"
_BY_SIZE = "By size"


@dataclass(frozen=True)
class Sides:
    """Values that count as 1 and as 0; without ``negative`` all others count as 0."""

    positive: str | tuple[str, ...] | Cut
    negative: tuple[str, ...] = ()


def pick_sides(column: "pd.Series[Any]", present: Sides, key: str) -> Sides:
    """Draw which values, or which numbers, count as 1 and as 0."""
    if not pd.api.types.is_numeric_dtype(column):
        return _pick_values(column, present, key)
    cut = isinstance(present.positive, Cut)
    if not cut and column_kinds.count_values(column, 2) <= 2:
        return _pick_values(column, present, key)
    if column_kinds.count_values(column, column_kinds.MOST_CODES) > (
        column_kinds.MOST_CODES
    ):
        return Sides(_pick_cut(column, present.positive, key))
    # Few whole numbers may be codes or a quantity: the reader decides.
    coded = column_kinds.is_coded(column)
    few = column_kinds.count_values(column, _FEW) <= _FEW
    reading = st.segmented_control(
        "How it is read",
        [_BY_VALUE, _BY_SIZE],
        default=_BY_SIZE if cut or not (coded or few) else _BY_VALUE,
        required=True,
        label_visibility="collapsed",
        help="Codes have no order: choose their values. Of a quantity choose a cut.",
        key=f"{key} how",
    )
    if reading == _BY_SIZE:
        return Sides(_pick_cut(column, present.positive, key))
    return _pick_values(column, present, key)


def _pick_values(column: "pd.Series[Any]", present: Sides, key: str) -> Sides:
    _, labels = column_kinds.label_codes(column)
    if len(labels) <= 2 and not present.negative:
        return Sides(_pick_value(labels, present.positive, key))
    listed: tuple[str, ...] = ()
    if isinstance(present.positive, str):
        listed = (present.positive,)
    elif not isinstance(present.positive, Cut):
        listed = present.positive
    positive = st.multiselect(
        "Positive values",
        labels,
        [value for value in listed if value in labels],
        format_func=visible,
        help="They count as 1.",
        key=f"{key} positive set",
    )
    rest = [label for label in labels if label not in positive]
    negative = st.multiselect(
        "Negative values",
        rest,
        [value for value in present.negative if value in rest],
        format_func=visible,
        placeholder="all others",
        help="They count as 0. With some chosen, rows with any other value are left "
        "out: withdrawn, incomplete, still open.",
        key=f"{key} negative set {positive}",
    )
    neither = [label for label in rest if negative and label not in negative]
    if neither:
        st.caption(plain(f"Left out: {value_spans(neither)}."))
    # With nothing chosen the table is refused, and says which values there are.
    return Sides(tuple(positive) or labels[-1], tuple(negative))


def _pick_value(labels: list[str], present: object, key: str) -> str:
    """Draw the choice of one of two values as the positive one."""
    default = None
    if present in labels:
        default = present
    elif labels:
        default = labels[-1]
    chosen: str | None = st.segmented_control(
        "Positive value",
        labels,
        default=default,
        format_func=plain,
        required=True,
        key=f"{key} positive",
    )
    return chosen or "1"  # an empty column has no label


def _pick_cut(column: "pd.Series[Any]", present: object, key: str) -> str | Cut:
    start = present if isinstance(present, Cut) else None
    sign_place, value_place = st.columns([1, 2], gap="xsmall")
    sign = sign_place.selectbox(
        "Positive if",
        list(_SIGNS),
        index=list(_SIGNS).index(start.sign) if start else 0,
        format_func=_SIGNS.__getitem__,
        key=f"{key} sign",
    )
    value = value_place.number_input(
        "this value",
        value=start.value if start else None,
        placeholder=f"{amount(column.min())} to {amount(column.max())}",
        format="%g",
        key=f"{key} cut",
    )
    if value is None:
        return present if isinstance(present, str) else value_label(column.max())
    return Cut(sign=sign, value=value)


def pick_meaning(
    roles: Roles, target: str, sides: Sides, key: str
) -> tuple[str, Meaning]:
    """Draw what the outcome 1 is in words, and whether it is good for the person."""
    name, meaning = guessing.guess_meaning(target, sides.positive)
    if (roles.target, roles.positive) == (target, sides.positive):
        name = roles.positive_name
        meaning = roles.positive_is
    words = roles.model_copy(
        update={
            "target": target,
            "positive": sides.positive,
            "positive_name": name,
            "positive_is": meaning,
        }
    )
    with st.popover(
        plain(f"1 = {words.positive_words()}") if name else "What does 1 mean?",
        type="tertiary",
        help="What the positive outcome means for the person; change it here.",
    ):
        name = st.text_input(
            "The outcome 1 in words",
            name,
            max_chars=40,
            placeholder=visible(f"what 1 in {target} means"),
            key=f"{key} name",
        )
        words_of = {value: label for label, value in _MEANINGS.items()}
        chosen = st.segmented_control(
            "For the person it is",
            list(_MEANINGS),
            default=words_of[meaning],
            required=True,
            key=f"{key} meaning",
        )
    return name.strip(), _MEANINGS[chosen]


def pick_scores(
    frame: pd.DataFrame,
    roles: Roles,
    numbers: list[str],
    classes: dict[str, ScoreColumn],
    named: Callable[[str], str],
    key: str,
) -> tuple[ScoreColumn, ...]:
    """Draw the scores or decisions of an existing model, and return the columns."""
    st.caption("An existing model is audited as it is. Its scores are never a feature.")
    current = {score.column: score for score in roles.scores}
    columns = [*numbers, *classes]
    chosen = st.multiselect(
        "Scores or decisions of an existing model",
        columns,
        default=[name for name in current if name in columns],
        format_func=named,
        help="Higher numbers must speak for the outcome. Predicted classes have the "
        "values of the outcome.",
        key=f"{key} scores",
    )
    scores = []
    for name in chosen:
        score = classes.get(name)
        if score is None:
            score = _pick_threshold(frame[name], current.get(name), f"{key} {name}")
        scores.append(score)
    return tuple(scores)


def _pick_threshold(
    column: "pd.Series[float]", current: ScoreColumn | None, key: str
) -> ScoreColumn:
    score = current or guessing.guess_score(column)
    if score is None:
        raise ValueError(
            f"{column.name!r} cannot be a model's score: it has missing values or the "
            "same value in all rows. Choose another column under Scores."
        )
    if score.kind == "decision":
        return score
    usual = 0.0 if score.kind == "margin" else 0.5
    threshold = st.number_input(
        plain(f"{column.name}: positive from"),
        value=usual if score.threshold is None else score.threshold,
        format="%g",
        help="Scores from here on are positive decisions.",
        key=f"{key} threshold",
    )
    if score.threshold is None and threshold == usual:
        return score  # above, as everywhere
    return ScoreColumn(column=score.column, kind=score.kind, threshold=threshold)
