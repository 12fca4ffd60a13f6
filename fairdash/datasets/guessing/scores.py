"""Columns that hold scores or decisions of a model."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._scores import ScoreColumn
from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import (
    count_values,
    is_nested,
    is_number,
    label_codes,
)
from fairdash.datasets.guessing.ranking import MOST_CLASSES
from fairdash.datasets.guessing.words import is_score, truths

_MOST_GUESSED = 3


def guess_scores(
    frame: pd.DataFrame,
    taken: Collection[str],
    target: str,
    positive: str | tuple[str, ...] | Cut,
) -> tuple[ScoreColumn, ...]:
    """Return the columns whose names say that they are scores of a model."""
    scores: list[ScoreColumn] = []
    truth = truths(taken)[:1]
    taken = set(taken)
    for name in map(str, frame.columns):
        if name in taken or not is_score(name, truth):
            continue
        column = frame[name]
        score = guess_score(column)
        if score is None:
            score = guess_classes(column, frame[target], positive)
        is_copy = any(frame[earlier.column].equals(column) for earlier in scores)
        if score is not None and not is_copy:
            scores.append(score)
        if len(scores) == _MOST_GUESSED:
            break
    return tuple(scores)


def guess_score(column: "pd.Series[Any]") -> ScoreColumn | None:
    """Return what a column of scores holds, None if it holds no numbers.

    A score that is neither a probability nor a margin gets a threshold in the middle of
    its range: 5 for deciles.
    """
    if not is_number(column) or column.isna().any() or column.nunique() < 2:
        return None
    values = column.to_numpy(dtype=np.float64)
    low = float(values.min())
    high = float(values.max())
    name = str(column.name)
    if np.isin(values, (0, 1)).all():
        return ScoreColumn(column=name, kind="decision")
    if low >= 0 and high <= 1:
        return ScoreColumn(column=name, kind="probability")
    if low >= -1 and high <= 1:
        return ScoreColumn(column=name, kind="margin")
    middle = (low + high) / 2
    if (values % 1 == 0).all():
        middle = math.floor(middle)
    return ScoreColumn(column=name, kind="score", threshold=float(f"{middle:.4g}"))


def guess_classes(
    column: "pd.Series[Any]",
    outcome: "pd.Series[Any]",
    positive: str | tuple[str, ...] | Cut,
) -> ScoreColumn | None:
    """Return a column of predicted classes: each value is one of the outcome's.

    None if it has other values, or none in some rows.
    """
    if isinstance(positive, Cut) or is_nested(column) or column.isna().any():
        return None
    if count_values(column, MOST_CLASSES) > MOST_CLASSES:
        return None
    _, labels = label_codes(column)
    _, outcome_labels = label_codes(outcome)
    if not set(labels) <= set(outcome_labels):
        return None
    wanted = (positive,) if isinstance(positive, str) else positive
    return ScoreColumn(column=str(column.name), kind="decision", positive=wanted)
