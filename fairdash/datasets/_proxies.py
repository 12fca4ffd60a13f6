"""Which features tell the sensitive attribute, ranked by what a small model finds."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from fairdash.datasets._columns import is_number, label_codes
from fairdash.datasets._giveaway import gives_group_away
from fairdash.datasets._groups import group_codes
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import UsedRows

SAMPLE_ROWS = 20_000
FEWEST_ROWS = 20  # of a group on either half
TREE = {"max_depth": 4, "min_samples_leaf": 20, "random_state": 0}
ALL_FEATURES = "(all together)"
STRONG, NOTABLE = 0.9, 0.7
MOST_LISTED = 5


def rank_proxies(
    frame: pd.DataFrame, roles: Roles, features: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """Rank features by how well each alone tells the group of a row.

    A decision tree of depth 4 learns each group (against all others) from one feature
    on one half of the rows and is scored on the other half by the area under the ROC
    curve: 1/2 for a feature that says nothing, 1 for one that says all. With several
    groups the largest area counts. The last row adds up the log odds of all trees, a
    naive Bayes model of all features.

    Parameters
    ----------
    frame : DataFrame
        Prepared rows; of more than 20,000 a random sample is used.
    roles : Roles
    features : tuple of str, optional
        By default ``roles.features``.

    Returns
    -------
    DataFrame
        ``column``, ``group`` (that it tells best), ``auc`` and ``n_rows`` (scored), the
        best first, then "(all together)". Empty if no group has enough rows.
    """
    features = roles.features if features is None else features
    if len(frame) > SAMPLE_ROWS:
        frame = frame.sample(SAMPLE_ROWS, random_state=0)
    group, names = group_codes(frame, roles)
    learn = np.random.default_rng(0).permutation(len(frame)) % 2 == 0
    ranks: list[tuple[str, str, float, int]] = []
    together: list[tuple[str, str, float, int]] = []
    for position, name in enumerate(names):
        member = group == position
        sides = [member[learn], member[~learn]]
        if any(min(s.sum(), (~s).sum()) < FEWEST_ROWS for s in sides):
            continue
        total = np.zeros(int((~learn).sum()))
        for feature in features:
            odds = _log_odds(frame[feature], member, learn)
            area = float(roc_auc_score(member[~learn], odds))
            ranks.append((feature, name, area, len(total)))
            total += odds
        area = float(roc_auc_score(member[~learn], total))
        together.append((ALL_FEATURES, name, area, len(total)))
    columns = ["column", "group", "auc", "n_rows"]
    table = pd.DataFrame([*ranks, *together], columns=columns)
    table = table.sort_values("auc", ascending=False, kind="stable")
    table = table.drop_duplicates("column")
    last = table["column"] == ALL_FEATURES
    return pd.concat([table[~last], table[last]], ignore_index=True)


def proxy_findings(used: UsedRows, roles: Roles, names: list[str]) -> Iterator[Problem]:
    """Yield the features that tell the group with an AUC of 0.7 or more, ranked.

    Parameters
    ----------
    used : UsedRows
    roles : Roles
    names : list of str
        Features that are no error already.
    """
    table = used.table
    # another coding of the groups is a finding of its own
    rest = tuple(n for n in names if not gives_group_away(table[n], used.group))
    ranked = rank_proxies(table, roles, rest)
    if ranked.empty:
        return
    both = float(ranked["auc"].iloc[-1])
    alone = ranked[:-1].query("auc >= @NOTABLE")
    sampled = len(table) > SAMPLE_ROWS
    where = f"a sample of {SAMPLE_ROWS:,} rows" if sampled else "the rows"
    listed = alone.head(MOST_LISTED).to_dict("records")
    for place, row in enumerate(listed, start=1):
        column, area = str(row["column"]), float(row["auc"])
        yield Problem(
            "warning" if area >= STRONG else "note",
            "tells the group",
            column,
            len(table),
            (),
            f"The feature {column!r} tells {row['group']!r} with AUC {area:.2f}, "
            f"number {place} of {len(rest)} features; all together {both:.2f} "
            f"(trees scored on a held-out half of {where}).",
            "Remove it if the model should not know; the others may tell it as well.",
            Remedy(
                kind="leave_out",
                column=column,
                reason=f"tells {roles.sensitive_feature} (AUC {area:.2f})",
            ),
        )


def _log_odds(
    column: "pd.Series[Any]", member: NDArray[np.bool_], learn: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the log odds of membership of the rows not learnt from."""
    x = _as_number(column, member, learn)[:, None]
    tree = DecisionTreeClassifier(**TREE).fit(x[learn], member[learn])
    p = np.clip(tree.predict_proba(x[~learn])[:, 1], 1e-6, 1 - 1e-6)
    base = member[learn].mean()
    odds: NDArray[np.float64] = np.log(p / (1 - p)) - np.log(base / (1 - base))
    return odds


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
