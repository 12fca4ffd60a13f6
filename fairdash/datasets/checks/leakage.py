"""Columns that tell too much: the outcome, or the group."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import UsedRows, group_codes
from fairdash.datasets.column_kinds import (
    count_values,
    is_number,
    label_codes,
    some_rows,
)

AUC_LIMIT = 0.95
FILLED_LIMIT = 0.9
FILLED_LIFT = 0.2
FEWEST_FILLED = 0.02
LEVEL_ROWS = 10
MOST_CODES = 20
CODING_LIMIT = 0.99
USUAL_LIMIT = 0.95
SAMPLE_ROWS = 20_000
FEWEST_ROWS = 20  # of a group on either half
TREE = {"max_depth": 4, "min_samples_leaf": 20, "random_state": 0}
STRONG, NOTABLE = 0.9, 0.7
MOST_LISTED = 5


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
        return f"it alone separates the outcomes (AUC {area:.3f})"
    share = max(y[filled].mean(), 1 - y[filled].mean())
    if share >= FILLED_LIMIT and share - max(y.mean(), 1 - y.mean()) >= FILLED_LIFT:
        return f"where it is filled in, {share:.0%} of rows have one outcome"
    return ""


def encodes_group(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Tell whether a column of few values is another coding of the groups, -1 for none.

    It is when the commonest group of each value is right for 99 % of the rows, and one
    group alone for at most 95 %.
    """
    if not 1 < count_values(column, MOST_CODES) <= MOST_CODES:
        return False
    codes, _ = label_codes(column)
    present = (codes >= 0) & (group >= 0)
    if not present.any():
        return False
    table = pd.crosstab(codes[present], group[present]).to_numpy()
    right = table.max(axis=1).sum() / table.sum()
    usual = table.sum(axis=0).max() / table.sum()
    return bool(right >= CODING_LIMIT and usual <= USUAL_LIMIT)


def _area(column: "pd.Series[Any]", y: NDArray[np.int8]) -> float:
    """Return the area under the ROC curve of a column on its own, at least 1/2.

    A category is scored by the rate of the outcome in its level; levels of fewer than
    ten rows, whose rate is mostly the row itself, get the overall rate.
    """
    if y.min() == y.max():
        return 0.5
    if is_number(column):
        score = column.to_numpy(dtype=float)
    else:
        codes, labels = label_codes(column)
        counts = np.bincount(codes, minlength=len(labels))
        sums = np.bincount(codes, weights=y, minlength=len(labels))
        rates = np.where(counts >= LEVEL_ROWS, sums / np.maximum(counts, 1), y.mean())
        score = rates[codes]
    area = float(roc_auc_score(y, score))
    return max(area, 1 - area)


def rank_proxies(
    frame: pd.DataFrame, roles: Roles, features: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """Rank features by how well each alone tells the group of a row.

    A decision tree of depth 4 learns each group (against all others) from one feature
    on one half of the rows and is scored on the other half by the area under the ROC
    curve; of several groups the largest counts.

    Of more than 20,000 rows a random sample is used.

    Returns
    -------
    DataFrame
        ``column``, ``group`` (that it tells best) and ``auc``, the best first. Empty if
        no group has enough rows.
    """
    features = roles.features if features is None else features
    if len(frame) > SAMPLE_ROWS:
        frame = frame.sample(SAMPLE_ROWS, random_state=0)
    group, names = group_codes(frame, roles)
    learn = np.random.default_rng(0).permutation(len(frame)) % 2 == 0
    ranks: list[tuple[str, str, float]] = []
    for position, name in enumerate(names):
        member = group == position
        sides = [member[learn], member[~learn]]
        if any(min(s.sum(), (~s).sum()) < FEWEST_ROWS for s in sides):
            continue
        for feature in features:
            x = _as_number(frame[feature], member, learn)[:, None]
            tree = DecisionTreeClassifier(**TREE).fit(x[learn], member[learn])
            p = tree.predict_proba(x[~learn])[:, 1]
            ranks.append((feature, name, float(roc_auc_score(member[~learn], p))))
    table = pd.DataFrame(ranks, columns=["column", "group", "auc"])
    table = table.sort_values("auc", ascending=False, kind="stable")
    return table.drop_duplicates("column", ignore_index=True)


def leak_findings(used: UsedRows, names: list[str]) -> Iterator[Problem]:
    """Yield the features that may give the outcome away."""
    rows = some_rows(len(used.table))
    for name in names:
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


def proxy_findings(used: UsedRows, roles: Roles, names: list[str]) -> Iterator[Problem]:
    """Yield the features that tell the group with an AUC of 0.7 or more, ranked."""
    table = used.table
    ranked = rank_proxies(table, roles, tuple(names))
    listed = ranked[ranked["auc"] >= NOTABLE].head(MOST_LISTED).to_dict("records")
    for place, row in enumerate(listed, start=1):
        column, area = str(row["column"]), float(row["auc"])
        yield Problem(
            "warning" if area >= STRONG else "note",
            "tells the group",
            column,
            len(table),
            f"The feature {column!r} tells {row['group']!r} with AUC {area:.2f}, "
            f"number {place} of {len(names)} features (a tree scored on a held-out "
            "half).",
            "Remove it if the model should not know; the others may tell it as well.",
            Remedy(
                kind="leave_out",
                column=column,
                reason=f"tells {roles.sensitive_feature} (AUC {area:.2f})",
            ),
        )


def _as_number(
    column: "pd.Series[Any]", member: NDArray[np.bool_], learn: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return numbers as they are and a category as the share of members in it."""
    if is_number(column):
        x = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(np.isinf(x), np.nan, x)
    codes, labels = label_codes(column)
    codes = np.where(codes < 0, len(labels), codes)
    n = np.bincount(codes[learn], minlength=len(labels) + 1)
    hits = np.bincount(codes[learn], member[learn], minlength=len(labels) + 1)
    base = member[learn].mean()
    shares: NDArray[np.float64] = (hits + base) / (n + 1)
    return shares[codes]
