"""Decide the rows of a new table, or say which row cannot be decided and why."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_label
from fairdash.postprocessing._inputs import CROSS, SCORE_TYPES, ScoreType, cross
from fairdash.postprocessing._rules import SAY_TYPE, Thresholds, draw


def decide(
    thresholds: Thresholds,
    scores: "pd.Series[Any]",
    groups: "Sequence[pd.Series[Any]]",
    *,
    score_type: ScoreType | None = None,
    random_state: int | np.random.Generator = 0,
    first_row: int = 1,
) -> pd.DataFrame:
    """Return h and a drawn decision of every row of a table.

    Parameters
    ----------
    thresholds : Thresholds
    scores : Series
        Its name is that of the column.
    groups : sequence of Series
        One column, or those that groups are crossed from, in that order.
    score_type : {"margin", "probability"}, optional
        What the scores are; they are turned into what the thresholds ask for. Without
        it they are of that type, and doubtful ones are refused, see
        :meth:`Thresholds.check_score_type`.
    random_state : int or Generator, default=0
        One generator for consecutive parts gives the decisions of the whole table.
    first_row : int, default=1
        Number of the first row, for messages.

    Returns
    -------
    DataFrame with columns h and decision, index of ``scores``

    Raises
    ------
    ValueError
        When scores may be of the other type, a score is no number or out of range, a
        group is missing or has no thresholds, or a value of crossed groups holds
        " × "; the message names column, row and way out.
    """
    given = score_type or thresholds.score_type
    values = _numbers(scores, first_row)
    low, high = SCORE_TYPES[given]
    kind = "probabilities" if given == "probability" else "margins"
    outside = ~((values >= low) & (values <= high))
    if outside.any():
        where, cell = _first(scores, outside, first_row)
        raise ValueError(
            f"Column {scores.name!r} must hold {kind} in [{low:g}, {high:g}]; "
            f"{int(outside.sum())} rows do not, first row {where} with {cell}. "
            + _way_out(given, values[outside])
        )
    if score_type is None:
        thresholds.check_score_type(float(values.min(initial=np.inf)))
    for column in groups if len(groups) > 1 else ():
        _check_crossable(column, first_row)
    names = cross(*groups)
    known = pd.Series(names).isin(list(thresholds.rules)).to_numpy()
    if not known.all():
        columns = " × ".join(str(column.name) for column in groups)
        place = int(np.argmin(known))
        label = names[place]
        cell = "no value" if pd.isna(label) else repr(label)
        raise ValueError(
            f"Column {columns!r} has {cell} in row {first_row + place} "
            f"({int((~known).sum())} such rows), for which there are no thresholds; "
            f"known are {list(thresholds.rules)[:10]}. Leave these rows out, or learn "
            "thresholds with them."
        )
    if given != thresholds.score_type:
        values = 2 * values - 1 if given == "probability" else (values + 1) / 2
    h = thresholds.predict_proba(values, sensitive_features=names)
    decided = {"h": h, "decision": draw(h, random_state).astype(np.int8)}
    return pd.DataFrame(decided, index=scores.index)


def _way_out(given: ScoreType, outside: NDArray[np.float64]) -> str:
    """Say what may be wrong with scores out of range."""
    if given == "probability" and bool(np.all(np.abs(outside) <= 1)):
        return "If all are margins 2p - 1: " + SAY_TYPE.format("'margin'")
    return "Rescale the column or exclude these rows."


def _check_crossable(column: "pd.Series[Any]", first_row: int) -> None:
    """Refuse a value such as "a × b", which crossed with "c" reads like three."""
    inside = column.astype(str).str.contains(CROSS, regex=False).to_numpy()
    if inside.any():
        where, cell = _first(column, inside, first_row)
        raise ValueError(
            f"Column {column.name!r} has {cell!r} in row {where}; a value of crossed "
            f"groups must not hold {CROSS!r}, which joins them. Rename it, or give one "
            "column of crossed names."
        )


def _numbers(scores: "pd.Series[Any]", first_row: int) -> NDArray[np.float64]:
    numbers = pd.to_numeric(scores, errors="coerce")
    text = (numbers.isna() & scores.notna()).to_numpy()
    if text.any():
        where, cell = _first(scores, text, first_row)
        raise ValueError(
            f"Column {scores.name!r} must hold numbers; row {where} has {cell}. Choose "
            "the column of scores or leave these rows out."
        )
    values: NDArray[np.float64] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def _first(
    column: "pd.Series[Any]", wrong: NDArray[np.bool_], first_row: int
) -> tuple[int, str]:
    place = int(np.argmax(wrong))
    cell = column.iloc[place]
    return first_row + place, "no value" if pd.isna(cell) else value_label(cell)
