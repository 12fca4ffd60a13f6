"""Which columns are scores of an existing model, and what they hold."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._columns import is_number
from fairdash.datasets._scores import ScoreColumn, ScoreKind
from fairdash.datasets.checks.leakage import is_score

_MOST_GUESSED = 3


def guess_score(column: "pd.Series[Any]") -> ScoreColumn | None:
    """Return what a column of scores holds, None if it holds no numbers.

    Of a score other than a probability or a margin the threshold is proposed in the
    middle of its range: 5 of deciles.
    """
    if not is_number(column) or column.isna().any() or column.nunique() < 2:
        return None
    values = column.to_numpy(dtype=np.float64)
    low, high = float(values.min()), float(values.max())
    name = str(column.name)
    if np.isin(values, (0, 1)).all():
        return ScoreColumn(column=name, kind="decision")
    if low >= -1 and high <= 1:
        kind: ScoreKind = "margin" if low < 0 else "probability"
        return ScoreColumn(column=name, kind=kind)
    middle = (low + high) / 2
    if (values % 1 == 0).all():
        middle = math.floor(middle)
    return ScoreColumn(column=name, kind="score", threshold=float(f"{middle:.4g}"))


def guess_scores(
    frame: pd.DataFrame, taken: Collection[str] = ()
) -> tuple[ScoreColumn, ...]:
    """Return the columns whose names say that they are scores of a model.

    Copies of an earlier one and the columns in ``taken`` are excluded.
    """
    found: list[ScoreColumn] = []
    for name in frame.columns:
        if str(name) in taken or not is_score(str(name)):
            continue
        score = guess_score(frame[name])
        copies = (frame[one.column].equals(frame[name]) for one in found)
        if score is not None and not any(copies):
            found.append(score)
    return tuple(found[:_MOST_GUESSED])
