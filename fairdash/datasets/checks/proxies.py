"""Features that stand in for the group: a model may use them in its place."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom, norm, rankdata

from fairdash._validation import CROSS
from fairdash._wording import number, percent
from fairdash.datasets import column_kinds
from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import UsedRows

ROWS = 10_000  # that a feature is looked at in
ERROR = 0.05  # share of tables of independent features with a false finding
AREA = 0.8  # of a number that tells the group
FEWER_ERRORS = 0.5  # share of the wrong guesses of a group that a feature saves
FEWEST = 10  # rows of a group that a number is asked to tell from all others
MOST_BINS = 20  # of a number of many values
MOST_VALUES = 50  # of a number that is asked value by value

Codes = NDArray[np.int64]
_REMEDY = (
    "Remove it if it stands for the group; keep it if people may be told apart by it. "
    "Compare both."
)


class Telling(NamedTuple):
    """How well a feature tells the group, and how surely better than by chance.

    Attributes
    ----------
    far : bool
        Whether it tells it far better than chance does, not only surely so.
    p : float
        Of the hypothesis that the feature is independent of the group.
    words : str
    """

    far: bool
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
    asked = [name for name in names if name not in sensitive]
    asked = asked[: column_kinds.SCREEN_COLUMNS]
    rows = _rows(used, roles)
    group = used.group[rows]
    told = [list(_ways(used.table[name].iloc[rows], group)) for name in asked]
    n_tests = sum(map(len, told))
    for name, ways in zip(asked, told, strict=True):
        far = [way for way in ways if way.far and way.p * n_tests <= ERROR]
        if not far:
            continue
        best = min(far, key=lambda way: way.p)
        about = CROSS.join(sensitive)
        yield Problem(
            "warning",
            "proxy",
            name,
            len(used.table),
            f"The feature {name!r} tells {about!r}: {best.words}.",
            _REMEDY,
            Remedy(kind="leave_out", column=name, reason=f"tells {about}"),
        )


def _rows(used: UsedRows, roles: Roles) -> Codes:
    """Return the places of some rows; of a unit one row, for others are no news."""
    rng = np.random.default_rng(0)
    places = np.flatnonzero(used.group >= 0)
    if roles.unit is not None:
        unit = pd.factorize(used.table[roles.unit].iloc[places])[0]
        order = rng.permutation(len(places))
        first = np.unique(unit[order], return_index=True)[1]
        places = places[order[first]]
    if len(places) > ROWS:
        places = rng.choice(places, ROWS, replace=False, shuffle=False)
    return rng.permutation(places)


def _ways(column: "pd.Series[Any]", group: Codes) -> Iterator[Telling]:
    if column_kinds.is_number(column):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        values = np.where(np.isinf(values), np.nan, values)
        yield from _by_rank(values, group)
        levels = _bins(values)
    else:
        levels = pd.factorize(column.astype(object))[0]
    yield _by_level(levels.astype(np.int64) + 1, group)


def _by_rank(values: NDArray[np.float64], group: Codes) -> Iterator[Telling]:
    """Yield how well a number tells each group from all others: Mann and Whitney."""
    present = np.isfinite(values)
    ranks, inside = rankdata(values[present]), group[present]
    n = len(ranks)
    sizes = np.bincount(inside)
    if n < 2 * FEWEST:
        return
    _, ties = np.unique(ranks, return_counts=True)
    tied = (ties**3.0 - ties).sum() / (n * (n - 1.0))
    sums = np.bincount(inside, ranks)
    some = np.flatnonzero((sizes >= FEWEST) & (n - sizes >= FEWEST))
    if np.count_nonzero(sizes) == 2:  # what tells one tells the other
        some = some[:1]
    for code in some:
        own, rest = float(sizes[code]), float(n - sizes[code])
        above = sums[code] - own * (own + 1) / 2
        area = float(above / (own * rest))
        area = max(area, 1 - area)
        spread = np.sqrt(own * rest / 12 * (n + 1 - tied))
        z = (area - 0.5) * own * rest / spread if spread else 0.0
        words = f"its AUC for a group is {number(area, 2)}, .5 by chance"
        yield Telling(area >= AREA, 2 * float(norm.sf(z)), words)


def _by_level(levels: Codes, group: Codes) -> Telling:
    """Return how often the commonest group of a level is right, out of fold.

    Against the commonest group of all rows, on rows where the two guesses differ and
    one is right: of an independent feature, the level's is so in half of them at most.
    """
    n_levels, n_groups = int(levels.max(initial=0)) + 1, int(group.max(initial=0)) + 1
    half = len(group) // 2
    folds = slice(None, half), slice(half, None)
    commonest = int(np.bincount(group, minlength=1).argmax())
    right = usual = 0
    p = 1.0
    for learned, asked in (folds[::-1], folds):
        cell = levels[learned] * n_groups + group[learned]
        counts = np.bincount(cell, minlength=n_levels * n_groups)
        table = counts.reshape(n_levels, n_groups)
        guess = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), commonest)
        tied = table[:, commonest] == table.max(axis=1)
        guess = np.where(tied, commonest, guess)
        by_level = guess[levels[asked]] == group[asked]
        by_all = group[asked] == commonest
        right += int(by_level.sum())
        usual += int(by_all.sum())
        gained = int((by_level & ~by_all).sum())
        lost = int((by_all & ~by_level).sum())
        # of the last fold only: errors of two folds that learn of each other are not
        # independent
        p = float(binom.sf(gained - 1, gained + lost, 0.5))
    n = max(len(group), 1)
    saved = (right - usual) / max(n - usual, 1)
    words = (
        "the group that is commonest at its value is right for "
        f"{percent(right / n, 0)} of rows, {percent(usual / n, 0)} without it"
    )
    return Telling(saved >= FEWER_ERRORS, p, words)


def _bins(values: NDArray[np.float64]) -> Codes:
    """Return the value of few, else the bin of equally many rows; -1 where missing."""
    codes, distinct = pd.factorize(values)
    if len(distinct) <= MOST_VALUES:
        return codes.astype(np.int64)
    cuts = np.nanquantile(values, np.arange(1, MOST_BINS) / MOST_BINS)
    bins = np.searchsorted(np.unique(cuts), values, side="right")
    return np.where(np.isnan(values), -1, bins).astype(np.int64)
