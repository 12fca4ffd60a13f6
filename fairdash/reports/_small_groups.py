"""Suppression of small groups in reports.

A subgroup in which a group has too few rows is suppressed whole, for its other numbers
would give the count away. A single one could be had by subtraction from totals, so the
smallest of the others goes with it (complementary suppression; Hundepool et al.,
Statistical Disclosure Control, 2012, chapter 4).
"""

from dataclasses import replace

import pandas as pd

from fairdash._wording import plural
from fairdash.audits import gaps
from fairdash.metrics import views

SMALLEST_GROUP = 10


def hidden_names(counts: pd.DataFrame) -> list[str]:
    """Return the subgroups, or groups, to suppress: those with too few rows.

    ``counts`` have a column subgroup and n, rows of each group in it.
    """
    subgroup = counts["subgroup"].astype(str)
    # A group without a count has no rows at all.
    sizes = counts["n"].fillna(0).groupby(subgroup, sort=False)
    smallest = sizes.min()
    small = smallest < SMALLEST_GROUP
    hidden = smallest.index[small].tolist()
    # The smallest of the others hides what totals minus the rest would give away.
    if len(hidden) == 1 and not small.all():
        large_enough = sizes.sum()[~small]
        hidden.append(large_enough.idxmin())
    return hidden


def without_small_groups(
    result: gaps.LocalResult,
) -> tuple[gaps.LocalResult, list[str]]:
    """Return local gaps without the numbers of suppressed subgroups, and these.

    The models are of the same rows.
    """
    cells = views.value_table(result.estimates, result.measure)
    last_model = cells["model"].iloc[-1]
    hidden = hidden_names(cells[cells["model"] == last_model])
    return replace(result, estimates=_masked(result.estimates, hidden)), hidden


def base_cells(rates: gaps.BaseRates) -> tuple[pd.DataFrame, list[str]]:
    """Return base rates by subgroup and group without suppressed ones, and these."""
    hidden = hidden_names(rates.cells)
    return _masked(rates.cells, hidden), hidden


def suppressed_words(hidden: list[str], place: str) -> str:
    """Say how many subgroups are suppressed in a place and why; "" if none is."""
    if not hidden:
        return ""
    verb = "is" if len(hidden) == 1 else "are"
    return (
        f"{plural(len(hidden), 'subgroup')} {verb} suppressed {place}: a group in one "
        f"has fewer than {SMALLEST_GROUP} rows, or totals would give such a count away."
    )


def few_words(numbers: str) -> str:
    """Say why ``numbers`` by group, such as "base rates", are missing altogether."""
    why = f"A group has fewer than {SMALLEST_GROUP} rows"
    return f"{why}, so {numbers} by group are suppressed."


def _masked(cells: pd.DataFrame, hidden: list[str]) -> pd.DataFrame:
    """Return cells with NaN for every number of the subgroups to suppress."""
    suppressed = cells["subgroup"].astype(str).isin(hidden)
    if not suppressed.any():
        return cells
    numbers = cells.select_dtypes("number").columns
    # Integers cannot be NaN.
    masked = cells.astype(dict.fromkeys(numbers, float))
    masked.loc[suppressed, numbers] = float("nan")
    if "estimable" in cells:
        masked["estimable"] = cells["estimable"].astype(bool) & ~suppressed
    masked["reason"] = cells["reason"].where(~suppressed, "suppressed")
    return masked
