"""Decide the rows of a new table, or say which row cannot be decided and why."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_label
from fairdash.postprocessing._inputs import SCORE_TYPES, cross
from fairdash.postprocessing._rules import Thresholds, draw


def decide(
    thresholds: Thresholds,
    scores: "pd.Series[Any]",
    groups: "Sequence[pd.Series[Any]]",
    *,
    random_state: int | np.random.Generator = 0,
    first_row: int = 1,
) -> pd.DataFrame:
    """Return h and a drawn decision of every row of a table.

    Parameters
    ----------
    thresholds : Thresholds
    scores : Series
        Of the type that the thresholds ask for; its name is that of the column.
    groups : sequence of Series
        One column, or those that groups are crossed from, in that order.
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
        When a score is no number or out of range, a group is missing or has no
        thresholds; the message names column, row and way out.
    """
    values = _numbers(scores, first_row)
    low, high = SCORE_TYPES[thresholds.score_type]
    kind = "probabilities" if thresholds.score_type == "probability" else "margins"
    outside = ~((values >= low) & (values <= high))
    if outside.any():
        where, cell = _first(scores, outside, first_row)
        raise ValueError(
            f"Column {scores.name!r} must hold {kind} in [{low:g}, {high:g}]; "
            f"{int(outside.sum())} rows do not, first row {where} with {cell}. Rescale "
            "the column or leave these rows out."
        )
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
    h = thresholds.predict_proba(values, sensitive_features=names)
    decided = {"h": h, "decision": draw(h, random_state).astype(np.int8)}
    return pd.DataFrame(decided, index=scores.index)


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
