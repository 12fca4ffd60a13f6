"""Which columns say how many people a row stands for, and not what somebody weighs."""

import numpy as np
import pandas as pd

from fairdash.datasets.column_kinds import is_number, words
from fairdash.datasets.guessing.words import SENSITIVE_WORDS, listed, strength

_CERTAIN, _WEIGHT = listed("sampling_weight"), listed("weight")
_WEIGHED, _BODY = listed("weighed"), listed("body")
_SENSITIVE = 5.0  # how strongly a name beside it says that rows are people
_HEAVIEST = 10_000  # more than any unit in which a person's weight is written
_WIDE, _WIDEST = 5, 1_000  # times the 1st percentile: of all ages, from birth on, < 300
_NEAR_ONE, _VARIED = 0.005, 0.01  # of normalised weights: mean, standard deviation


def is_weight(frame: pd.DataFrame, name: str) -> bool:
    """Return whether a column says how many people a row stands for.

    Its name says so, as "pweight" or "survey weight" do. A bare "weight" in a table of
    people is one by its values, unless a column beside it describes a body: they are
    larger and spread wider than what people weigh, or their mean is 1.
    """
    named = words(name)
    if named & _CERTAIN:
        return True
    if not named & _WEIGHT or not named <= _WEIGHT | _WEIGHED:
        return False
    if named & _WEIGHED:
        return True
    beside = [str(other) for other in frame if str(other) != name]
    of_bodies = any(words(other) & _BODY for other in beside)
    of_people = any(map(_describes_people, beside))
    return of_people and not of_bodies and _weighs_no_bodies(frame[name])


def _describes_people(name: str) -> bool:
    strengths = (strength(name, table) for table in SENSITIVE_WORDS.values())
    return max(strengths) >= _SENSITIVE


def _weighs_no_bodies(column: "pd.Series[float]") -> bool:
    if not is_number(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    if not len(values) or not np.isfinite(values).all() or values.min() < 0:
        return False
    if abs(values.mean() - 1) <= _NEAR_ONE:
        return bool(values.std() > _VARIED)
    low, high = np.quantile(values, [0.01, 0.99])
    return bool(high > _WIDEST * low or high > max(_HEAVIEST, _WIDE * low))
