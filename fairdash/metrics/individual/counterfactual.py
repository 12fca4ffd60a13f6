"""Predictions for people changed in columns that should not count."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._validation import as_written

_MOST_VALUES = 50
_MOST_VARIANTS = 500


def flip_columns(
    frame: pd.DataFrame,
    columns: Sequence[str] | Mapping[str, Sequence[Any]],
    *,
    features: Sequence[str],
    known: pd.DataFrame | None = None,
) -> list[pd.DataFrame]:
    """Return the table with every combination of values in some columns.

    Parameters
    ----------
    columns : sequence of str, or mapping of str to values
        Columns to set, each to all values it has in ``known``, or to those given:
        ``{"relationship": ["Husband", "Wife"]}``.
    known : DataFrame, optional
        Where values to be set must occur, by default in ``frame``: the whole table,
        where ``frame`` is its test rows.

    Raises
    ------
    ValueError
        When a column is not a feature, a value does not occur, or there are too many.
    """
    chosen = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, ())
    if not chosen:
        raise ValueError("Name at least one column to flip.")
    values: dict[str, list[Any]] = {}
    for name, given in chosen.items():
        if name not in features or name not in frame:
            raise ValueError(
                f"{name!r} cannot be flipped: it is not a feature of the model, whose "
                f"features are {', '.join(features)}."
            )
        column = (frame if known is None else known)[name]
        present = column.dropna().unique().tolist()
        strange = [value for value in given if value not in present]
        if strange:
            message = f"{name!r} has no value {as_written(strange[0])}"
            raise ValueError(f"{message}; its values are {present[:10]}.")
        if not len(given) and len(present) > _MOST_VALUES:
            raise ValueError(
                f"{name!r} has {len(present):,} values; a column to flip may have "
                f"{_MOST_VALUES}, or say to which values: a mapping of lists."
            )
        values[name] = list(given) or sorted(present, key=str)
    total = int(np.prod([len(options) for options in values.values()]))
    if total > _MOST_VARIANTS:
        message = f"Flipping {list(values)} gives {total:,} variants of every row"
        raise ValueError(f"{message}, more than {_MOST_VARIANTS}; flip fewer columns.")
    return [
        frame.assign(**dict(zip(values, setting, strict=True)))
        for setting in product(*values.values())
    ]


def prediction_consistency(y_pred: ArrayLike) -> float:
    """Return the share of rows whose prediction is the same in every variant.

    ``y_pred`` are labels of shape (n_variants, n_rows), see `flip_columns`; 1 is fair,
    NaN without rows.

    Raises ValueError for fewer than two variants, or a missing prediction.
    """
    variants = np.asarray(y_pred)
    if variants.ndim != 2 or len(variants) < 2:
        raise ValueError(
            "`y_pred` must be (variants, rows) with at least two variants, got shape "
            f"{variants.shape}."
        )
    missing = pd.isna(variants).any(0)
    if missing.any():
        raise ValueError(
            f"`y_pred` is missing in {int(missing.sum())} rows, the first is row "
            f"{int(missing.argmax())}; leave these rows out."
        )
    same = (variants == variants[0]).all(0)
    return float(same.mean()) if len(same) else float("nan")
