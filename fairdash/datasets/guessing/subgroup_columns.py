"""Columns that describe subgroups: age, sex, ethnicity, or a category of few values."""

from typing import Any

import pandas as pd

from fairdash.datasets.bins import FEW_VALUES
from fairdash.datasets.column_kinds import count_values, is_age, is_number
from fairdash.datasets.guessing.groups import (
    FEWEST_GROUP_ROWS,
    MANY_VALUES,
    MOST_GROUPS,
)
from fairdash.datasets.guessing.words import concept


def guess_subgroup_columns(frame: pd.DataFrame, features: list[str]) -> tuple[str, ...]:
    """Return age, then one column of sex and one of ethnicity, of large subgroups.

    Without any, a category of few values.
    """
    ages = [name for name in features if is_age(name) and is_number(frame[name])]
    of_few_values = [
        name
        for name in features
        if count_values(frame[name], MOST_GROUPS) <= MOST_GROUPS
    ]
    by_attribute: dict[str, str] = {}
    for name in of_few_values:
        attribute = concept(frame[name])
        if attribute is not None:
            by_attribute.setdefault(attribute, name)
    chosen: list[str] = []
    # Rows of a subgroup, on average.
    n_rows = float(len(frame))
    for name in (*ages[:1], *by_attribute.values()):
        n_parts = min(frame[name].nunique(), FEW_VALUES)
        if not chosen or n_rows / n_parts >= FEWEST_GROUP_ROWS:
            chosen.append(name)
            n_rows /= n_parts
    if chosen:
        return tuple(chosen)
    categories = [name for name in of_few_values if not is_number(frame[name])]
    most_values_first = sorted(categories, key=lambda name: -frame[name].nunique())
    return tuple(most_values_first[:1])


def subgroups_of_cells(
    columns: pd.DataFrame, people: "pd.Series[Any]"
) -> tuple[str, ...]:
    """Return the column that parts the people of a table of counts, if any does.

    It is the first category of few values, each of which holds enough people on
    average, else the first such number; where none does, the one of the fewest values.
    """
    n_values = {str(name): int(columns[name].nunique()) for name in columns}
    if not n_values:
        return ()
    # Parts of a column with so many values hold enough people on average.
    most_values = min(float(people.sum()) / FEWEST_GROUP_ROWS, MANY_VALUES)
    large = [name for name, n in n_values.items() if n <= most_values]
    if large:
        categories = [name for name in large if not is_number(columns[name])]
        return (categories[0] if categories else large[0],)
    fewest_values_first = sorted(n_values, key=n_values.__getitem__)
    return (fewest_values_first[0],)
