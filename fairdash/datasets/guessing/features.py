"""Which columns describe a case, and why the others are no features."""

from typing import Any

import pandas as pd

from fairdash.datasets import column_kinds
from fairdash.datasets._roles import Cut
from fairdash.datasets._rows import outcomes
from fairdash.datasets.checks.leakage import encodes_group, outcome_leak
from fairdash.datasets.guessing.weights import is_weight
from fairdash.datasets.guessing.wide import NOT_LOOKED_AT, looked_at
from fairdash.datasets.guessing.words import concept, is_score, listed

BOOKKEEPING, PARTS = listed("bookkeeping"), listed("parts")
DATE_WORDS = {"date", "dob", "timestamp"}
TIME_WORDS = {"year", "yr", "day", "days", "month", "months", "time", "two", "one"}
# say nothing of the outcome, even in its name
VAGUE_WORDS = TIME_WORDS | {"column", "field", "attribute", "variable", "var"}
KINDS = {"text": "free text", "id": "identifies rows", "date": "a date"}


def guess_features(
    frame: pd.DataFrame,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to predict from, and why each other column is not used.

    Of more than 20,000 rows a random sample decides, but for what numbers the rows. Of
    a wide table the columns that `looked_at` returns are read, and the others are no
    features.
    """
    all_names = list(map(str, frame.columns))
    frame = whole = frame[looked_at(frame, target, sensitive)]
    if len(frame) > column_kinds.SCREEN_ROWS:
        frame = frame.iloc[column_kinds.some_rows(len(frame))]
    has_outcome = frame[target].notna().to_numpy()
    y = outcomes(frame.loc[has_outcome, target], positive)
    group, _ = column_kinds.label_codes(frame[sensitive])
    about = concept(frame[sensitive])
    features: list[str] = []
    left_out: dict[str, str] = {}
    copies: dict[bytes, str] = {}
    for name in map(str, frame.columns):
        if name in (target, sensitive):
            continue
        column = frame[name]
        reason = _by_name(whole[name], target)
        if not reason and is_weight(frame, name):
            reason = "a sampling weight"
        reason = reason or _by_kind(column, whole[name])
        if not reason and about is not None and concept(column) == about:
            reason = f"the same as {sensitive}"
        if not reason and encodes_group(column, group):
            reason = f"another coding of {sensitive}"
        if not reason and len(y) and (gives := outcome_leak(column[has_outcome], y)):
            reason = f"may give the outcome away: {gives}"
        if reason:
            left_out[name] = reason
            continue
        values = pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes()
        if values in copies:
            left_out[name] = f"copy of {copies[values]}"
        else:
            features.append(name)
            copies[values] = name
    seen = {*map(str, frame.columns)}
    left_out |= {name: NOT_LOOKED_AT for name in all_names if name not in seen}
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
    if not 1 < column_kinds.count_values(column, len(PARTS)) <= len(PARTS):
        return False
    return {str(v).strip().lower() for v in column.dropna().unique()} <= PARTS


def _by_name(column: "pd.Series[Any]", target: str) -> str:
    if column_kinds.is_nested(column):
        return "holds lists or records"
    name = str(column.name)
    named = column_kinds.words(name)
    outcome = {
        word for word in column_kinds.words(target) if not word.isdigit()
    } - VAGUE_WORDS
    if why := bookkeeping(column):
        return why
    if is_score(name, (target,)):
        return "output of another model"
    if named & outcome and (
        named & TIME_WORDS or column_kinds.count_values(column, 2) == 2
    ):
        return "another coding of the outcome"
    return "a date" if named & DATE_WORDS and not column_kinds.is_number(column) else ""


def _by_kind(column: "pd.Series[Any]", whole: "pd.Series[Any]") -> str:
    if column_kinds.count_values(column, 1) <= 1:
        return "one value in all rows" if column.notna().any() else "no values"
    # whether no value comes twice is known from all rows
    kind = column_kinds.infer_kind(whole if column.is_unique else column)
    if column_kinds.is_number(column) and "id" in column_kinds.words(str(column.name)):
        return "identifies rows"
    return KINDS.get(kind, "")
