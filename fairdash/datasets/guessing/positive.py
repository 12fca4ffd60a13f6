"""Which values of an outcome count as 1: a first guess, for the analyst to correct."""

from typing import Any

import pandas as pd

from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import (
    common_labels,
    count_values,
    is_coded,
    is_number,
    label_codes,
)
from fairdash.datasets.guessing.ranking import MOST_CLASSES
from fairdash.datasets.guessing.words import LISTS, listed

POSITIVE = LISTS["yes"].split()
NEGATIVE = listed("no")
MOST_MOVED = 0.02  # of the rows on a side of a median that is rounded


def guess_positive(column: "pd.Series[Any]") -> str | tuple[str, ...] | Cut:
    """Propose what counts as 1 in an outcome.

    - Two values: the one that says yes, else the last.
    - More numbers: those above the rounded median.
    - More words or codes: the one that says yes, else all but the one that says no,
      else the commonest.

    Raises ValueError if the column has no value.
    """
    if not column.notna().any():
        raise ValueError(
            f"{column.name!r} has no value in any row, so it cannot be the outcome; "
            "choose another column."
        )
    if count_values(column, 2) <= 2:
        _, labels = label_codes(column)
        return min(reversed(labels), key=_yes_rank)
    if is_number(column) and not is_coded(column):
        above = bool((column > column.median()).any())
        value = round_median(column, above=above)
        return Cut(sign=">" if above else ">=", value=value)
    labels = common_labels(column)
    best = min(labels, key=_yes_rank)
    if _yes_rank(best) < len(POSITIVE):
        return (best,)
    rest = tuple(label for label in labels if label.strip().lower() not in NEGATIVE)
    says_no = len(rest) < len(labels)
    if says_no and len(labels) <= MOST_CLASSES:
        return rest
    return (labels[0],)


def round_median(column: "pd.Series[Any]", *, above: bool) -> float:
    """Return the median with the fewest digits that move hardly any row across it.

    With ``above`` the rows of one side lie above the median, else at or above it.
    """
    median = float(column.median())
    side = column.gt if above else column.ge
    exact = side(median)
    share = float(exact.mean())
    most = MOST_MOVED * min(share, 1 - share)
    # With 17 digits the number is the median itself, which moves no row.
    rounded = (float(f"{median:.{digits}g}") for digits in range(2, 18))
    return next(value for value in rounded if (side(value) ^ exact).mean() <= most)


def _yes_rank(label: str) -> int:
    """Return how early a value stands in the list of words for yes, last if absent."""
    plain = label.strip().lower()
    return POSITIVE.index(plain) if plain in POSITIVE else len(POSITIVE)
