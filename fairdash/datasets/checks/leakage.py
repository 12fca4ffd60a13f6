"""Columns that tell too much: the outcome, or the group."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairdash.datasets import column_kinds
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._rows import UsedRows

AUC_LIMIT = 0.95
FILLED_LIMIT = 0.9
FILLED_LIFT = 0.2
FEWEST_FILLED = 0.02
LEVEL_ROWS = 10
MOST_CODES = 20
CODING_LIMIT = 0.99
USUAL_LIMIT = 0.95


def outcome_leak(column: "pd.Series[Any]", y: NDArray[np.int8]) -> str:
    """Return why a column gives the outcome away, or "".

    Where it is filled in, the column alone separates the outcomes: the area under the
    ROC curve is at least 0.95. Or the rows where it is filled in have one outcome in
    90 %, and 20 points less overall.
    """
    filled = column.notna().to_numpy()
    if not filled.mean() >= FEWEST_FILLED:
        return ""
    area = _area(column[filled], y[filled])
    if area >= AUC_LIMIT:
        return f"by itself it separates the outcomes (AUC {area:.3f})"
    share = max(y[filled].mean(), 1 - y[filled].mean())
    if share >= FILLED_LIMIT and share - max(y.mean(), 1 - y.mean()) >= FILLED_LIFT:
        return f"where it is filled in, {share:.0%} of rows have one outcome"
    return ""


def encodes_group(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Tell whether a column of few values is another coding of the groups, -1 for none.

    It is when the commonest group of each value is right for 99 % of the rows, and one
    group alone for at most 95 %.
    """
    if not 1 < column_kinds.count_values(column, MOST_CODES) <= MOST_CODES:
        return False
    codes, _ = column_kinds.label_codes(column)
    present = (codes >= 0) & (group >= 0)
    if not present.any():
        return False
    shape = codes.max() + 1, group.max() + 1
    cells = np.ravel_multi_index((codes[present], group[present]), shape)
    table = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    right = table.max(axis=1).sum() / table.sum()
    usual = table.sum(axis=0).max() / table.sum()
    return bool(right >= CODING_LIMIT and usual <= USUAL_LIMIT)


def _area(column: "pd.Series[Any]", y: NDArray[np.int8]) -> float:
    # A category is scored by the rate of the outcome in its level; levels of fewer than
    # ten rows, whose rate is mostly the row itself, get the overall rate.
    if y.min() == y.max():
        return 0.5
    if column_kinds.is_number(column):
        score = column.to_numpy(dtype=float)
    else:
        codes, labels = column_kinds.label_codes(column)
        counts = np.bincount(codes, minlength=len(labels))
        sums = np.bincount(codes, weights=y, minlength=len(labels))
        rates = np.where(counts >= LEVEL_ROWS, sums / np.maximum(counts, 1), y.mean())
        score = rates[codes]
    # by ranks: checks that a library makes of every column take a hundred times longer
    n_positive = int(y.sum())
    n_pairs = n_positive * (len(y) - n_positive)
    below = rankdata(score)[y == 1].sum() - n_positive * (n_positive + 1) / 2
    area = float(below / n_pairs)
    return max(area, 1 - area)


def leak_findings(used: UsedRows, names: list[str]) -> Iterator[Problem]:
    """Yield the features that may give the outcome away, among the first of many."""
    rows = column_kinds.some_rows(len(used.table))
    for name in names[: column_kinds.SCREEN_COLUMNS]:
        reason = outcome_leak(used.table[name].iloc[rows], used.y[rows])
        if reason:
            yield Problem(
                "warning",
                "leak",
                name,
                len(used.table),
                f"The feature {name!r} may give the outcome away: {reason}.",
                "Remove it if it is known only after the outcome or made from it.",
                Remedy(
                    kind="leave_out", column=name, reason="may give the outcome away"
                ),
            )
