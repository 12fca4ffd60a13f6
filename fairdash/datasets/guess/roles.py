"""A first guess of what the columns of a table mean, for the analyst to correct."""

from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._columns import (
    count_codes,
    count_values,
    is_age,
    is_bare,
    is_nested,
    is_number,
    label_codes,
    words,
)
from fairdash.datasets._roles import Roles
from fairdash.datasets.guess.features import bookkeeping, guess_features
from fairdash.datasets.guess.meaning import ETHNICITY, SEX, concept, guess_meaning

TARGET_WORDS = {
    "target", "label", "outcome", "y", "class", "approved", "accepted", "admitted",
    "hired", "readmitted", "recid", "default", "income", "credit", "pass", "bar",
    "churn", "fraud", "survived", "granted", "decision",
}  # fmt: skip
POSITIVE = (
    "1", "yes", "y", "true", "approved", "accepted", "admitted", "hired", "granted",
    "good", "pass", "passed", "p", ">50k", ">50k.", "positive",
)  # fmt: skip
MAJORITY_ETHNICITY = {"white", "caucasian"}
MOST_GROUPS = 5
MOST_SENSITIVE = 20  # values of the sensitive column
FEWEST_GROUP_ROWS = 100


def guess_roles(frame: pd.DataFrame) -> Roles:
    """Guess outcome, sensitive feature, features and subgroup columns.

    The guess goes by names and contents. Excluded from the features: identifiers,
    dates, free text, constants, copies of other columns, book-keeping such as a
    train/test flag, other models' scores, other codings of the outcome or of the
    sensitive feature, and columns that give the outcome away. A column of True and
    False whose name says filter becomes a row filter.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    Roles
        For ethnicity with a value such as "White" or "Caucasian" the groups are this
        value and all others; rare groups of other columns are put together.

    Raises
    ------
    ValueError
        If no column has two values, or there is no second column to compare groups by,
        or none is left as a feature.
    """
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    target = _guess_target(frame)
    _, labels = label_codes(frame[target])
    positive = _guess_positive(labels)
    sensitive = _guess_sensitive(frame, target)
    features, _ = guess_features(frame, target, positive, sensitive)
    if not features:
        raise ValueError(
            "No column is left to predict from: all others identify rows, are constant "
            "or give the outcome away. Choose the features by hand."
        )
    filters = [
        name
        for name in _names(frame)
        if pd.api.types.is_bool_dtype(frame[name]) and "filter" in words(name)
    ]
    name, meaning = guess_meaning(target, positive)
    return Roles(
        target=target,
        positive=positive,
        sensitive_feature=sensitive,
        groups=_guess_groups(frame[sensitive]),
        features=tuple(features),
        subgroup_columns=_guess_subgroup_columns(frame, features),
        keep=dict.fromkeys(filters, ("1",)),
        positive_name=name,
        positive_is=meaning,
    )


def _guess_target(frame: pd.DataFrame) -> str:
    """Return the last column of two values, before others one named like an outcome."""
    candidates = [
        name
        for name in _names(frame)
        if count_values(frame[name], 2) == 2
        and concept(frame[name]) is None
        and not bookkeeping(frame[name])
    ]
    if not candidates:
        raise ValueError(
            "No column has exactly two values, so none can be the outcome; make a "
            "column of two values, for example from a threshold."
        )
    named = [name for name in candidates if words(name) & TARGET_WORDS]
    return (named or candidates)[-1]


def _guess_positive(labels: list[str]) -> str:
    """Return the value that says yes; without one, the last."""
    rank = {value: position for position, value in enumerate(POSITIVE)}
    return min(
        reversed(labels), key=lambda x: rank.get(x.strip().lower(), len(POSITIVE))
    )


def _guess_sensitive(frame: pd.DataFrame, target: str) -> str:
    """Return ethnicity, else sex, else another column of few values."""
    few = [
        name
        for name in _names(frame)
        if name != target
        and 2 <= count_values(frame[name], MOST_SENSITIVE) <= MOST_SENSITIVE
    ]
    for known in (ETHNICITY, SEX):
        named = [name for name in few if concept(frame[name]) is known]
        if named:
            told = {name: _groups_told(frame[name]) for name in named}
            return max(named, key=told.__getitem__)
    if not few:
        raise ValueError(
            "No column has between 2 and 20 values, so none can be the sensitive "
            "feature; make one, for example age in two bands."
        )
    return max(few, key=lambda name: _second_largest(frame, name))


def _names(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.columns]


def _groups_told(column: "pd.Series[Any]") -> tuple[bool, int]:
    """Rank columns of people: values with names first, then the larger second group."""
    _, labels = label_codes(column)
    named = any(label.lower() in MAJORITY_ETHNICITY for label in labels)
    return named, int(column.value_counts().iloc[1])


def _second_largest(frame: pd.DataFrame, name: str) -> int:
    return int(frame[name].value_counts().iloc[1])


def _guess_groups(column: "pd.Series[Any]") -> dict[str, tuple[str, ...]] | None:
    codes, labels = label_codes(column)
    if len(labels) == 2:
        bare = all(map(is_bare, labels))
        return {f"{column.name} {x}": (x,) for x in labels} if bare else None
    for label in labels:
        if label.lower() in MAJORITY_ETHNICITY:
            return {label: (label,), f"Not {label}": ()}
    counts = count_codes(codes, len(labels))
    order = np.argsort(-counts, kind="stable")
    large = [i for i in order[:MOST_GROUPS] if counts[i] >= FEWEST_GROUP_ROWS]
    if len(large) == len(labels):
        return None
    alone = [labels[i] for i in (large or order[:1])[: MOST_GROUPS - 1]]
    return {**{label: (label,) for label in alone}, "All others": ()}


def _guess_subgroup_columns(
    frame: pd.DataFrame, features: list[str]
) -> tuple[str, ...]:
    """Return age and then sex or ethnicity; without any, a category of few values."""
    ages = [name for name in features if is_age(name) and is_number(frame[name])]
    few = [n for n in features if count_values(frame[n], MOST_GROUPS) <= MOST_GROUPS]
    people = [name for name in few if concept(frame[name]) is not None]
    others = [name for name in few if not is_number(frame[name])]
    found = (*ages[:1], *people)
    return found or tuple(sorted(others, key=lambda n: -frame[n].nunique())[:1])
