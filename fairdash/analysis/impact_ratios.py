"""Impact ratios of categories, and what people of unknown category could change.

The rules of New York City's Local Law 144 (6 RCNY § 5-300 to 5-304) divide the
selection rate of each category by the largest. They let an auditor leave out a category
of less than 2 % of the data. What a published audit lacks are the bounds of each ratio
over all ways in which the unknown people could belong to categories (L. Gerchick et
al., Auditing the audits, FAccT 2025).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.metrics import intervals

SMALL = 0.02  # share of the known people below which a category has no ratio
_CONFIDENCE = 0.95

Counts = NDArray[np.int64]


class Unknown(NamedTuple):
    """People whose category is unknown, and how many of them were selected."""

    n: int
    selected: int


NOBODY = Unknown(0, 0)


def impact_table(counts: pd.DataFrame, unknown: Unknown = NOBODY) -> pd.DataFrame:
    r"""Return the impact ratio of every category, with interval and bounds.

    Parameters
    ----------
    counts : DataFrame
        category, n and selected: one row per category.
    unknown : Unknown
        People who may belong to any category.

    Returns
    -------
    DataFrame
        category, n, selected, rate, ratio (:math:`r_c / \max_k r_k` over the
        categories that count), reference (the category of that largest rate),
        alone_low and alone_high (95 %, Donner and Zou 2012, of this ratio alone), low
        and high (95 % for all pairs of categories at once), bound_low and bound_high
        (over all assignments of the unknown people) and included.

    Raises
    ------
    ValueError
        When a count is negative, more are selected than there are, or no category
        counts.
    """
    check_counts(counts, unknown)
    n = counts["n"].to_numpy(np.int64)
    selected = counts["selected"].to_numpy(np.int64)
    included = (n >= SMALL * max(n.sum(), 1)) & (n > 0)
    if not included.any():
        raise ValueError("No category has enough people for an impact ratio.")

    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(n > 0, selected / n, np.nan)
    largest = int(np.where(included, rate, -1.0).argmax())
    best = rate[largest]
    ratio = np.full(len(n), np.nan)
    if best > 0:
        ratio[included] = rate[included] / best
    reference = str(counts["category"].iloc[largest])

    alone_low, alone_high = _ratio_intervals(counts, included, _CONFIDENCE)
    # Which category is the largest is read off the same rows, so the reference is
    # random: an interval holds for whichever pair the data choose. Bonferroni over the
    # pairs of all categories that have people.
    n_categories = int((n > 0).sum())
    for_all = intervals.for_all_pairs(_CONFIDENCE, n_categories)
    low, high = _ratio_intervals(counts, included, for_all)
    bounds = np.full((len(n), 2), np.nan)
    bounds[included] = ratio_bounds(n[included], selected[included], unknown)
    return counts[["category", "n", "selected"]].assign(
        rate=rate,
        ratio=ratio,
        reference=pd.Series(reference, counts.index).where(included),
        alone_low=alone_low,
        alone_high=alone_high,
        low=low,
        high=high,
        bound_low=bounds[:, 0],
        bound_high=bounds[:, 1],
        included=included,
    )


def ratio_bounds(n: Counts, selected: Counts, unknown: Unknown) -> NDArray[np.float64]:
    r"""Return the least and the largest impact ratio over all assignments, exactly.

    With s of u unknown people selected, the ratio of category c is least where all who
    were not selected belong to c, and all who were to another category k:

    .. math:: \min\Bigl(1, \min_k
       \frac{x_c}{n_c + u - s} \Big/ \frac{x_k + s}{n_k + s}\Bigr)

    It is largest where all who were selected belong to c, and the others fill the other
    categories so that the largest of their rates is as small as it can be.

    Returns
    -------
    array, (n_categories, 2); NaN where every assignment selects nobody
    """
    s = unknown.selected
    rest = unknown.n - s
    bounds = np.full((len(n), 2), np.nan)
    for c in range(len(n)):
        is_rival = np.arange(len(n)) != c
        if not is_rival.any():
            bounds[c] = 1.0 if selected[c] + s else np.nan
            continue
        x = selected[is_rival]
        m = n[is_rival]

        lowest_rate = selected[c] / (n[c] + rest)
        rival_rate = ((x + s) / (m + s)).max()
        least = np.nan
        if rival_rate > 0:
            least = min(1.0, lowest_rate / rival_rate)

        highest_rate = (selected[c] + s) / (n[c] + s)
        rival_rate = _lowest_maximum(x, m, rest)
        most = np.nan
        if rival_rate > 0:
            most = min(1.0, highest_rate / rival_rate)
        elif highest_rate > 0:
            most = 1.0  # no other category selects anybody: this is the largest rate
        if np.isnan(least) and not np.isnan(most):
            least = most
        bounds[c] = least, most
    return bounds


def check_counts(counts: pd.DataFrame, unknown: Unknown = NOBODY) -> None:
    """Raise ValueError, with the category, where counts cannot be."""
    rows = counts[["category", "n", "selected"]].itertuples(index=False)
    for name, n, selected in [*rows, ("unknown", *unknown)]:
        if not 0 <= selected <= n:
            raise ValueError(
                f"Category {str(name)!r} has {selected} selected of {n}; fix the "
                "counts."
            )


def _ratio_intervals(
    counts: pd.DataFrame, included: NDArray[np.bool_], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of each ratio to the largest rate; NaN for that one."""
    low = np.full(len(counts), np.nan)
    high = np.full(len(counts), np.nan)
    n = counts.loc[included, "n"].to_numpy()
    selected = counts.loc[included, "selected"].to_numpy()
    if len(n) < 2:
        return low, high
    rate = selected / n
    best = rate.argmax()
    # Donner and Zou recover the variance of a ratio from the ends of both rates.
    rate_low, rate_high = intervals.wilson_interval(selected, n, confidence=level)
    rates = intervals.Interval(rate, rate_low, rate_high)
    largest = intervals.Interval(rate[best], rate_low[best], rate_high[best])
    low[included], high[included] = intervals.ratio_of(rates, largest)
    # The ratio of the largest rate to itself is 1, without an interval.
    reference = np.flatnonzero(included)[best]
    low[reference] = np.nan
    high[reference] = np.nan
    return low, high


def _lowest_maximum(x: Counts, m: Counts, rest: int) -> float:
    """Return the least that the largest of x / (m + b) can be, b whole of sum rest."""
    if not x.any():
        return 0.0

    def people_needed(rate: float) -> Counts:
        """Return how many people bring each category down to a rate."""
        # Rounding errors of the division must not ask for one person more.
        added = np.ceil(x / rate - m - 1e-9)
        return np.maximum(added, 0).astype(np.int64)

    # Bisection: 100 halvings go below the resolution of a double.
    low = 0.0
    high = float((x / m).max())
    for _ in range(100):
        middle = (low + high) / 2
        if middle > 0 and people_needed(middle).sum() <= rest:
            high = middle
        else:
            low = middle
    return float((x / (m + people_needed(high))).max())
