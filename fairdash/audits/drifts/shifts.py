"""How far the columns of two tables are apart."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp

from fairdash._wording import amount, percent
from fairdash.audits.drifts.dealing import Dealt, Sample
from fairdash.audits.subgroups.search import holm
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
    compared at up to 200 of their quantiles.

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
    dealt = None
    if any(not sample.plain for sample in samples):
        dealt = Dealt.of(samples, (len(before), len(after)), len(columns), random_state)
    rows = [
        {"column": name, **_shift(before[name], after[name], training[name], dealt)}
        for name in columns
    ]
    table = pd.DataFrame(rows)
    table["p_adjusted"] = holm(table["p_value"].to_numpy(np.float64))
    return table.sort_values("shift", ascending=False, ignore_index=True)


def _shift(
    before: "pd.Series[Any]",
    after: "pd.Series[Any]",
    training: "pd.Series[Any]",
    dealt: Dealt | None,
) -> dict[str, object]:
    compared = _numbers if column_kinds.is_number(training) else _categories
    return compared(before, after, dealt) | {
        "unseen": float(_unseen(after, training).mean()),
        "missing": float(after.isna().mean() - before.isna().mean()),
    }


def _numbers(
    before: "pd.Series[Any]", after: "pd.Series[Any]", dealt: Dealt | None
) -> dict[str, object]:
    x, y = (_values(column) for column in (before, after))
    both = np.concatenate([x, y])
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    shift = p = float("nan")
    words = "no value present"
    if len(x) and len(y):
        if dealt is None:
            test = ks_2samp(x, y, method="asymp")
            shift, p = float(test.statistic), float(test.pvalue)
        else:
            shift, p = dealt.numbers(both)
        words = f"mean {amount(x.mean())} → {amount(y.mean())}"
    return {"statistic": "KS", "shift": shift, "p_value": p, "change": words}


def _categories(
    before: "pd.Series[Any]", after: "pd.Series[Any]", dealt: Dealt | None
) -> dict[str, object]:
    values = pd.concat([before, after], ignore_index=True)
    codes, labels = column_kinds.label_codes(values)
    codes = np.where(codes < 0, len(labels), codes)
    n_levels, table = len(labels) + 1, np.arange(len(values)) >= len(before)
    if dealt is None:
        counts = pd.crosstab(table, codes)
        present: list[Any] = list(counts.columns)
        shares = counts.to_numpy() / counts.to_numpy().sum(axis=1, keepdims=True)
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
