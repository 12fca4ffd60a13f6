"""Which values of a sensitive column make a group: a guess, and what is chosen."""

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
        As in `Roles`: of ethnicity a value such as "White" or "Caucasian" and all
        others; rare values of other columns put together.
    cuts : tuple of float
        The median of a number of more than 20 values: two groups. Of many ranges the
        end that is nearest to the median.
    """
    if is_number(column) and count_values(column, MANY_VALUES) > MANY_VALUES:
        return None, (round_median(column, above=False),)
    codes, labels = label_codes(column)
    if (by_size := range_labels(column)) is not None and len(by_size) > MOST_GROUPS:
        return None, (_middle_end(column, by_size),)
    if len(labels) == 2:
        bare = all(map(is_bare, labels))
        return ({f"{column.name} {x}": (x,) for x in labels} if bare else None), ()
    counts = count_codes(codes, len(labels))
    order = np.argsort(-counts, kind="stable")
    for label in labels:
        if label.lower() in MAJORITY_ETHNICITY:
            if not second:
                return groups_of([label], labels), ()
            other = next(labels[i] for i in order if labels[i] != label)
            return groups_of([label, other], labels), ()
    large = [i for i in order[:MOST_GROUPS] if counts[i] >= FEWEST_GROUP_ROWS]
    if len(large) == len(labels):
        return None, ()
    alone = [labels[i] for i in (large or order[:1])[: MOST_GROUPS - 1]]
    return groups_of(alone, labels), ()


def _middle_end(column: "pd.Series[Any]", by_size: list[str]) -> float:
    """Return the lower end of ranges that parts the rows most evenly."""
    codes, labels = label_codes(column)
    rows = dict(zip(labels, count_codes(codes, len(labels)), strict=True))

    def unevenness(end: float) -> int:
        parts = parts_between(str(column.name), by_size, [end])
        above = sum(int(rows[label]) for label in by_size if parts[label] == 1)
        return abs(sum(map(int, rows.values())) - 2 * above)

    return min(edges(by_size), key=unevenness)


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
    together = rest[0] if len(rest) == 1 else _OTHERS
    return {**{value: (value,) for value in chosen}, together: ()}


def chosen_of(groups: Mapping[str, tuple[str, ...]] | None) -> tuple[str, ...] | None:
    """Return the values that `groups_of` makes these groups of.

    None where it cannot make them: without all others, or with several values in a
    group.
    """
    named = [values for values in (groups or {}).values() if values]
    if (groups and len(named) == len(groups)) or any(
        len(values) > 1 for values in named
    ):
        return None
    return tuple(values[0] for values in named)
