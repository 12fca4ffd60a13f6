"""Scores of an existing model: which columns, what they hold, where they decide."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash.datasets import Roles, ScoreColumn, ScoreKind, guess_score

_KINDS: dict[ScoreKind, str] = {
    "probability": "Probability, 0 to 1",
    "margin": "Margin, −1 to 1",
    "score": "Score with a threshold",
    "decision": "Decision, 0 or 1",
}


def pick_scores(
    frame: pd.DataFrame, roles: Roles, free: Sequence[str], key: str
) -> tuple[ScoreColumn, ...]:
    """Draw the choice of score columns and return what each one holds.

    Raises
    ------
    ValueError
        If a chosen column has missing values or the same value in all rows.
    """
    st.caption("Of a model that exists already: audited as it is, never a feature.")
    known = {score.column: score for score in roles.scores}
    numbers = [name for name in free if is_numeric_dtype(frame[name])]
    chosen = st.multiselect(
        "Scores or decisions of an existing model",
        numbers,
        default=[name for name in known if name in numbers],
        help="Higher numbers must speak for the outcome.",
        key=f"{key} scores",
    )
    return tuple(
        _what(frame[name], known.get(name), f"{key} {name}") for name in chosen
    )


def _what(
    column: "pd.Series[float]", known: ScoreColumn | None, key: str
) -> ScoreColumn:
    """Draw what a column holds and its threshold."""
    first = known or guess_score(column)
    if first is None:
        raise ValueError(
            f"{column.name!r} cannot be a model's score: it has missing values or the "
            "same value in all rows. Choose another column under Scores."
        )
    kind = st.selectbox(
        f"{column.name} is a",
        list(_KINDS),
        index=list(_KINDS).index(first.kind),
        format_func=_KINDS.__getitem__,
        key=f"{key} kind",
    )
    if kind == "decision":
        return ScoreColumn(column=first.column, kind=kind)
    usual = {"probability": 0.5, "margin": 0.0}.get(kind, float(column.median()))
    start = first.threshold if first.kind == kind else None
    threshold = st.number_input(
        "Positive from",
        value=start if start is not None else usual,
        format="%g",
        help="Scores from here on are positive decisions.",
        key=f"{key} {kind} threshold",
    )
    if start is None and kind != "score" and threshold == usual:
        return ScoreColumn(column=first.column, kind=kind)  # above, as everywhere
    return ScoreColumn(column=first.column, kind=kind, threshold=threshold)
