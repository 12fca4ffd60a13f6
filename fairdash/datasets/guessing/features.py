"""Which columns describe a case, and why the others are no features."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import column_kinds
from fairdash.datasets._rows import outcomes
from fairdash.datasets._values import Cut
from fairdash.datasets.checks.leakage import encodes_group, outcome_leak
from fairdash.datasets.guessing.weights import is_weight
from fairdash.datasets.guessing.wide import NOT_LOOKED_AT, looked_at
from fairdash.datasets.guessing.words import concept, is_score, listed

BOOKKEEPING = listed("bookkeeping")
PARTS = listed("parts")
DATE_WORDS = {"date", "dob", "timestamp"}
TIME_WORDS = {"year", "yr", "day", "days", "month", "months", "time", "two", "one"}
# These say nothing of the outcome, even in its name.
VAGUE_WORDS = TIME_WORDS | {"column", "field", "attribute", "variable", "var"}
KINDS = {"text": "free text", "id": "identifies rows", "date": "a date"}


def guess_features(
    frame: pd.DataFrame,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to predict from, and why each other column is not used.

    Beyond 20,000 rows a random sample decides, except whether a column numbers the
    rows. In a wide table only the columns that `looked_at` returns are read; the others
    are no features.
    """
    whole = frame[looked_at(frame, target, sensitive)]
    sample = whole
    if len(whole) > column_kinds.SCREEN_ROWS:
        sample = whole.iloc[column_kinds.some_rows(len(whole))]
    has_outcome = sample[target].notna().to_numpy()
    y = outcomes(sample.loc[has_outcome, target], positive)
    attribute = concept(sample[sensitive])
    group, _ = column_kinds.label_codes(sample[sensitive])
    features: list[str] = []
    left_out: dict[str, str] = {}
    feature_of_values: dict[bytes, str] = {}
    for name in map(str, whole.columns):
        if name in (target, sensitive):
            continue
        column = sample[name]
        # The first reason counts, and those that take longest to find come last.
        reason = (
            _by_name(whole[name], target)
            or _by_weight(sample, name)
            or _by_kind(column, whole[name])
            or _by_group(column, sensitive, attribute, group)
            or _by_outcome(column[has_outcome], y)
        )
        if reason:
            left_out[name] = reason
            continue
        hashes = pd.util.hash_pandas_object(column, index=False)
        values = hashes.to_numpy().tobytes()
        if values in feature_of_values:
            left_out[name] = f"copy of {feature_of_values[values]}"
        else:
            features.append(name)
            feature_of_values[values] = name
    read_names = set(map(str, whole.columns))
    for name in map(str, frame.columns):
        if name not in read_names:
            left_out[name] = NOT_LOOKED_AT
    return features, left_out


def bookkeeping(column: "pd.Series[Any]") -> str:
    """Return why a column is about the file and not about a case, or "".

    Its name says so, or its values are parts of the data, such as train and test.
    """
    named = column_kinds.words(str(column.name))
    plain = {word for word in named if not word.isdigit()}
    if (plain and plain <= BOOKKEEPING) or "filter" in plain or _names_parts(column):
        return "about the file, not the case"
    return ""


def _names_parts(column: "pd.Series[Any]") -> bool:
    """Return whether all values name parts of the data, such as train and test."""
    if not 1 < column_kinds.count_values(column, len(PARTS)) <= len(PARTS):
        return False
    values = {str(value).strip().lower() for value in column.dropna().unique()}
    return values <= PARTS


def _by_name(column: "pd.Series[Any]", target: str) -> str:
    """Return why the name of a column says that it is no feature, or ""."""
    if column_kinds.is_nested(column):
        return "holds lists or records"
    name = str(column.name)
    name_words = column_kinds.words(name)
    reason = bookkeeping(column)
    if reason:
        return reason
    if is_score(name, (target,)):
        return "output of another model"
    if _codes_outcome(column, target):
        return "another coding of the outcome"
    if name_words & DATE_WORDS and not column_kinds.is_number(column):
        return "a date"
    return ""


def _codes_outcome(column: "pd.Series[Any]", target: str) -> bool:
    """Return whether a column shares a word with the outcome and may be a coding of it.

    It is the outcome at another time, such as "arrest_two_year", or has two values.
    """
    name_words = column_kinds.words(str(column.name))
    target_words = {word for word in column_kinds.words(target) if not word.isdigit()}
    if not name_words & (target_words - VAGUE_WORDS):
        return False
    return bool(name_words & TIME_WORDS) or column_kinds.count_values(column, 2) == 2


def _by_weight(frame: pd.DataFrame, name: str) -> str:
    """Return that a column is a sampling weight, or ""."""
    return "a sampling weight" if is_weight(frame, name) else ""


def _by_group(
    column: "pd.Series[Any]",
    sensitive: str,
    attribute: str | None,
    group: NDArray[np.int64],
) -> str:
    """Return that a column says the same as the sensitive one, or "".

    ``attribute`` is what the sensitive column holds, such as "sex", and ``group`` the
    code of its value in each row.
    """
    if attribute is not None and concept(column) == attribute:
        return f"the same as {sensitive}"
    if encodes_group(column, group):
        return f"another coding of {sensitive}"
    return ""


def _by_outcome(column: "pd.Series[Any]", y: NDArray[np.int8]) -> str:
    """Return how a column may give the outcome away, or ""."""
    if not len(y):
        return ""
    leak = outcome_leak(column, y)
    return f"may give the outcome away: {leak}" if leak else ""


def _by_kind(column: "pd.Series[Any]", whole: "pd.Series[Any]") -> str:
    """Return why the values of a column say that it is no feature, or "".

    ``whole`` holds all rows, ``column`` those of the sample.
    """
    if column_kinds.count_values(column, 1) <= 1:
        return "one value in all rows" if column.notna().any() else "no values"
    # Values that all differ in a sample may repeat among all rows.
    kind = column_kinds.infer_kind(whole if column.is_unique else column)
    if column_kinds.is_number(column) and "id" in column_kinds.words(str(column.name)):
        return "identifies rows"
    return KINDS.get(kind, "")
