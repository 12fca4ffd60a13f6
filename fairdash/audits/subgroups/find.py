"""Subgroups that nobody named in which a model is unfair, beyond chance."""

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from fairdash._validation import (
    check_lengths,
    check_non_negative,
    check_one_of,
    check_whole,
    encode_groups,
    value_label,
)
from fairdash.audits.subgroups.chance import permute
from fairdash.audits.subgroups.counts import (
    Rows,
    SearchColumn,
    describe,
    search_columns,
)
from fairdash.audits.subgroups.search import (
    Limits,
    Listed,
    search,
    without_redundant,
)
from fairdash.audits.subgroups.statistic import gap_between, holm, widest_pair
from fairdash.metrics import RATES, binary_vector, divide, linearised, unit_codes

SEARCHED_MEASURES = RATES
_LOOKED_AT = 500  # best subgroups that the list is made of
_REASONS = 6  # columns named in an error
_COLUMNS = [
    "subgroup", "conditions", "n", "lower", "higher", "rate_lower", "rate_higher",
    "n_lower", "n_higher", "gap", "ci_low", "ci_high", "z", "p_adjusted", "inside",
    "folded",
]  # fmt: skip


def find_subgroups(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    frame: pd.DataFrame,
    y_true: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    depth: int = 3,
    min_size: int = 50,
    measure: str = "selection_rate",
    alpha: float = 0.05,
    bins: int = 6,
    strata: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    beyond_overall: bool = False,
    confirm: bool | ArrayLike = False,
    n_permutations: int = 199,
    most: int = 20,
    random_state: int | None = None,
) -> pd.DataFrame:
    r"""Search all conjunctions of conditions for gaps between groups.

    A number of more than four different values is cut in ``bins`` quantile bins, and a
    condition is one bin, or all rows below or above a cut; other columns have their
    commonest levels, and two of them where they have at most six. Every conjunction of
    up to ``depth`` conditions on different columns with ``min_size`` rows is searched,
    for the pair of groups whose rates differ most in standard errors, exactly.

    **Null hypothesis.** In none of the subgroups searched do the rates differ between
    groups. Group labels are permuted inside ``strata`` (all rows, if none are given)
    and the largest studentised gap of *all* subgroups is taken each time. If groups are
    exchangeable in a stratum given columns and values, adjusted p-values are exact.
    Without that, where groups differ in their columns or some subgroups have a gap and
    others have none, studentising keeps them valid in large samples. So a gap that all
    rows share makes this null false in most subgroups, as it should; with
    ``beyond_overall`` the null is that the gap inside a subgroup is that of the rows
    outside it, and group and value are permuted together against the columns.

    Parameters
    ----------
    frame : DataFrame of n_rows rows
        Columns to search. A column that equals ``sensitive_features`` row by row is not
        searched.
    y_true : array-like of 0/1, (n_rows,), optional
        Outcomes; only the selection rate does without.
    depth : int, default=3
        Most conditions of a subgroup.
    min_size : int, default=50
        Fewest rows of a subgroup that the measure is about.
    alpha : float, default=0.05
        Family-wise error; intervals hold jointly with probability 1 - ``alpha``.
    strata : array-like of shape (n_rows,), optional
        Groups are compared with labels permuted inside these alone: a gap that strata
        explain is not beyond chance.
    cluster : array-like of shape (n_rows,), optional
        Unit of each row, such as a person with several visits. Whole units are permuted
        and put into a half to confirm, and what is confirmed has the linearised
        standard error over units: rows that repeat a person find nothing new.
    beyond_overall : bool, default=False
        Look for gaps that differ from the gap of all other rows.
    confirm : bool or array-like of bool, (n_rows,), default=False
        Which rows confirm: the others are searched, down to the cuts of numbers, and
        what is listed is tested on these, with Holm's adjustment for the list only.
        True is a random half, and ``min_size`` then counts the rows of both halves;
        else it counts the rows that confirm, and in proportion those searched.
    n_permutations : int, default=199
        The smallest p-value is 1 / (1 + this).

    Returns
    -------
    DataFrame, best first, one row per subgroup that no better one explains:
    ``subgroup`` in words, ``conditions`` (`Condition`), ``n`` rows that the measure is
    about, ``lower`` and ``higher`` group, ``rate_lower``, ``rate_higher``, ``n_lower``,
    ``n_higher``, ``gap`` (higher minus lower rate; with ``beyond_overall`` less the
    same difference outside), ``ci_low``, ``ci_high`` (simultaneous), ``z``,
    ``p_adjusted`` (step-down), ``inside`` (place in the list of the smallest
    subgroup that it is a part of, or -1) and ``folded`` (how many of the best 500 by
    either order it explains). ``attrs``
    holds ``n_searched``, ``critical`` (of ``z``, at ``alpha``) and ``skipped`` (columns
    not searched, with the reason).

    Raises
    ------
    ValueError
        If no column can be searched, ``min_size`` exceeds the rows that the measure is
        about, labels are not 0/1, lengths differ, ``confirm`` leaves no row to search,
        or the measure is unknown or needs ``y_true``.

    References
    ----------
    P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
    J. P. Romano and M. Wolf (2005), Exact and approximate stepdown methods for multiple
    hypothesis testing. JASA 100, 94-108.
    """
    for name, whole in (("depth", depth), ("min_size", min_size), ("most", most)):
        check_whole(name, whole, at_least=1)
    check_whole("bins", bins, at_least=2)
    check_whole("n_permutations", n_permutations, at_least=1)
    check_non_negative("alpha", alpha)
    if not 0 < alpha < 1:
        raise ValueError(f"`alpha` must lie between 0 and 1, got {alpha!r}.")
    check_one_of("measure", measure, SEARCHED_MEASURES)
    about, value = _values(y_pred, y_true, measure)
    names, group = encode_groups(sensitive_features, value)
    if len(frame) != len(value):
        message = f"`frame` has {len(frame):,} rows, `y_pred` {len(value):,}"
        raise ValueError(f"{message}; give the rows that were predicted.")
    stratum = np.zeros(len(value), np.int64)
    if strata is not None:
        stratum = pd.factorize(np.asarray(strata), use_na_sentinel=False)[0]
    unit = unit_codes(cluster, len(value))
    rng = np.random.default_rng(random_state)
    confirming, least = _confirming(confirm, about, min_size, measure, rng, unit)
    searching = about & ~confirming
    own = frame[searching].reset_index(drop=True)
    wanted, skipped = _columns(frame, columns, group)
    searched, unfit = search_columns(own, wanted, bins=bins, min_size=least)
    skipped |= unfit
    if not searched:
        raise ValueError(_nothing_left(skipped))

    def rows_at(where: NDArray[np.bool_], columns: Sequence[SearchColumn]) -> Rows:
        n_strata = int(stratum.max()) + 1
        own = value[where], group[where], len(names), stratum[where], n_strata
        return Rows(columns, *own, None if unit is None else unit[where])

    how = _How(depth, least, n_permutations, most, alpha, beyond_overall)
    table = _searched(rows_at(searching, searched), how, rng)
    if confirming.any():
        table = _confirmed(table, rows_at(confirming, ()), frame[confirming], how)
    for side in ("lower", "higher"):
        table[side] = [value_label(names[k]) for k in table[side]]
    table.attrs["skipped"] = skipped
    return table


class _How(NamedTuple):
    """Settings of a search, as in `find_subgroups`."""

    depth: int
    min_size: int
    n_permutations: int
    most: int
    alpha: float
    beyond: bool


def _searched(rows: Rows, how: _How, rng: np.random.Generator) -> pd.DataFrame:
    """Search all rows, and test against the largest of all subgroups."""
    limits = Limits(how.depth, how.min_size, how.beyond)
    found = search(rows, limits, most=_LOOKED_AT)
    if not len(found.score):
        raise ValueError(
            f"No subgroup has {how.min_size:,} of the {len(rows):,} rows searched; "
            "choose a smaller `min_size`."
        )
    chance = permute(
        rows,
        found,
        limits,
        n_permutations=how.n_permutations,
        random_state=int(rng.integers(2**31)),
    )
    critical = chance.critical(how.alpha)
    certain = search(
        rows, limits, most=_LOOKED_AT, critical=critical, known_best=found.best
    )
    listed = without_redundant(
        rows,
        # what is not beyond chance comes last, by its statistic
        dict.fromkeys([*certain.all_conditions(rows), *found.all_conditions(rows)]),
        critical=critical,
        most=how.most,
        beyond=how.beyond,
    )
    table = _table(rows, listed, critical, beyond=how.beyond)
    table["p_adjusted"] = chance.p_values(table["z"])
    table = table[_COLUMNS]
    table.attrs |= {"n_searched": chance.n_searched, "critical": critical}
    return table


def _confirming(
    confirm: bool | ArrayLike,
    about: NDArray[np.bool_],
    min_size: int,
    measure: str,
    rng: np.random.Generator,
    unit: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.bool_], int]:
    """Return which rows confirm, and the fewest rows of a subgroup that is searched."""
    confirming, counted = np.zeros(len(about), bool), about
    given = np.asarray(confirm)
    if given.ndim:
        if given.dtype != bool or given.shape != about.shape:
            raise ValueError(
                "`confirm` must be True, False or one of these for every row, got an "
                f"array of {given.dtype} of shape {given.shape}."
            )
        counted = confirming = given & about
        if not (about & ~confirming).any():
            raise ValueError(
                f"`confirm` leaves no row to search that {measure!r} is about."
            )
    n = int(counted.sum())
    if n < min_size:
        raise ValueError(
            f"`min_size` is {min_size:,}, but {measure!r} is about {n:,} rows in all"
            f"{' that confirm' if given.ndim else ''}; choose a smaller size, or "
            "another measure."
        )
    if given.ndim:  # in proportion to all rows: which the measure is about, these say
        return confirming, ceil(min_size * (~given).sum() / given.sum())
    if not confirm:
        return confirming, min_size
    if unit is None:
        confirming[np.flatnonzero(about)[rng.permutation(n) >= n // 2]] = True
    else:
        n_units = int(unit.max()) + 1
        confirming = about & (rng.permutation(n_units) >= n_units // 2)[unit]
    return confirming, max(1, min_size // 2)


def _confirmed(
    searched: pd.DataFrame, rest: Rows, frame: pd.DataFrame, how: _How
) -> pd.DataFrame:
    """Test what a search has listed on rows that it did not see."""
    again, held_by = [], []
    for conditions, inside in zip(
        searched["conditions"], searched["inside"], strict=True
    ):
        held = np.logical_and.reduce([one.holds(frame) for one in conditions])
        held_by.append(held)
        counts = np.bincount(rest.kind[held], minlength=2 * rest.n_groups)
        again.append(Listed(conditions, counts.reshape(-1, 2).astype(float), inside))
    pairs = searched[["lower", "higher"]].to_numpy().T
    critical = float(-ndtri(how.alpha / max(1, len(again)) / 2))
    table = _table(
        rest, again, critical, beyond=how.beyond, pairs=pairs, held_by=held_by
    )
    p = 2 * ndtr(-np.abs(table["z"].to_numpy()))
    # in the direction found: the gap may have turned
    table["p_adjusted"] = holm(p)
    table["folded"] = searched["folded"]
    table = table[_COLUMNS]
    n_searched = searched.attrs["n_searched"]
    table.attrs |= {"n_searched": n_searched, "critical": critical}
    return table


def _table(
    rows: Rows,
    listed: Sequence[Listed],
    critical: float,
    *,
    beyond: bool,
    pairs: Any = None,
    held_by: Sequence[NDArray[np.bool_]] = (),
) -> pd.DataFrame:
    """Return the rates, gap and interval of subgroups, groups by number."""
    counts = np.stack([one.counts for one in listed], axis=-1)
    total = rows.total if beyond else None
    low, high = widest_pair(counts, total) if pairs is None else pairs
    middle, variance = gap_between(counts, low, high, total)
    at = np.arange(len(listed))
    n = counts.sum(1)
    raw = divide(counts[:, 1], n)
    gap = raw[high, at] - raw[low, at]
    if total is not None:
        rest = total[..., None] - counts
        other = divide(rest[:, 1], rest.sum(1))
        gap = gap - (other[high, at] - other[low, at])
    if rows.unit is not None and len(held_by):
        variance *= [
            _more_by_units(rows, held, pair, critical)
            for held, *pair in zip(held_by, low, high, strict=True)
        ]
    error = np.sqrt(variance)
    end = 2.0 if beyond else 1.0
    return pd.DataFrame(
        {
            "subgroup": [describe(one.conditions) for one in listed],
            "conditions": [one.conditions for one in listed],
            "n": n.sum(0).astype(np.int64),
            "lower": low,
            "higher": high,
            "rate_lower": raw[low, at],
            "rate_higher": raw[high, at],
            "n_lower": n[low, at].astype(np.int64),
            "n_higher": n[high, at].astype(np.int64),
            "gap": gap,
            "ci_low": np.clip(middle - critical * error, -end, end),
            "ci_high": np.clip(middle + critical * error, -end, end),
            "z": middle / error,
            "inside": [one.inside for one in listed],
            "folded": [one.folded for one in listed],
        }
    )


def _more_by_units(
    rows: Rows, held: NDArray[np.bool_], pair: Sequence[int], critical: float
) -> float:
    """Return by how much units raise the variance of a gap between two groups.

    That is the linearised variance over units against that over rows, of the subgroup
    and of all rows, whichever is larger: few units may be alike by chance. The square
    of Student's quantile against ``critical`` makes up for few units.
    """
    assert rows.unit is not None
    more, fewest = [1.0], np.inf
    for where in (held, np.ones(len(rows), bool)):
        own = np.isin(rows.group, pair) & where
        mean = np.bincount(rows.group[own], rows.value[own], rows.n_groups)
        n = np.bincount(rows.group[own], minlength=rows.n_groups)
        group = rows.group[own]
        residual = (rows.value[own] - (mean / np.maximum(n, 1))[group]) / n[group]
        residual = np.where(group == pair[0], -residual, residual)
        whole = np.zeros(len(group), np.int64)
        unit = np.unique(rows.unit[own], return_inverse=True)[1]
        by_row, by_unit = (
            linearised(residual, whole, 1, unit=one).variance[0] for one in (None, unit)
        )
        if by_row > 0:
            more.append(by_unit / by_row)
        units = [len(np.unique(unit[group == one])) for one in pair]
        fewest = min(fewest, *units)
    student = (
        float(stdtrit(float(max(fewest - 1, 1)), float(ndtr(critical)))) / critical
    )
    return float(np.nanmax(more) * student**2)


def _values(
    y_pred: ArrayLike, y_true: ArrayLike | None, measure: str
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which rows a measure is about, and what it counts in each."""
    decided = binary_vector("y_pred", y_pred)
    if y_true is None and measure != "selection_rate":
        raise ValueError(f"`y_true` is needed for {measure!r}.")
    outcome = decided if y_true is None else binary_vector("y_true", y_true)
    check_lengths(decided, outcome)
    y, d = outcome.astype(np.float64), decided.astype(np.float64)
    rate = RATES[measure]
    return rate.about(y, d), rate.counted(y, d).astype(np.int64)


def _columns(
    frame: pd.DataFrame, columns: Sequence[str] | None, group: NDArray[np.int64]
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to search; the groups themselves are none."""
    names = list(frame.columns) if columns is None else list(columns)
    absent = [name for name in names if name not in frame]
    if absent:
        message = f"The table has no columns {absent} to search"
        raise ValueError(f"{message}; choose among {list(frame.columns)[:20]}.")
    same = {
        name: "is the sensitive feature" for name in names if _alike(frame[name], group)
    }
    return [name for name in names if name not in same], same


def _alike(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Tell whether a column has one value for each group and no other."""
    n_groups = int(group.max()) + 1
    if column.iloc[:1000].nunique(dropna=False) > n_groups:
        return False
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) != n_groups:
        return False
    return len(np.unique(codes * n_groups + group)) == n_groups


def _nothing_left(skipped: dict[str, str]) -> str:
    if not skipped:
        return "`columns` is empty; name at least one column to search."
    reasons = [f"{name!r} {why}" for name, why in skipped.items()]
    more = len(reasons) - _REASONS
    rest = f" and {more} more" if more > 0 else ""
    return (
        f"No column can be searched: {'; '.join(reasons[:_REASONS])}{rest}. Add a "
        "column with at least two values, or choose a smaller `min_size`."
    )
