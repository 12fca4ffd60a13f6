"""Columns of sampling weights, as against what people weigh."""

import numpy as np
import pandas as pd

from fairdash.datasets.column_kinds import is_number, words
from fairdash.datasets.guessing.words import SENSITIVE_WORDS, listed, strength

_CERTAIN = listed("sampling_weight")
_WEIGHT = listed("weight")
_WEIGHED = listed("weighed")
_BODY = listed("body")
_SENSITIVE = 5.0  # how strongly the name of a column says that rows are people
_HEAVIEST = 10_000  # more than any unit in which a person's weight is written
# The 99th percentile over the 1st; of what people of all ages weigh it is below 300.
_WIDE = 5
_WIDEST = 1_000
_NEAR_ONE = 0.005  # the distance of the mean of normalised weights from 1
_VARIED = 0.01  # their standard deviation


def is_weight(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column says how many people a row stands for.

    Its name says so, as "pweight" or "survey weight" do. A bare "weight" in a table of
    people is one by its values, unless a column beside it describes a body: they are
    larger and spread wider than what people weigh, or their mean is 1.
    """
    name_words = words(name)
    if name_words & _CERTAIN:
        return True
    if not name_words & _WEIGHT or not name_words <= _WEIGHT | _WEIGHED:
        return False
    if name_words & _WEIGHED:
        return True
    peers = [str(column) for column in frame if str(column) != name]
    has_bodies = any(words(column) & _BODY for column in peers)
    has_people = any(map(_describes_people, peers))
    return has_people and not has_bodies and _weighs_no_bodies(frame[name])


def _describes_people(name: str) -> bool:
    """Return whether a column says that rows are people, as a sensitive one does."""
    strengths = (strength(name, table) for table in SENSITIVE_WORDS.values())
    return max(strengths) >= _SENSITIVE


def _weighs_no_bodies(column: "pd.Series[float]") -> bool:
    """Return whether values are sampling weights rather than what people weigh."""
    if not is_number(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or values.min() < 0:
        return False
    if abs(values.mean() - 1) <= _NEAR_ONE:
        return bool(values.std() > _VARIED)
    low, high = np.quantile(values, [0.01, 0.99])
    is_heavy = high > max(_HEAVIEST, _WIDE * low)
    return bool(is_heavy or high > _WIDEST * low)
