"""Means and spread over seeds."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_ENDS = ("_low", "_high")


def summarise_seeds(rows: pd.DataFrame, by: str | Sequence[str]) -> pd.DataFrame:
    """Average every metric over the seeds of each method or setting.

    Ends of intervals are averaged too and **not** narrowed by the square root of the
    number of seeds: the test rows of different seeds overlap.

    Parameters
    ----------
    rows : DataFrame
        One row per model and seed. Numeric columns are metrics, except those of ``by``
        and a column "seed".
    by : str or list of str
        What a summary row stands for, such as ["method", "fairness_weight"].

    Returns
    -------
    DataFrame in order of first appearance: the columns ``by``, n_seeds (rows averaged),
    then per metric its mean, ``<metric>_sd`` (n - 1 in the denominator; NaN for one
    seed) and ``<metric>_seeds`` (seeds where it is defined; the others do not enter).
    Ends of intervals (``*_low``, ``*_high``) have a mean alone.
    """
    keys = [by] if isinstance(by, str) else list(by)
    unknown = [key for key in keys if key not in rows]
    if unknown:
        message = f"`by` names columns that the rows lack: {unknown}."
        raise ValueError(message)
    numeric = rows.select_dtypes(include="number").columns
    metrics = [name for name in numeric if name not in (*keys, "seed")]
    groups = rows.groupby(keys, sort=False, dropna=False, observed=True)
    means, spreads = groups[metrics].mean(), groups[metrics].std(ddof=1)
    counts, sizes = groups[metrics].count(), groups.size()
    columns: dict[str, NDArray[np.generic]] = {"n_seeds": sizes.to_numpy()}
    for name in metrics:
        columns[name] = means[name].to_numpy(dtype=np.float64)
        if not name.endswith(_ENDS):
            columns[f"{name}_sd"] = spreads[name].to_numpy(dtype=np.float64)
            columns[f"{name}_seeds"] = counts[name].to_numpy()
    return pd.DataFrame(columns, index=means.index).reset_index()


def mean_local_di(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Average the tables of local DI over seeds, of one model or of several.

    A gap, its interval and the rates are averaged over the seeds in which the subgroup
    is estimable, and are NaN if these are less than half of the seeds; numbers of rows
    are averaged over all seeds. Widths are averaged, not narrowed: see
    :func:`summarise_seeds`.

    Parameters
    ----------
    tables : sequence of DataFrame of :func:`local_di` or :func:`local_measure`
        One per seed, each with the same groups. Those of several models have a column
        "model"; a model may lack some of the seeds.

    Returns
    -------
    DataFrame with the columns of ``tables``, local_di_sd or gap_sd (NaN for one seed)
    and n_seeds, in which the subgroup is estimable
    """
    if not tables:
        raise ValueError("`tables` must hold the table of at least one seed.")
    by = [name for name in ("model", "subgroup") if name in tables[0]]
    rows = pd.concat(tables, ignore_index=True)
    counts = [name for name in map(str, rows) if name == "n" or name.startswith("n_")]
    values = rows.columns.difference([*counts, *by, "estimable", "reason"])
    known = rows.assign(**rows[values].where(rows["estimable"]))
    cells = known.groupby(by, sort=False, observed=True)
    n_seeds = cells["estimable"].sum()
    mean = cells[values.tolist()].mean()
    gap = "local_di" if "local_di" in rows else "gap"
    mean[f"{gap}_sd"] = cells[gap].std(ddof=1)
    estimable = 2 * n_seeds >= _all_seeds(tables, mean.index)
    mean = mean.where(estimable)
    mean[counts] = cells[counts].mean().round().astype(np.int64)
    mean["estimable"] = estimable
    failing = known[~known["estimable"]].groupby(by, observed=True)
    reasons = {name: _reason(seeds) for name, seeds in failing}
    places = [name if len(by) > 1 else (name,) for name in mean.index]
    pairs = zip(places, estimable, strict=True)
    mean["reason"] = ["" if shown else reasons[place] for place, shown in pairs]
    mean["n_seeds"] = n_seeds
    columns = [*tables[0].columns, f"{gap}_sd", "n_seeds"]
    return mean.reset_index()[columns]


def _all_seeds(tables: Sequence[pd.DataFrame], cells: pd.Index) -> Any:
    """Return the number of seeds of the model of every cell."""
    if "model" not in tables[0]:
        return len(tables)
    models = pd.concat([table["model"].drop_duplicates() for table in tables])
    return cells.get_level_values("model").map(models.value_counts()).to_numpy()


def _reason(failing: pd.DataFrame) -> str:
    """Say why a subgroup is not estimable in the seeds where it is not."""
    first = str(failing["reason"].iloc[0])
    count = re.fullmatch(r"[\d,]+ rows?( .+)?", first)
    if count is None:
        return first
    return f"{round(failing['n'].mean()):,} rows{count.group(1) or ''}"
