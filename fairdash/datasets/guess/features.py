"""Which columns describe a case, and why the others are no features."""

from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import (
    count_values,
    infer_kind,
    is_nested,
    is_number,
    label_codes,
    some_rows,
    words,
)
from fairdash.datasets._roles import Cut
from fairdash.datasets._rows import outcomes
from fairdash.datasets.checks.leakage import (
    CODING_LIMIT,
    coding_table,
    encodes_group,
    is_score,
    outcome_leak,
)
from fairdash.datasets.guess.words import concept

# columns named by these words alone
BOOKKEEPING = {
    "split", "fold", "sample", "train", "test", "set", "complete", "fnlwgt",
    "start", "end", "event",
}  # fmt: skip
# a weight of these is how many people a row stands for, not what somebody weighs
WEIGHTS = {"weight", "weights", "wt", "wgt"}
WEIGHED = {"person", "household", "sample", "sampling", "survey", "final"}
# values of a column that says to which part of the data a row belongs
PARTS = {
    "train", "training", "test", "testing", "validation", "valid", "val", "dev",
    "holdout", "calibration",
}  # fmt: skip
FEWEST_NAMED = 100  # rows a flag marks before its name can hold their number
NAMED_MARGIN = 0.05  # rows may have been excluded since
DATE_WORDS = {"date", "dob", "timestamp"}
TIME_WORDS = {"year", "yr", "day", "days", "month", "months", "time", "two", "one"}
# say nothing of the outcome, even in its name
VAGUE_WORDS = TIME_WORDS | {"column", "field", "attribute", "variable", "var"}
MOST_RENAMED = 5  # the number of years behind a degree is a fact of its own
KINDS = {"text": "free text", "id": "identifies rows", "date": "a date"}


def guess_features(
    frame: pd.DataFrame,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to predict from, and why each other column is not used.

    Of more than 20,000 rows a random sample decides, but for what numbers the rows.
    """
    whole, frame = frame, frame.iloc[some_rows(len(frame))]
    known = frame[target].notna().to_numpy()
    y = outcomes(frame.loc[known, target], positive)
    group, _ = label_codes(frame[sensitive])
    about = concept(frame[sensitive])
    features: set[str] = set()
    left_out: dict[str, str] = {}
    same: dict[bytes, str] = {}
    names = [str(name) for name in frame.columns]
    text = [name for name in names if not is_number(frame[name])]
    # words before codes: of two codings of one fact the readable one stays
    for name in dict.fromkeys([*text, *names]):
        if name in (target, sensitive):
            continue
        column = frame[name]
        reason = _by_name(whole[name], target) or _by_kind(column, whole[name])
        if not reason and about is not None and concept(column) == about:
            reason = f"the same as {sensitive}"
        if not reason and (
            encodes_group(column, group) or _is_function_of(column, group)
        ):
            reason = f"another coding of {sensitive}"
        marks = {} if reason else _marks(column)
        if not reason:
            reason = next((f"{marks[m]} {same[m]}" for m in marks if m in same), "")
        if not reason and len(y) and (gives := outcome_leak(column[known], y)):
            reason = f"may give the outcome away: {gives}"
        if reason:
            left_out[name] = reason
        else:
            features.add(name)
            same |= dict.fromkeys(marks, name)
    return [name for name in names if name in features], left_out


def _marks(column: "pd.Series[Any]") -> dict[bytes, str]:
    """Return the digests by which another column may turn out to say the same."""
    marks = {mark_values(column): "copy of"}
    mixed = pd.api.types.is_object_dtype(column)  # 1 and "1" have one label
    if mixed or count_values(column, MOST_RENAMED) <= MOST_RENAMED:
        marks[mark_split(column)] = "another coding of"
    return marks


def mark_values(column: "pd.Series[Any]") -> bytes:
    """Return a digest of the values in their order; of equal columns it is the same."""
    rows = pd.util.hash_pandas_object(column, index=False).to_numpy()
    return blake2b(f"{column.dtype} {len(rows)}".encode() + rows.tobytes()).digest()


def mark_split(column: "pd.Series[Any]") -> bytes:
    """Return a digest of how a column splits the rows, whatever its values are called.

    It is the same if each label of one column goes with one of the other and back, and
    the same rows are missing.
    """
    codes, labels = label_codes(column)
    _, places = np.unique(codes[codes >= 0], return_index=True)
    turn = np.full(len(labels) + 1, -1)  # the last entry answers to a missing value
    turn[np.argsort(places)] = np.arange(len(labels))
    return blake2b(turn[codes].tobytes()).digest()


def bookkeeping(column: "pd.Series[Any]") -> str:
    """Return why a column is about the file and not about a case, or "".

    Its name says so; its values are parts of the data, such as train and test; or it
    has two values and its name holds the number of rows with one of them, as
    ``in_sample_1823`` does (within 5 %, of 100 rows or more).
    """
    named = words(str(column.name))
    plain = {word for word in named if not word.isdigit()}
    if (plain and plain <= BOOKKEEPING) or "filter" in plain:
        return "about the file, not the case"
    if _names_parts(column):
        return "about the file, not the case: parts of the data"
    sizes = [int(word) for word in named - plain if int(word) >= FEWEST_NAMED]
    if sizes and count_values(column, 2) == 2:
        counts = column.value_counts()
        for n_rows in counts:
            if any(abs(n_rows - size) <= NAMED_MARGIN * size for size in sizes):
                why = f"named after the {n_rows:,} rows it marks"
                return f"about the file, not the case: {why}"
    return ""


def _names_parts(column: "pd.Series[Any]") -> bool:
    if not 1 < count_values(column, len(PARTS)) <= len(PARTS):
        return False
    return {str(v).strip().lower() for v in column.dropna().unique()} <= PARTS


def _by_name(column: "pd.Series[Any]", target: str) -> str:
    if is_nested(column):
        return "holds lists or records"
    name = str(column.name)
    named = words(name)
    outcome = {word for word in words(target) if not word.isdigit()} - VAGUE_WORDS
    if why := bookkeeping(column):
        return why
    if named & WEIGHTS and named & WEIGHED and named <= WEIGHTS | WEIGHED:
        return "a sampling weight"
    if is_score(name, (target,)):
        return "output of another model"
    if named & outcome and (named & TIME_WORDS or count_values(column, 2) == 2):
        return "another coding of the outcome"
    return "a date" if named & DATE_WORDS and not is_number(column) else ""


def _by_kind(column: "pd.Series[Any]", whole: "pd.Series[Any]") -> str:
    if count_values(column, 1) <= 1:
        return "one value in all rows" if column.notna().any() else "no values"
    # whether no value comes twice is known from all rows
    kind = infer_kind(whole if column.is_unique else column)
    if is_number(column) and "id" in words(str(column.name)):
        return "identifies rows"
    return KINDS.get(kind, "")


def _is_function_of(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Tell whether the groups tell which rows have no common value of a column."""
    counts = coding_table(column, group)
    if counts is None:
        return False
    table = counts.T
    usual = int(table.sum(axis=0).argmax())
    told = table.argmax(axis=1)
    odd = np.delete(table, usual, axis=1).sum()
    found = sum(int(row[t]) for row, t in zip(table, told, strict=True) if t != usual)
    right = int(table.max(axis=1).sum())
    return bool(found >= CODING_LIMIT * odd and right >= CODING_LIMIT * table.sum())
