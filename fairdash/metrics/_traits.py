"""What the rows with the largest weights have in common."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole, value_labels
from fairdash.metrics._intervals import wilson_interval

_MOST_LEVELS = 12


def top_rows(ratio: ArrayLike, share: float) -> NDArray[np.int64]:
    """Return the rows with the largest weights, largest first.

    ``share`` of all rows, at least one; rows of equal weight in their order.
    """
    weights = np.asarray(ratio, dtype=np.float64)
    if not 0 < share <= 1:
        raise ValueError(f"`share` must lie in (0, 1], got {share!r}.")
    count = max(1, round(share * len(weights)))
    return np.argsort(-weights, kind="stable")[:count]


def traits(
    frame: pd.DataFrame, top: ArrayLike, *, confidence: float = 0.95, limit: int = 8
) -> pd.DataFrame:
    """Values that are more frequent among ``top`` rows than among all rows.

    A numeric column with more than 12 values is cut at its quartiles. A column gives
    at most one trait, the one that gains most.

    Parameters
    ----------
    frame : DataFrame
        Columns of the rows as they were read.
    top : array-like of int
        Positions of the rows looked at.
    confidence : float, default=0.95
        Of the Wilson interval of ``top``.
    limit : int, default=8

    Returns
    -------
    DataFrame, by falling gain: column, value, trait (such as "age 18–25"), share_all,
    share_top, ci_low, ci_high, lift (share_top / share_all)
    """
    check_whole("limit", limit, at_least=1)
    rows = np.asarray(top, dtype=np.int64)
    if len(rows) == 0:
        raise ValueError("`top` must name at least one row.")
    found = []
    for name in frame.columns:
        label = _levels(frame[name])
        everywhere = label.value_counts(normalize=True)
        among = label.iloc[rows].value_counts().reindex(everywhere.index, fill_value=0)
        low, high = wilson_interval(among, len(rows), confidence=confidence)
        table = pd.DataFrame(
            {
                "column": str(name),
                "value": everywhere.index.astype(str),
                "share_all": everywhere.to_numpy(),
                "share_top": among.to_numpy() / len(rows),
                "ci_low": low,
                "ci_high": high,
            }
        )
        gain = table["share_top"] - table["share_all"]
        found.append(table.loc[[gain.idxmax()]])
    best = pd.concat(found, ignore_index=True)
    best.insert(2, "trait", best["column"] + " " + best["value"])
    best["lift"] = best["share_top"] / best["share_all"]
    order = (best["share_top"] - best["share_all"]).sort_values(ascending=False).index
    return best.loc[order].head(limit).reset_index(drop=True)


def _levels(column: "pd.Series[Any]") -> "pd.Series[Any]":
    numeric = pd.api.types.is_numeric_dtype(column) and column.dtype != bool
    if not numeric or column.nunique() <= _MOST_LEVELS:
        return value_labels(column).astype(object).fillna("missing")
    numbers = column.astype(np.float64)
    cuts = np.unique(np.nanquantile(numbers, [0, 0.25, 0.5, 0.75, 1])).tolist()
    names = _range_names(cuts, whole=bool((numbers.dropna() % 1 == 0).all()))
    cut = pd.cut(numbers, cuts, labels=names, include_lowest=True)
    return pd.Series(cut).astype(object).fillna("missing")


def _range_names(cuts: list[float], *, whole: bool) -> list[str]:
    """Name the ranges (low, high]; of whole numbers the next one begins a range."""
    names = []
    for low, high in itertools.pairwise(cuts):
        first = np.floor(low) + 1 if whole and low != cuts[0] else low
        last = np.floor(high) if whole else high
        digits = "g" if whole else ".3g"
        ends = [f"{end:{digits}}" for end in (first, last)]
        names.append("–".join(dict.fromkeys(ends)))
    return names
