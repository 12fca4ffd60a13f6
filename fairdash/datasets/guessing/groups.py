"""Groups of a sensitive column: a guess, and those made of chosen values."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import is_bare
from fairdash.datasets.column_kinds import (
    count_codes,
    count_values,
    is_number,
    label_codes,
    range_labels,
)
from fairdash.datasets.guessing.positive import round_median
from fairdash.datasets.ranges import edges, parts_between

MAJORITY_ETHNICITY = {"white", "caucasian", "cauc"}
MOST_GROUPS = 5
MANY_VALUES = 20
FEWEST_GROUP_ROWS = 100
_OTHERS = "All others"


def guess_groups(
    column: "pd.Series[Any]", *, second: bool = False
) -> tuple[dict[str, tuple[str, ...]] | None, tuple[float, ...]]:
    """Propose the groups of a sensitive column.

    With ``second`` the largest other ethnicity is a group as well: an existing model is
    audited for whom it is about, and needs no pair of groups to be trained.

    Returns
    -------
    groups : dict of str to tuple of str, optional
        As in `Roles`. Ethnicity gets a value such as "White" or "Caucasian" and all
        others; rare values of other columns are put together.
    cuts : tuple of float
        The median of a number of more than 20 values: two groups. Many ranges are cut
        at the end that is nearest to the median.
    """
    if is_number(column) and count_values(column, MANY_VALUES) > MANY_VALUES:
        return None, (round_median(column, above=False),)
    codes, labels = label_codes(column)
    ranges = range_labels(column)
    if ranges is not None and len(ranges) > MOST_GROUPS:
        return None, (_middle_end(column, ranges),)
    if len(labels) == 2:
        # "0" and "1" say nothing without the name of the column.
        if all(map(is_bare, labels)):
            return {f"{column.name} {label}": (label,) for label in labels}, ()
        return None, ()
    counts = count_codes(codes, len(labels))
    by_rows = np.argsort(-counts, kind="stable")
    majority = _majority_ethnicity(labels)
    if majority is not None:
        chosen = [majority]
        if second:
            largest_first = (labels[i] for i in by_rows)
            chosen.append(next(label for label in largest_first if label != majority))
        return groups_of(chosen, labels), ()
    large = [i for i in by_rows[:MOST_GROUPS] if counts[i] >= FEWEST_GROUP_ROWS]
    if len(large) == len(labels):
        return None, ()
    # The last group is of all others; without a large value the commonest stays.
    chosen_codes = (large or by_rows[:1])[: MOST_GROUPS - 1]
    return groups_of([labels[i] for i in chosen_codes], labels), ()


def _majority_ethnicity(labels: Sequence[str]) -> str | None:
    """Return the value that names the majority, such as "White", None without one."""
    for label in labels:
        if label.lower() in MAJORITY_ETHNICITY:
            return label
    return None


def _middle_end(column: "pd.Series[Any]", ranges: list[str]) -> float:
    """Return the lower end of ranges that divides the rows most evenly."""
    codes, labels = label_codes(column)
    counts = count_codes(codes, len(labels))
    n_rows = int(counts.sum())
    rows = {label: int(count) for label, count in zip(labels, counts, strict=True)}

    def unevenness(end: float) -> int:
        parts = parts_between(str(column.name), ranges, [end])
        n_above = sum(rows[label] for label in ranges if parts[label] == 1)
        return abs(n_rows - 2 * n_above)

    return min(edges(ranges), key=unevenness)


def groups_of(
    chosen: Sequence[str], labels: Collection[str]
) -> dict[str, tuple[str, ...]] | None:
    """Return a group of each chosen value, and one of all other ``labels`` together.

    A rest of one value has its name. None, which makes a group of every value, where
    all or none are chosen.
    """
    if not chosen or len(chosen) == len(labels):
        return None
    if len(chosen) == 1:
        return {chosen[0]: (chosen[0],), f"Not {chosen[0]}": ()}
    rest = [label for label in labels if label not in chosen]
    name_of_rest = rest[0] if len(rest) == 1 else _OTHERS
    groups: dict[str, tuple[str, ...]] = {value: (value,) for value in chosen}
    groups[name_of_rest] = ()
    return groups


def chosen_of(groups: Mapping[str, tuple[str, ...]] | None) -> tuple[str, ...] | None:
    """Return the values that `groups_of` makes these groups of.

    None where it cannot make them: without all others, or with several values in a
    group.
    """
    groups = groups or {}
    listed = [values for values in groups.values() if values]
    lacks_rest = bool(groups) and len(listed) == len(groups)
    if lacks_rest or any(len(values) > 1 for values in listed):
        return None
    return tuple(values[0] for values in listed)
