"""Checks of scores, groups and weights for every post-processing method."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash._columns import as_vector
from fairdash._validation import (
    as_written,
    check_distinct,
    check_lengths,
    check_non_negative,
    check_one_of,
    crossed,
    encode_groups,
    value_label,
    value_labels,
)
from fairdash._wording import listing
from fairdash.metrics import counting

ScoreType = Literal["margin", "probability", "decision"]

SCORE_TYPES = {
    "margin": "margins in [-1, 1]",
    "probability": "probabilities in [0, 1]",
    "decision": "decisions 0 or 1",  # of a model that gives nothing else
}
_MISSING = "Missing"  # as `fairdash.datasets` names it


def as_margins(scores: ArrayLike, score_type: str = "margin") -> FloatArray:
    """Return scores as margins 2p - 1 in [-1, 1], or say which rows are outside."""
    check_one_of("score_type", score_type, SCORE_TYPES)
    values = np.asarray(scores)
    if values.ndim != 1 or values.size == 0 or values.dtype.kind not in "fiub":
        message = "`scores` must be one vector of numbers, got"
        raise ValueError(f"{message} {values.dtype} of shape {values.shape}.")
    values = values.astype(np.float64)
    wrong = np.flatnonzero(~_within(values, score_type))
    if len(wrong):
        raise ValueError(
            f"`scores` must be {SCORE_TYPES[score_type]}; {len(wrong)} rows are not, "
            f"the first is {as_written(values[wrong[0]])} in row {wrong[0]}. Exclude "
            "these rows, rescale the scores, or set another `score_type`."
        )
    return values if score_type == "margin" else 2 * values - 1


def _within(values: FloatArray, score_type: str) -> NDArray[np.bool_]:
    """Return which scores fit their type; NaN fits none."""
    if score_type == "decision":
        return np.isin(values, (0.0, 1.0))
    lowest = -1 if score_type == "margin" else 0
    return (values >= lowest) & (values <= 1)


def guess_score_type(scores: ArrayLike) -> ScoreType:
    """Return the type of scores: decisions if 0 and 1, else by their range.

    These are probabilities where no score is negative.
    """
    values = np.asarray(scores, dtype=np.float64)
    if _within(values, "decision").all():
        return "decision"
    return "margin" if values.min() < 0 else "probability"


def read_margins(column: "pd.Series[Any]", kind: ScoreType | None = None) -> FloatArray:
    """Return margins of a column of a file: of what ``kind`` or the values tell.

    Raises ValueError when a value is missing, no number, or not of its kind.
    """
    numbers = pd.to_numeric(column, errors="coerce")
    scores: FloatArray = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    kind = kind or guess_score_type(scores)
    wrong = np.flatnonzero(~_within(scores, kind))
    if len(wrong):
        raise ValueError(
            f"Column {column.name!r} must hold {SCORE_TYPES[kind]}; {len(wrong)} rows "
            f"do not, first row {wrong[0] + 1} with {as_written(column.iloc[wrong[0]])}"
            ". Choose another column, correct or exclude these rows, or say what they "
            "are: score_type, on the command line --score-type."
        )
    return as_margins(scores, kind)


def check_rate(name: str, rate: object) -> None:
    """Raise ValueError if a rate is no number in [0, 1]."""
    check_non_negative(name, rate)
    if float(np.asarray(rate)) > 1:
        raise ValueError(f"`{name}` must lie in [0, 1], got {value_label(rate)}.")


def check_informative(margins: FloatArray, score_type: str = "margin") -> None:
    """Raise ValueError if scores are constant or look like labels and are not told."""
    low = margins.min()
    high = margins.max()
    label_like = {low, high} <= {-1.0, 0.0, 1.0} and score_type != "decision"
    two_values = low < high and ((margins == low) | (margins == high)).all()
    # Of two rows the scores may well be 0 and 1.
    if label_like and two_values and len(margins) > 2:
        raise ValueError(
            f"`scores` hold only {[float(low), float(high)]}, which look like labels "
            "or decisions. Give probabilities or margins of the model instead. If it "
            "has none, give its decisions 0 and 1 with `score_type='decision'`."
        )
    if low == high:
        raise ValueError(
            f"`scores` are constant ({margins[0]:g} in all {len(margins)} rows), so "
            "no threshold can tell rows apart. Give the scores of another model."
        )


def as_weights(sample_weight: ArrayLike | None, like: FloatArray) -> FloatArray | None:
    """Return weights of the rows: finite, none negative, some above 0."""
    if sample_weight is None:
        return None
    weight = counting.row_weights("sample_weight", sample_weight, len(like))
    if not weight.any():
        raise ValueError("`sample_weight` must not be 0 in all rows.")
    return weight


class FittedGroups(NamedTuple):
    """Groups of rows to learn on.

    Attributes
    ----------
    values : tuple
        As they stand in the column.
    names : tuple of str
        As JSON and the screen call them.
    codes : ndarray of shape (n,)
        Index of every row's group.
    """

    values: tuple[Any, ...]
    names: tuple[str, ...]
    codes: NDArray[np.int64]


def fit_groups(
    sensitive_features: ArrayLike, margins: FloatArray, weight: FloatArray | None
) -> FittedGroups:
    """Return the groups, each of at least two rows with a weight above 0."""
    groups, codes = encode_groups(sensitive_features, margins)
    names = tuple(value_label(group) for group in groups)
    check_distinct("sensitive_features", names)
    counted = np.ones(len(margins), bool) if weight is None else weight > 0
    sizes = np.bincount(codes[counted], minlength=len(names))
    small = []
    for name, n in zip(names, sizes, strict=True):
        if n < 2:
            small.append(f"{name} ({n})")
    if small:
        raise ValueError(
            f"There are groups of fewer than two rows: {listing(small)}; no rate can "
            "be learned from these. Merge them with another group or exclude them."
        )
    return FittedGroups(tuple(groups.tolist()), names, codes)


def known_codes(
    sensitive_features: ArrayLike,
    names: Sequence[str],
    like: Any,
    column: str = "sensitive_features",
    *,
    first_row: int = 0,
) -> NDArray[np.int64]:
    """Return the place of every row's group among ``names``."""
    values = pd.Series(as_vector(column, sensitive_features))
    check_lengths(like, values)
    levels, uniques = pd.factorize(values, use_na_sentinel=True)
    labels = [value_label(value) for value in uniques]
    unknown = [label for label in labels if label not in names]
    if unknown or (levels < 0).any():
        # A missing value has the level -1, so the last entry is its own.
        learned = np.array([*(label in names for label in labels), False])
        rows = np.flatnonzero(~learned[levels])
        what = f"groups {unknown[:5]} without" if unknown else "missing values, so no"
        raise ValueError(
            f"`{column}` has {what} learned thresholds in {len(rows)} rows, "
            f"first row {first_row + rows[0]}. Known groups are {list(names)}; exclude "
            "these rows or fit again with them."
        )
    index = {name: i for i, name in enumerate(names)}
    codes = np.array([index[label] for label in labels], dtype=np.int64)
    return codes[levels]


def binary_labels(y: ArrayLike, like: Any) -> NDArray[np.int8]:
    """Return outcomes as 0/1."""
    labels = counting.binary_vector("y", y)
    check_lengths(like, labels)
    return labels


def fill_missing(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of groups whose missing values are the group "Missing"."""
    return column.astype(object).fillna(_MISSING)


def cross(*columns: ArrayLike) -> NDArray[Any]:
    """Cross the values of several columns into groups such as "Female × Black".

    Raises ValueError if two combinations would have the same name: "a × b" with "c" and
    "a" with "b × c".
    """
    check_lengths(*columns)
    parts = [value_labels(pd.Series(as_vector("cross", column))) for column in columns]
    table = pd.DataFrame(dict(enumerate(parts)))
    return np.asarray(crossed(table, "cross"), dtype=object)
