"""Proxies: features that predict the group, so that a model may use them for it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom, norm, rankdata

from fairdash._arrays import Codes
from fairdash._validation import CROSS
from fairdash._wording import number, percent
from fairdash.datasets import column_kinds
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import UsedRows

ROWS = 10_000  # that a feature is looked at in
ERROR = 0.05  # share of tables of independent features with a false finding
AREA = 0.8  # of a number that tells the group
FEWER_ERRORS = 0.5  # share of the wrong guesses of a group that a feature saves
FEWEST = 10  # rows of a group that a number is asked to tell from all others
MOST_BINS = 20  # of a number of many values
MOST_VALUES = 50  # of a number that is asked value by value

_REMEDY = (
    "Remove it if it stands for the group; keep it if people may be told apart by it. "
    "Compare both."
)


class Association(NamedTuple):
    """How well a feature predicts the group, and how surely better than by chance.

    Attributes
    ----------
    is_strong : bool
        Whether it predicts far better than chance, not only surely so.
    p : float
        P-value of the hypothesis that the feature is independent of the group.
    words : str
    """

    is_strong: bool
    p: float
    words: str


def proxy_findings(used: UsedRows, roles: Roles, names: list[str]) -> Iterator[Problem]:
    """Yield the features that tell the sensitive group, among the first of many.

    A number by the area under the ROC curve of a group against all others; any feature
    by how often the group that is commonest at its value is right in rows that took no
    part in saying so. Both are far above chance, and p is below `ERROR` by Bonferroni's
    correction over features, groups and ways.
    """
    sensitive = roles.sensitive_columns()
    features = [name for name in names if name not in sensitive]
    features = features[: column_kinds.SCREEN_COLUMNS]
    rows = _rows(used, roles)
    group = used.group[rows]
    associations = {
        name: list(_associations(used.table[name].iloc[rows], group))
        for name in features
    }
    n_tests = sum(map(len, associations.values()))
    group_name = CROSS.join(sensitive)
    for name, tests in associations.items():
        strong = [
            test for test in tests if test.is_strong and test.p * n_tests <= ERROR
        ]
        if not strong:
            continue
        surest = min(strong, key=lambda test: test.p)
        yield Problem(
            "warning",
            "proxy",
            name,
            len(used.table),
            f"The feature {name!r} tells {group_name!r}: {surest.words}.",
            _REMEDY,
            Remedy(kind="leave_out", column=name, reason=f"tells {group_name}"),
        )


def _rows(used: UsedRows, roles: Roles) -> Codes:
    """Return the positions of some rows in random order, one of each unit.

    Further rows of a unit are not independent of the first.
    """
    rng = np.random.default_rng(0)
    positions = np.flatnonzero(used.group >= 0)
    if roles.unit is not None:
        unit = pd.factorize(used.table[roles.unit].iloc[positions])[0]
        order = rng.permutation(len(positions))
        _, first = np.unique(unit[order], return_index=True)
        positions = positions[order[first]]
    if len(positions) > ROWS:
        positions = rng.choice(positions, ROWS, replace=False, shuffle=False)
    return rng.permutation(positions)


def _associations(column: "pd.Series[Any]", group: Codes) -> Iterator[Association]:
    """Yield the tests of a feature against the group."""
    if column_kinds.is_number(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        values = np.where(np.isinf(values), np.nan, values)
        yield from _by_rank(values, group)
        levels = _bins(values)
    else:
        levels = pd.factorize(column.astype(object))[0]
    # A missing value, -1, becomes a level of its own, 0.
    yield _by_level(levels.astype(np.int64) + 1, group)


def _by_rank(values: NDArray[np.float64], group: Codes) -> Iterator[Association]:
    """Yield how well a number separates each group from all others: Mann and Whitney.

    The normal approximation, with the correction for ties.
    """
    present = np.isfinite(values)
    ranks = rankdata(values[present])
    n = len(ranks)
    if n < 2 * FEWEST:
        return
    sizes = np.bincount(group[present])
    rank_sums = np.bincount(group[present], ranks)
    _, ties = np.unique(ranks, return_counts=True)
    tie_correction = (ties**3.0 - ties).sum() / (n * (n - 1.0))
    large = np.flatnonzero((sizes >= FEWEST) & (n - sizes >= FEWEST))
    if np.count_nonzero(sizes) == 2:  # the area of one group is that of the other
        large = large[:1]
    for code in large:
        n_in = float(sizes[code])
        n_out = float(n - sizes[code])
        u = rank_sums[code] - n_in * (n_in + 1) / 2
        area = float(u / (n_in * n_out))
        area = max(area, 1 - area)
        error = np.sqrt(n_in * n_out / 12 * (n + 1 - tie_correction))
        z = (area - 0.5) * n_in * n_out / error if error else 0.0
        words = f"its AUC for a group is {number(area, 2)}, .5 by chance"
        yield Association(area >= AREA, 2 * float(norm.sf(z)), words)


def _by_level(levels: Codes, group: Codes) -> Association:
    """Return how often the commonest group of a level is right, out of fold.

    It is compared with the commonest group of all rows, on rows where the two guesses
    differ and one is right: with an independent feature, the level's guess is right in
    half of these at most.
    """
    commonest = int(np.bincount(group, minlength=1).argmax())
    half = len(group) // 2
    first = slice(None, half)
    second = slice(half, None)
    n_right = n_right_without = 0
    p = 1.0
    for training, test in ((second, first), (first, second)):
        guess = _commonest_by_level(levels, group, training, commonest)
        right = guess[levels[test]] == group[test]
        right_without = group[test] == commonest
        n_right += int(right.sum())
        n_right_without += int(right_without.sum())
        gained = int((right & ~right_without).sum())
        lost = int((right_without & ~right).sum())
        # Only the last fold counts: errors of two folds that learn from each other are
        # not independent.
        p = float(binom.sf(gained - 1, gained + lost, 0.5))
    n = max(len(group), 1)
    errors_saved = (n_right - n_right_without) / max(n - n_right_without, 1)
    words = (
        "the group that is commonest at its value is right for "
        f"{percent(n_right / n, 0)} of rows, {percent(n_right_without / n, 0)} without "
        "it"
    )
    return Association(errors_saved >= FEWER_ERRORS, p, words)


def _commonest_by_level(
    levels: Codes, group: Codes, training: slice, default: int
) -> Codes:
    """Return the commonest group of each level in some rows.

    It is the default where the level has no rows, or where both are as common.
    """
    n_levels = int(levels.max(initial=0)) + 1
    n_groups = int(group.max(initial=0)) + 1
    cell = levels[training] * n_groups + group[training]
    counts = np.bincount(cell, minlength=n_levels * n_groups)
    table = counts.reshape(n_levels, n_groups)
    guess = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), default)
    is_tied = table[:, default] == table.max(axis=1)
    return np.where(is_tied, default, guess)


def _bins(values: NDArray[np.float64]) -> Codes:
    """Return the value of few, else the bin of equally many rows; -1 where missing."""
    codes, distinct = pd.factorize(values)
    if len(distinct) <= MOST_VALUES:
        return codes.astype(np.int64)
    cuts = np.nanquantile(values, np.arange(1, MOST_BINS) / MOST_BINS)
    bins = np.searchsorted(np.unique(cuts), values, side="right")
    return np.where(np.isnan(values), -1, bins).astype(np.int64)
