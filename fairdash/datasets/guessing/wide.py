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

    All of up to `SCREEN_COLUMNS`. Of more, those ``chosen`` already, the first two and
    the last, those whose names say outcome, sensitive feature or score, then the
    others in their order.
    """
    names = list(frame.columns)
    if len(names) <= SCREEN_COLUMNS:
        return names
    certain = {*chosen, *map(str, (*names[:2], names[-1]))}
    ranked = sorted(names, key=lambda name: _strength(str(name), certain), reverse=True)
    kept = set(ranked[:SCREEN_COLUMNS])
    return [name for name in names if name in kept]


def _strength(name: str, certain: set[str]) -> float:
    """Return how strongly a name asks to be looked at."""
    return float("inf") if name in certain else _named_strength(name[:READ_LETTERS])


@lru_cache(maxsize=10_000)  # a page asks several times
def _named_strength(beginning: str) -> float:
    score = words.CLEAR if words.is_score(beginning) else 0.0
    if not words.says(beginning, _every_stem()):
        return score  # most names: one look instead of one at each table
    tables = words.SENSITIVE_WORDS.values()
    sensitive = max(words.strength(beginning, table) for table in tables)
    return max(words.outcome_strength(beginning), sensitive, score)


@cache
def _every_stem() -> str:
    """Return all that says outcome or sensitive feature."""
    tables = (words.OUTCOME_WORDS, *words.SENSITIVE_WORDS.values())
    return " ".join(stems for table in tables for stems in table.values())
