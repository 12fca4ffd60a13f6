"""What a report does not show of small groups.

A subgroup in which a group has too few rows is suppressed whole, for its other numbers
would give the count away. A single one could be had by subtraction from totals, so the
smallest of the others goes with it (complementary suppression; Hundepool et al.,
Statistical Disclosure Control, 2012, chapter 4).
"""

from dataclasses import replace

import pandas as pd

from fairdash._wording import plural
from fairdash.metrics import BaseRates
from fairdash.results import LocalResult


def hidden_names(counts: pd.DataFrame, least: int) -> list[str]:
    """Return the subgroups, or groups, to suppress: with fewer than ``least`` rows.

    ``counts`` are rows by subgroup (index) and group (columns, of groups alone one).
    """
    small = (counts < least).any(axis=1)
    hidden = counts.index[small].tolist()
    if len(hidden) == 1 and not small.all():
        hidden.append(counts[~small].sum(axis=1).idxmin())
    return [str(name) for name in hidden]


def without_small_groups(
    result: LocalResult, groups: tuple[str, ...], least: int
) -> tuple[LocalResult, list[str]]:
    """Return local gaps without the numbers of suppressed subgroups, and these."""
    cells, hidden = without_small_cells(result.cells, groups, least)
    return replace(result, cells=cells), hidden


def without_small_cells(
    cells: pd.DataFrame, groups: tuple[str, ...], least: int
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table by ``label`` and subgroup without suppressed ones, and these.

    Its labels are of the same rows.
    """
    own = cells[cells["label"] == cells["label"].iloc[-1]]
    counts = own.set_index("subgroup")[[f"n_{name}" for name in groups]]
    counts.index = counts.index.astype(str)
    hidden = hidden_names(counts.fillna(0), least)
    return _masked(cells, hidden), hidden


def base_cells(rates: BaseRates, least: int) -> tuple[pd.DataFrame, list[str]]:
    """Return base rates by subgroup and group without suppressed ones, and these."""
    counts = rates.cells.pivot_table("n", "subgroup", "group", "sum", observed=False)
    counts.index = counts.index.astype(str)
    hidden = hidden_names(counts.fillna(0), least)
    return _masked(rates.cells, hidden), hidden


def suppressed_words(hidden: list[str], least: int) -> str:
    """Say how many subgroups are suppressed and why; nothing where none is."""
    if not hidden:
        return ""
    verb = "is" if len(hidden) == 1 else "are"
    return (
        f"{plural(len(hidden), 'subgroup')} {verb} suppressed: a group in one has "
        f"fewer than {least} rows, or totals would give such a count away."
    )


def few_words(least: int) -> str:
    """Say why numbers by group are missing altogether."""
    return f"A group has fewer than {least} rows, so numbers by group are suppressed."


def _masked(cells: pd.DataFrame, hidden: list[str]) -> pd.DataFrame:
    rows = cells["subgroup"].astype(str).isin(hidden)
    if not rows.any():
        return cells
    numbers = cells.select_dtypes("number").columns
    masked = cells.astype(dict.fromkeys(numbers, float))
    masked.loc[rows, numbers] = float("nan")
    masked["estimable"] = cells["estimable"].astype(bool) & ~rows
    masked["reason"] = cells["reason"].where(~rows, "suppressed")
    return masked
