"""The best of models: fronts, and the best one within limits."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.sweep._ranking import PREFIX, ranking_column

PARTS = ("validation_", "test_")
GAINS = frozenset(
    {"accuracy", "balanced_accuracy", "auc", "demographic_parity_ratio"}
)  # larger is better; for every other metric smaller is
AXES = ("test_worst_1_di", "test_accuracy")
NO_LIMITS: Mapping[str, float] = {}


def is_gain(column: str) -> bool:
    """Tell whether a larger value of a metric, with or without its part, is better."""
    for part in PARTS:
        column = column.removeprefix(part)
    return column in GAINS


def within(rows: pd.DataFrame, limits: Mapping[str, float]) -> NDArray[np.bool_]:
    """Tell which models keep every limit; an undefined value keeps none.

    A metric of which larger is better must be at least its limit, any other at most.
    Raises ValueError when a column is not there.
    """
    check_columns(rows, limits)
    keeps = np.ones(len(rows), dtype=bool)
    for column, limit in limits.items():
        values = rows[column].to_numpy(float)
        keeps &= values >= limit if is_gain(column) else values <= limit
    return keeps


def decides(rows: pd.DataFrame, part: str) -> NDArray[np.bool_]:
    """Tell which models decide at all on the rows of a part.

    In a mean over seeds at least half of the models must. A model that accepts nearly
    all or none, or is not clearly better than guessing, is on no front and keeps no
    limit, however small its gaps.

    Rows of earlier versions lack the column ``constant`` and all count as deciding.
    """
    if f"{part}_constant" not in rows:
        return np.ones(len(rows), dtype=bool)
    return ~(rows[f"{part}_constant"].to_numpy(float) > 0.5)


def pareto_front(
    rows: pd.DataFrame,
    *,
    axes: tuple[str, str] = AXES,
    limits: Mapping[str, float] = NO_LIMITS,
) -> pd.DataFrame:
    """Return the models that no other model within the limits dominates.

    A model dominates another when it is at least as good on both axes and better on
    one; so models that agree on both stay together.

    Parameters
    ----------
    rows : DataFrame
        One row per model, as of `run_sweep` or `mean_over_seeds`. A row without a value
        on one of the axes is on no front, nor is a model that does not decide: see
        `decides`.
    axes : pair of str, default=("test_worst_1_di", "test_accuracy")
        More is better for accuracies, AUC and the demographic parity ratio, less for
        all others.
        A front over the test rows of many models flatters the method with the most
        settings: to choose, name columns of the validation rows.
    limits : mapping of column to float, optional
        As in `within`; the ROAD paper's front has
        ``{"test_demographic_parity_difference": 0.05}``.
    """
    costs = _costs(rows, axes)
    eligible = within(rows, limits) & np.isfinite(costs).all(axis=1)
    if axes[0].startswith(("validation", PREFIX)):
        eligible &= decides(rows, "validation")
    if axes[0].startswith("test"):
        eligible &= decides(rows, "test")
    allowed = np.flatnonzero(eligible)
    costs = costs[allowed]
    # In rising order of the first cost a point is on the front where its second cost is
    # below that of all points before it.
    order = np.lexsort((costs[:, 1], costs[:, 0]))
    first, second = costs[order].T
    best_before = np.minimum.accumulate(np.append(np.inf, second[:-1]))
    new_best = second < best_before
    # So are its equals on both axes, which stand right behind it.
    last = np.maximum.accumulate(np.where(new_best, np.arange(len(order)), 0))
    same = (first == first[last]) & (second == second[last])
    return rows.iloc[allowed[order[new_best | same]]]


def select(
    rows: pd.DataFrame,
    *,
    best: str = "accuracy",
    limits: Mapping[str, float] = NO_LIMITS,
) -> "pd.Series[Any] | None":
    """Return the best model among those that keep limits on validation rows.

    The best is judged on them, too, but for ``worst_1_di``: see `ranking_column`.

    Its ``test_`` columns are then figures on rows that had no part in the choice. They
    may well exceed a limit: the best of many models looks better than it is on the
    rows it was chosen by.

    The first of several that are equally good; None when no model keeps the limits.

    Parameters
    ----------
    best : str, default="accuracy"
        Metric to be best, without its part.
    limits : mapping of metric to float, optional
        ``{"demographic_parity_difference": 0.05, "worst_1_di": 0.1}``: at most, or at
        least for a metric of which larger is better.
    """
    column = ranking_column(rows, best)
    bounds = {f"validation_{name}": value for name, value in limits.items()}
    if column not in rows:
        raise ValueError(f"The rows have no column {column!r}; see `run_sweep`.")
    eligible = within(rows, bounds) & decides(rows, "validation")
    allowed = rows[eligible & rows[column].notna()]
    if allowed.empty:
        return None
    values = allowed[column].to_numpy(float)
    index = values.argmax() if is_gain(best) else values.argmin()
    return allowed.iloc[int(index)]


def _costs(rows: pd.DataFrame, axes: tuple[str, str]) -> NDArray[np.float64]:
    """Return the two axes with signs such that less is better."""
    check_columns(rows, axes)
    signs = [-1.0 if is_gain(column) else 1.0 for column in axes]
    return rows[list(axes)].to_numpy(float) * signs


def check_columns(rows: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise ValueError unless the rows have all these columns."""
    missing = [column for column in columns if column not in rows]
    if missing:
        raise ValueError(f"The rows have no columns {missing}; see `run_sweep`.")
