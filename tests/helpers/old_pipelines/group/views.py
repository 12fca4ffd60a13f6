"""Views of the long table of estimates: gaps, ratios, values, means over seeds."""

import numpy as np
import pandas as pd

from old_pipelines.group.estimates import COLUMNS, NUMBERS

_OVER_SEEDS = ["model", "subgroup", "group", "measure"]


def gap_of(measure: str) -> str:
    """Return what the largest gap between groups in a measure is called."""
    return f"gap in {measure}"


def ratio_of_measure(measure: str) -> str:
    """Return what the smallest ratio of two groups in a measure is called."""
    return f"ratio of {measure}"


def worst_of(measure: str) -> str:
    """Return what the largest gap over subgroups is called."""
    return f"largest gap in {measure}"


def over_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Average estimates over the seeds of each model.

    A value and the ends of its interval are averaged over the seeds in which the
    subgroup is estimable, and are NaN if these are fewer than half of the seeds; rows
    are averaged over all seeds, 0 where a seed lacks the subgroup. Widths are averaged,
    not narrowed: the test rows of different seeds overlap.

    Returns
    -------
    DataFrame with the columns of ``table`` but ``seed``, then sd (over seeds, NaN for
    one) and n_seeds, in which the subgroup is estimable; in order of first appearance
    """
    estimable = table["reason"] == ""
    defined = table.assign(**table[NUMBERS].where(estimable), estimable=estimable)
    rows = defined.groupby(_OVER_SEEDS, sort=False, dropna=False)
    mean = rows[NUMBERS].mean()
    n_seeds = rows["estimable"].sum()
    # A subgroup that a seed lacks has no row there: count the seeds of the model.
    seeds_of_model = table.groupby("model", sort=False)["seed"].nunique().clip(lower=1)
    model = mean.index.get_level_values("model")
    n_all_seeds = model.map(seeds_of_model.to_dict()).to_numpy()
    enough = 2 * n_seeds >= n_all_seeds
    mean = mean.where(enough)
    mean["n"] = (rows["n"].sum() / n_all_seeds).round().astype(np.int64)
    mean["method"] = rows["method"].first()
    mean["sd"] = rows["value"].std(ddof=1).where(enough)
    mean["n_seeds"] = n_seeds
    failing = defined[~estimable].groupby(_OVER_SEEDS, sort=False, dropna=False)
    reasons = failing["reason"].first().reindex(mean.index).fillna("0 rows")
    mean["reason"] = reasons.where(~enough, "").astype("str")
    mean = mean.reset_index()
    columns = [name for name in COLUMNS if name != "seed"]
    return mean[[*columns, "sd", "n_seeds"]]


def value_table(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return a measure inside subgroups: model, subgroup, group, n, value."""
    inside = table["subgroup"].notna() & table["group"].notna()
    rows = table[inside & (table["measure"] == measure)]
    return rows[["model", "subgroup", "group", "n", "value"]].reset_index(drop=True)


def gap_table(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the gaps in a measure inside subgroups.

    Columns: model, subgroup, n, gap, ci_low, ci_high, gap_sd and n_seeds (of averages
    over seeds), estimable, reason.
    """
    return _of_subgroups(table, gap_of(measure), "gap", "ci")


def ratio_table(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the ratios in a measure inside subgroups: as `gap_table`, named ratio."""
    rows = _of_subgroups(table, ratio_of_measure(measure), "ratio", "ratio")
    rows["estimable"] &= rows["ratio"].notna()
    rows["reason"] = rows["reason"].where(
        rows["estimable"] | (rows["reason"] != ""), "undefined"
    )
    return rows


def of_all_rows(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the rows of a measure over all rows, by group or of all groups."""
    return table[table["subgroup"].isna() & (table["measure"] == measure)]


def _of_subgroups(
    table: pd.DataFrame, measure: str, value: str, ends: str
) -> pd.DataFrame:
    """Return the estimates of the groups together inside subgroups, renamed."""
    inside = table["subgroup"].notna() & table["group"].isna()
    rows = table[inside & (table["measure"] == measure)].reset_index(drop=True)
    names = {"value": value, "low": f"{ends}_low", "high": f"{ends}_high"}
    rows = rows.rename(columns={**names, "sd": f"{value}_sd"})
    rows["estimable"] = rows["reason"] == ""
    columns = ["model", "subgroup", "n", *names.values(), f"{value}_sd", "n_seeds"]
    return rows[[name for name in [*columns, "estimable", "reason"] if name in rows]]
