"""Choose a model by its validation rows; average settings over seeds."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairdash.metrics import summarise_seeds
from fairdash.sweep._front import NO_LIMITS, PARTS, is_gain, within

NOT_PARAMS = ("key", "method", "seed", "seconds")


def param_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns of `run_sweep` that hold parameters of methods."""
    return [
        name
        for name in map(str, rows)
        if name not in NOT_PARAMS and not name.startswith(PARTS)
    ]


def mean_over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Average every setting of a method over its seeds.

    Parameters
    ----------
    rows : DataFrame
        As of `run_sweep`.

    Returns
    -------
    DataFrame
        One row per setting: method, its parameters, ``n_seeds`` and for every metric
        its mean, ``_sd`` and ``_seeds``: see `fairdash.metrics.summarise_seeds`.
    """
    return summarise_seeds(rows, ["method", *param_columns(rows)])


def select(
    rows: pd.DataFrame,
    *,
    best: str = "accuracy",
    limits: Mapping[str, float] = NO_LIMITS,
) -> "pd.Series[Any] | None":
    """Return the best model among those that keep limits, judged on validation rows.

    Its ``test_`` columns are then figures on rows that had no part in the choice. They
    may well exceed a limit: the best of many models looks better than it is on the
    rows it was chosen by.

    Parameters
    ----------
    rows : DataFrame
        As of `run_sweep` or `mean_over_seeds`.
    best : str, default="accuracy"
        Metric to be best, without its part.
    limits : mapping of metric to float, optional
        ``{"demographic_parity_difference": 0.05, "worst_1_di": 0.1}``: at most, or at
        least for a metric of which larger is better.

    Returns
    -------
    Series or None
        A row of ``rows``, the first of several that are equally good; None when no
        model keeps the limits.

    Raises
    ------
    ValueError
        When a metric is not there.
    """
    column = f"validation_{best}"
    bounds = {f"validation_{name}": value for name, value in limits.items()}
    if column not in rows:
        raise ValueError(f"The rows have no column {column!r}; see `run_sweep`.")
    allowed = rows[within(rows, bounds) & rows[column].notna()]
    if allowed.empty:
        return None
    values = allowed[column].to_numpy(float)
    return allowed.iloc[int(values.argmax() if is_gain(best) else values.argmin())]
