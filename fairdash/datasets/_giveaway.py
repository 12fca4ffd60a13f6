"""Columns that give the outcome away: known only after it, or made from it."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairdash.datasets._columns import (
    count_values,
    is_number,
    label_codes,
    some_rows,
    words,
)

AUC_LIMIT = 0.95
FILLED_LIMIT = 0.9
FILLED_LIFT = 0.2
FEWEST_FILLED = 0.02
LEVEL_ROWS = 10
FEWEST_SCREENED = 500
SCREEN_MARGIN = 0.1
MOST_CODES = 20
CODING_LIMIT = 0.99
CODING_MARGIN = 0.02  # of a sample: 16 standard errors below the limit
USUAL_LIMIT = 0.95
SCORE_WORDS = (
    {"decile", "score"},
    {"score", "text"},
    {"risk", "score"},
    {"predicted"},
    {"prediction"},
    {"pred"},
)


def giveaway(column: "pd.Series[Any]", y: NDArray[np.int8]) -> str:
    """Return why a column gives the outcome away, or "".

    Two signs are read from the values: the column alone separates the outcomes (area
    under the ROC curve of at least 0.95), or whether it is filled in does (one outcome
    makes up 90 % of the filled or of the empty rows, and 20 points less overall).

    Parameters
    ----------
    column : Series
    y : ndarray
        Outcome of each row, 0 or 1.
    """
    filled = column.notna().to_numpy()
    if not filled.mean() >= FEWEST_FILLED:
        return ""
    area = _area(column[filled], y[filled]) if _may_separate(column, y, filled) else 0.5
    if area >= AUC_LIMIT:
        return f"it alone separates the outcomes (AUC {area:.3f})"
    if filled.mean() <= 1 - FEWEST_FILLED:
        usual = max(y.mean(), 1 - y.mean())
        for state, rows in (("filled in", filled), ("empty", ~filled)):
            share = max(y[rows].mean(), 1 - y[rows].mean())
            if share >= FILLED_LIMIT and share - usual >= FILLED_LIFT:
                return f"where it is {state}, {share:.0%} of rows have one outcome"
    return ""


def gives_group_away(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Tell whether a column of few values is another coding of the groups.

    It is when the commonest group of each value is right for 99 % of the rows, and one
    group alone for at most 95 %.
    """
    table = coding_table(column, group, by_value=True)
    if table is None:
        return False
    right = table.max(axis=1).sum() / table.sum()
    usual = table.sum(axis=0).max() / table.sum()
    return bool(right >= CODING_LIMIT and usual <= USUAL_LIMIT)


def coding_table(
    column: "pd.Series[Any]", group: NDArray[np.int64], *, by_value: bool
) -> NDArray[np.int64] | None:
    """Count the rows of each value and group where one may tell the other.

    Parameters
    ----------
    column : Series
    group : ndarray of int64
        Group of each row, -1 for none.
    by_value : bool
        Whether values are to tell groups, else groups values.

    Returns
    -------
    ndarray of shape (n_values, n_groups), optional
        Over all rows. None for a column of one value or of more than 20, and where a
        random sample of the rows shows that too few are told right.
    """
    sample = some_rows(len(column))
    if len(sample) < len(column):
        seen = _crossed(column.iloc[sample], group[sample])
        if seen is None:
            return None
        right = seen.max(axis=1 if by_value else 0).sum()
        if right < (CODING_LIMIT - CODING_MARGIN) * seen.sum():
            return None
    table = _crossed(column, group)
    return table if table is not None and len(table) > 1 and table.any() else None


def _crossed(
    column: "pd.Series[Any]", group: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the number of rows of each value and group, None of many values."""
    if count_values(column, MOST_CODES) > MOST_CODES:
        return None
    codes, labels = label_codes(column)
    known = (codes >= 0) & (group >= 0)
    if not known.all():
        codes, group = codes[known], group[known]
    n_groups = int(group.max(initial=0)) + 1
    counts = np.bincount(codes * n_groups + group, minlength=len(labels) * n_groups)
    return counts.reshape(len(labels), n_groups)


def is_score(name: str) -> bool:
    """Tell whether a column name says that it is another model's output."""
    return any(score <= words(name) for score in SCORE_WORDS)


def _may_separate(
    column: "pd.Series[Any]", y: NDArray[np.int8], filled: NDArray[np.bool_]
) -> bool:
    """Tell from a random sample whether ranking all rows is worth its time.

    A sample with at least 500 rows of each outcome misses the area by far less than the
    margin.
    """
    rows = some_rows(len(y))
    if len(rows) == len(y):
        return True
    rows = rows[filled[rows]]
    if min(y[rows].sum(), len(rows) - y[rows].sum()) < FEWEST_SCREENED:
        return True
    return _area(column.iloc[rows], y[rows]) >= AUC_LIMIT - SCREEN_MARGIN


def _area(column: "pd.Series[Any]", y: NDArray[np.int8]) -> float:
    """Return the area under the ROC curve of a column on its own, at least 1/2.

    A category is scored by the rate of the outcome in its level; levels of fewer than
    ten rows, whose rate is mostly the row itself, get the overall rate.
    """
    positives = int(y.sum())
    if positives in (0, len(y)):
        return 0.5
    if is_number(column):
        score = column.to_numpy(dtype=float)
    else:
        codes, labels = label_codes(column)
        counts = np.bincount(codes, minlength=len(labels))
        sums = np.bincount(codes, weights=y, minlength=len(labels))
        rates = np.where(counts >= LEVEL_ROWS, sums / np.maximum(counts, 1), y.mean())
        score = rates[codes]
    rank_sum = rankdata(score)[y == 1].sum()
    area = (rank_sum - positives * (positives + 1) / 2) / (
        positives * (len(y) - positives)
    )
    return float(max(area, 1 - area))
