"""Two-sample statistics of the columns of two tables, with p-values."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, kstwo

from fairdash._wording import amount, percent
from fairdash.analysis.adjustment import holm
from fairdash.analysis.dealing import Dealt, Sample
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

    Numbers have the Kolmogorov-Smirnov distance

    .. math:: D = \sup_x |F_1(x) - F_0(x)|

    of the values present, with its asymptotic p-value; categories, missing being a
    level, have the total variation distance

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
    sizes = (len(before), len(after))
    dealt = None
    if any(not sample.plain for sample in samples):
        dealt = Dealt.of(samples, sizes, len(columns), random_state)
    people = _people(samples, sizes)
    rows = []
    for name in columns:
        shift = _shift(before[name], after[name], training[name], dealt, people)
        rows.append({"column": name, **shift})
    table = pd.DataFrame(rows)
    table["p_adjusted"] = holm(table["p_value"].to_numpy(np.float64))
    return table.sort_values("shift", ascending=False, ignore_index=True)


_People = tuple[NDArray[np.float64], NDArray[np.float64]]


def _people(samples: tuple[Sample, Sample], sizes: tuple[int, int]) -> _People:
    """Return how often each row of both tables counts: once, unless it is a count."""
    before, after = samples
    return (
        np.ones(sizes[0]) if before.people is None else before.people,
        np.ones(sizes[1]) if after.people is None else after.people,
    )


def _shift(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    training: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    """Return the row of a column in the table of shifts, without its name."""
    if column_kinds.is_number(training):
        statistics = _numbers(before, after, dealt, people)
    else:
        statistics = _categories(before, after, dealt, people)
    people_before, people_after = people
    missing_before = np.average(before.isna(), weights=people_before)
    missing_after = np.average(after.isna(), weights=people_after)
    unseen = np.average(_unseen(after, training), weights=people_after)
    return statistics | {
        "unseen": float(unseen),
        "missing": float(missing_after - missing_before),
    }


def _numbers(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    """Compare the values present of a numeric column."""
    all_values = np.concatenate([_values(before), _values(after)])
    old = _present(before, people[0])
    new = _present(after, people[1])
    shift = p = float("nan")
    words = "no value present"
    if old.times.any() and new.times.any():
        if dealt is None:
            shift, p = _kolmogorov_smirnov(old, new)
        else:
            shift, p = dealt.numbers(all_values)
        words = f"mean {old.mean_in_words()} → {new.mean_in_words()}"
    return {"statistic": "KS", "shift": shift, "p_value": p, "change": words}


class _Numbers(NamedTuple):
    """Values that are present, and how often each counts."""

    numbers: NDArray[np.float64]
    times: NDArray[np.float64]

    def mean_in_words(self) -> str:
        return amount(float(np.average(self.numbers, weights=self.times)))

    def shares_up_to(self, cuts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the values up to each of the cuts, which hold all."""
        place = np.searchsorted(cuts, self.numbers)
        counts = np.bincount(place, self.times, len(cuts))
        shares: NDArray[np.float64] = np.cumsum(counts) / self.times.sum()
        return shares


def _present(column: "pd.Series[Any]", people: NDArray[np.float64]) -> _Numbers:
    """Return the values of a column that are not missing."""
    values = _values(column)
    present = ~np.isnan(values)
    return _Numbers(values[present], people[present])


def _kolmogorov_smirnov(old: _Numbers, new: _Numbers) -> tuple[float, float]:
    """Return the distance of two samples and its p-value.

    As `scipy.stats.ks_2samp` with ``method="asymp"`` of repeated values.
    """
    cuts = np.unique(np.concatenate([old.numbers, new.numbers]))
    difference = new.shares_up_to(cuts) - old.shares_up_to(cuts)
    distance = float(np.abs(difference).max())
    n = float(old.times.sum())
    m = float(new.times.sum())
    return distance, float(kstwo.sf(distance, np.round(n * m / (n + m))))


def _categories(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    dealt: Dealt | None,
    people: _People,
) -> dict[str, object]:
    """Compare the levels of a column; a missing value is the last level."""
    values = pd.concat([before, after], ignore_index=True)
    codes, labels = column_kinds.label_codes(values)
    codes = np.where(codes < 0, len(labels), codes)
    n_levels = len(labels) + 1
    if dealt is None:
        is_after = np.arange(len(values)) >= len(before)
        cell = codes + n_levels * is_after
        counts = np.bincount(cell, np.concatenate(people), 2 * n_levels)
        counts = counts.reshape(2, n_levels)
        # The test of independence is undefined with a level that nobody has.
        present = np.flatnonzero(counts.any(axis=0)).tolist()
        counts = counts[:, present]
        shares = counts / counts.sum(axis=1, keepdims=True)
        p = float(chi2_contingency(counts)[1]) if len(present) > 1 else 1.0
    else:
        shares, p = dealt.categories(codes, n_levels)
        present = list(range(n_levels))
    difference = np.abs(shares[1] - shares[0])
    most = int(difference.argmax())
    name = [*labels, MISSING][int(present[most])]
    return {
        "statistic": "TV",
        "shift": float(difference.sum() / 2),
        "p_value": p,
        "change": f"{name} {percent(shares[0, most])} → {percent(shares[1, most])}",
    }


def _unseen(column: "pd.Series[Any]", training: "pd.Series[Any]") -> NDArray[np.bool_]:
    """Return which rows have a value that no training row has."""
    if column_kinds.is_number(training):
        values = _values(column)
        training_values = _values(training)
        if np.isnan(training_values).all():
            return ~np.isnan(values)
        below = values < np.nanmin(training_values)
        above = values > np.nanmax(training_values)
        return below | above
    codes, labels = column_kinds.label_codes(column)
    _, training_labels = column_kinds.label_codes(training)
    known_labels = set(training_labels)
    is_new = [label not in known_labels for label in labels]
    # A missing value is not a new one.
    return column_kinds.by_code(is_new, codes, missing=False)


def _values(column: "pd.Series[Any]") -> NDArray[np.float64]:
    """Return a column as numbers, NaN where missing."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)
