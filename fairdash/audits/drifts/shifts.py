"""How far the columns of two tables are apart."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp, kstwobign

from fairdash._wording import MINUS, percent
from fairdash.audits.subgroups.statistic import holm
from fairdash.datasets import MISSING, is_number, label_codes

_TABLES = 200  # dealt out at random
_LEVEL = 0.95


def column_shifts(
    before: pd.DataFrame,
    after: pd.DataFrame,
    training: pd.DataFrame,
    *,
    columns: tuple[str, ...],
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

    Returns
    -------
    DataFrame, one row per column: column, kind ("number", "category"), statistic
    ("KS", "TV"), shift, chance (what 95% of tables without any shift stay below),
    p_value, p_adjusted (Holm over the columns), unseen (share of ``after`` with a value
    that no training row has; of a number one outside their range), missing_before,
    missing_after, change (in words). NaN where a table has no value.

    References
    ----------
    A. N. Kolmogorov (1933); N. V. Smirnov (1939); K. Pearson (1900), as in
    scipy.stats.ks_2samp and chi2_contingency. S. Holm (1979), A simple sequentially
    rejective multiple test procedure. Scand. J. Stat. 6, 65-70.
    """
    rows = [
        {"column": name, **_shift(before[name], after[name], training[name])}
        for name in columns
    ]
    table = pd.DataFrame(rows)
    table.insert(6, "p_adjusted", holm(table["p_value"].to_numpy(np.float64)))
    return table.sort_values("shift", ascending=False, ignore_index=True)


def unseen_rows(
    after: pd.DataFrame, training: pd.DataFrame, *, columns: tuple[str, ...]
) -> float:
    """Return the share of rows with a category that no training row has.

    Numbers are not looked at.
    """
    flags = np.zeros(len(after), bool)
    for name in columns:
        if not is_number(training[name]):
            flags |= _unseen(after[name], training[name])
    return float(flags.mean())


def _shift(
    before: "pd.Series[Any]", after: "pd.Series[Any]", training: "pd.Series[Any]"
) -> dict[str, object]:
    compared = _numbers if is_number(training) else _categories
    return compared(before, after) | {
        "unseen": float(_unseen(after, training).mean()),
        "missing_before": float(before.isna().mean()),
        "missing_after": float(after.isna().mean()),
    }


def _numbers(before: "pd.Series[Any]", after: "pd.Series[Any]") -> dict[str, object]:
    x, y = (_values(column) for column in (before, after))
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    shift = p = chance = float("nan")
    words = "no value present"
    if len(x) and len(y):
        found = ks_2samp(x, y, method="asymp")
        shift, p = float(found.statistic), float(found.pvalue)
        chance = float(kstwobign.ppf(_LEVEL) * np.sqrt(1 / len(x) + 1 / len(y)))
        words = f"mean {_short(x.mean())} → {_short(y.mean())}"
    return {
        "kind": "number",
        "statistic": "KS",
        "shift": shift,
        "chance": min(chance, 1.0),
        "p_value": p,
        "change": words,
    }


def _categories(before: "pd.Series[Any]", after: "pd.Series[Any]") -> dict[str, object]:
    codes, labels = label_codes(pd.concat([before, after], ignore_index=True))
    names = [*labels, MISSING]
    codes = np.where(codes < 0, len(labels), codes)
    counts = np.stack(
        [
            np.bincount(part, minlength=len(names))
            for part in (codes[: len(before)], codes[len(before) :])
        ]
    )
    occur = counts.sum(axis=0) > 0
    counts, names = (
        counts[:, occur],
        [n for n, o in zip(names, occur, strict=True) if o],
    )
    shares = counts / counts.sum(axis=1, keepdims=True)
    apart = shares[1] - shares[0]
    most = int(np.abs(apart).argmax())
    one, other = shares[:, most]
    return {
        "kind": "category",
        "statistic": "TV",
        "shift": float(np.abs(apart).sum() / 2),
        "chance": _chance(counts),
        "p_value": float(chi2_contingency(counts)[1]) if len(names) > 1 else 1.0,
        "change": f"{names[most]} {percent(one)} → {percent(other)}",
    }


def _chance(counts: NDArray[np.int64]) -> float:
    """Return the 95th percentile of the distance when rows are dealt out at random."""
    drawn = np.random.default_rng(0).multivariate_hypergeometric(
        counts.sum(axis=0), int(counts[0].sum()), size=_TABLES, method="marginals"
    )
    rest = counts.sum(axis=0) - drawn
    n0, n1 = counts.sum(axis=1)
    distances = np.abs(drawn / n0 - rest / n1).sum(axis=1) / 2
    return float(np.quantile(distances, _LEVEL))


def _unseen(column: "pd.Series[Any]", training: "pd.Series[Any]") -> NDArray[np.bool_]:
    """Flag values that no training row has; missing ones are not flagged."""
    if is_number(training):
        known, values = _values(training), _values(column)
        if np.isnan(known).all():
            return ~np.isnan(values)
        return (values < np.nanmin(known)) | (values > np.nanmax(known))
    seen = set(label_codes(training)[1])
    codes, labels = label_codes(column)
    new = np.array([*(label not in seen for label in labels), False])
    flags: NDArray[np.bool_] = new[codes]
    return flags


def _values(column: "pd.Series[Any]") -> NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _short(value: float) -> str:
    """Return a number with three digits or all before its point: 1.61, 14,265."""
    text = f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
    return text.replace("-", MINUS)
