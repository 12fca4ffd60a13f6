"""Which columns of a wide table are looked at."""

from functools import cache, lru_cache
from typing import Any

import pandas as pd

from fairdash.datasets.column_kinds import SCREEN_COLUMNS
from fairdash.datasets.guessing import words

READ_LETTERS = 60  # of a name, to tell which columns come first
NOT_LOOKED_AT = f"not among the {SCREEN_COLUMNS} columns that are looked at"


def looked_at(frame: pd.DataFrame, *chosen: str) -> list[Any]:
    """Return the names of the columns whose values a guess looks at, in their order.

    A table of at most `SCREEN_COLUMNS` columns is looked at whole. In a wider one come
    first the columns ``chosen`` already, the first two and the last, then those whose
    names say outcome, sensitive feature or score, then the others in their order.
    """
    names = list(frame.columns)
    if len(names) <= SCREEN_COLUMNS:
        return names
    ends = (*names[:2], names[-1])
    certain = {*chosen, *map(str, ends)}

    def priority(name: Any) -> float:
        return _priority(str(name), certain)

    ranked = sorted(names, key=priority, reverse=True)
    first = set(ranked[:SCREEN_COLUMNS])
    return [name for name in names if name in first]


def _priority(name: str, certain: set[str]) -> float:
    """Return how much a column should be looked at, by its name alone."""
    if name in certain:
        return float("inf")
    return _named_priority(name[:READ_LETTERS])


@lru_cache(maxsize=10_000)  # a page asks several times
def _named_priority(beginning: str) -> float:
    """Return how strongly a name says outcome, sensitive feature or score."""
    score = words.CLEAR if words.is_score(beginning) else 0.0
    # Most names say nothing. One search finds that out instead of one in each table.
    if not words.says(beginning, _all_stems()):
        return score
    tables = words.SENSITIVE_WORDS.values()
    sensitive = max(words.strength(beginning, table) for table in tables)
    return max(words.outcome_strength(beginning), sensitive, score)


@cache
def _all_stems() -> str:
    """Return the stems that say outcome or sensitive feature, in one string."""
    tables = (words.OUTCOME_WORDS, *words.SENSITIVE_WORDS.values())
    return " ".join(stems for table in tables for stems in table.values())
