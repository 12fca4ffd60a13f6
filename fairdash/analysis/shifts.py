"""How far the columns of two tables are apart."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, kstwo

from fairdash._wording import amount, percent
from fairdash.analysis.dealing import Dealt, Sample
from fairdash.analysis.subgroups.search import holm
from fairdash.datasets import MISSING, column_kinds


def column_shifts(
    before: pd.DataFrame,
    after: pd.DataFrame,
    training: pd.DataFrame,
    *,
    columns: tuple[str, ...],
    samples: tuple[Sample, Sample] = (Sample(), Sample()),
    random_state: int | None = 0,
) -> pd.DataFrame:
    r"""Two-sample statistics of every column, the largest shift first.

    Of numbers the Kolmogorov-Smirnov distance

    .. math:: D = \sup_x |F_1(x) - F_0(x)|

    of the values present, with its asymptotic p-value; of categories, missing being a
    level, the total variation distance

    .. math:: \tfrac12 \sum_v |p_1(v) - p_0(v)|

    with the p-value of the chi-square test of independence. Both lie between 0 (alike)
    and 1 (nothing in common) and are the largest difference of the share of any
    interval from below, or of any set of levels.

    The tables are independent of each other; the encoding was fitted on ``training``.
    With weights or units shares are weighted, and p-values are those of permutations:
    whole units are dealt to the two tables, as many as each had. Numbers are then
    compared at up to 200 of their quantiles. Rows of counts are as many as people.

    Parameters
    ----------
    samples : pair of Sample
        Weights and units of the rows of both tables.

    Returns
    -------
    DataFrame, one row per column: column, statistic ("KS", "TV"), shift, p_value,
    p_adjusted (Holm over the columns), unseen (share of ``after`` with a value that no
    training row has; of a number one outside their range), missing (by how much its
    share grew), change (in words). NaN where a table has no value.

    References
    ----------
    A. N. Kolmogorov (1933); N. V. Smirnov (1939); K. Pearson (1900), as in
    scipy.stats.ks_2samp and chi2_contingency. S. Holm (1979), A simple sequentially
    rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
    """
    sizes = len(before), len(after)
    dealt = None
    if any(not sample.plain for sample in samples):
        dealt = Dealt.of(samples, sizes, len(columns), random_state)
    people = _people(samples, sizes)
    rows = [
        {
            "column": name,
            **_shift(before[name], after[name], training[name], dealt, people),
        }
        for name in columns
    ]
    table = pd.DataFrame(rows)
    table["p_adjusted"] = holm(table["p_value"].to_numpy(np.float64))
    return table.sort_values("shift", ascending=False, ignore_index=True)


_People = tuple[NDArray[np.float64], NDArray[np.float64]]


def _people(samples: tuple[Sample, Sample], sizes: tuple[int, int]) -> _People:
    """Return how often each row of both tables counts: once, unless it is a count."""
    before, after = (
        np.ones(size) if sample.people is None else sample.people
        for sample, size in zip(samples, sizes, strict=True)
    )
    return before, after


def _shift(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    training: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    compared = _numbers if column_kinds.is_number(training) else _categories
    missing_before, missing_after = (
        np.average(column.isna(), weights=each)
        for column, each in zip((before, after), people, strict=True)
    )
    return compared(before, after, dealt, people) | {
        "unseen": float(np.average(_unseen(after, training), weights=people[1])),
        "missing": float(missing_after - missing_before),
    }


def _numbers(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    x, y = (_values(column) for column in (before, after))
    both = np.concatenate([x, y])
    times = tuple(
        each[~np.isnan(values)] for values, each in zip((x, y), people, strict=True)
    )
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    shift = p = float("nan")
    words = "no value present"
    if times[0].any() and times[1].any():
        if dealt is None:
            shift, p = _kolmogorov_smirnov(x, y, times)
        else:
            shift, p = dealt.numbers(both)
        means = [
            amount(float(np.average(values, weights=each)))
            for values, each in zip((x, y), times, strict=True)
        ]
        words = f"mean {means[0]} → {means[1]}"
    return {"statistic": "KS", "shift": shift, "p_value": p, "change": words}


def _kolmogorov_smirnov(
    x: NDArray[np.float64], y: NDArray[np.float64], times: tuple[Any, ...]
) -> tuple[float, float]:
    """Return the distance of two samples and its p-value, each value ``times`` over.

    As `scipy.stats.ks_2samp` with ``method="asymp"`` of repeated values.
    """
    cuts = np.unique(np.concatenate([x, y]))
    shares = [
        np.cumsum(np.bincount(np.searchsorted(cuts, values), each, len(cuts)))
        / each.sum()
        for values, each in zip((x, y), times, strict=True)
    ]
    distance = float(np.abs(shares[1] - shares[0]).max())
    n, m = (float(each.sum()) for each in times)
    return distance, float(kstwo.sf(distance, np.round(n * m / (n + m))))


def _categories(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    values = pd.concat([before, after], ignore_index=True)
    codes, labels = column_kinds.label_codes(values)
    codes = np.where(codes < 0, len(labels), codes)
    n_levels, table = len(labels) + 1, np.arange(len(values)) >= len(before)
    if dealt is None:
        each = np.concatenate(people)
        places = codes + n_levels * table
        counts = np.bincount(places, each, 2 * n_levels).reshape(2, n_levels)
        present = np.flatnonzero(counts.any(axis=0)).tolist()
        counts = counts[:, present]
        shares = counts / counts.sum(axis=1, keepdims=True)
        p = float(chi2_contingency(counts)[1]) if len(present) > 1 else 1.0
    else:
        shares, p = dealt.categories(codes, n_levels)
        present = list(range(n_levels))
    apart = np.abs(shares[1] - shares[0])
    most = int(apart.argmax())
    name = [*labels, MISSING][int(present[most])]
    return {
        "statistic": "TV",
        "shift": float(apart.sum() / 2),
        "p_value": p,
        "change": f"{name} {percent(shares[0, most])} → {percent(shares[1, most])}",
    }


def _unseen(column: "pd.Series[Any]", training: "pd.Series[Any]") -> NDArray[np.bool_]:
    if column_kinds.is_number(training):
        seen, values = _values(training), _values(column)
        if np.isnan(seen).all():
            return ~np.isnan(values)
        return (values < np.nanmin(seen)) | (values > np.nanmax(seen))
    codes, labels = column_kinds.label_codes(column)
    labels_seen = set(column_kinds.label_codes(training)[1])
    new = np.array([*(label not in labels_seen for label in labels), False])
    flags: NDArray[np.bool_] = new[codes]
    return flags


def _values(column: "pd.Series[Any]") -> NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
