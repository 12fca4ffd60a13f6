"""The numbers of models on every table: quality, gaps, and changes with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.audits.drifts.tables import DriftTable
from fairdash.audits.trials.models import Setting
from fairdash.methods import CATALOG
from fairdash.metrics import (
    SCORE_MEASURES,
    Interval,
    LocalMeasure,
    decision_status,
    difference_of,
    divide,
    evaluate,
    gap_interval,
    wilson_interval,
)

DRIFT_MEASURES = (
    "demographic_parity_difference",
    "worst_1_di",
    "equalized_odds_difference",
)
_OF_OUTCOME = (
    "accuracy", "accuracy_low", "accuracy_high", "balanced_accuracy", "auc", "log_loss",
    "equalized_odds_difference", "equal_opportunity_difference",
)  # fmt: skip


def table_points(
    table: DriftTable, scores: NDArray[np.float64], *, min_size: int = 50
) -> pd.DataFrame:
    """Return quality and fairness of models on a table.

    ``scores``, (n_models, n_rows), are P(y = 1); a row is decided 1 above one half.

    Returns
    -------
    DataFrame, one row per model: the columns of `fairdash.metrics.evaluate`,
    equalized_odds_difference_low and _high (`fairdash.metrics.gap_interval` of the
    largest of all true and false positive rates' differences), selection_rate with
    _low and _high (Wilson), status (`fairdash.metrics.decision_status`). What needs an
    outcome is NaN where the table has none; then none is not told from chance.
    """
    known = table.y is not None
    y = table.y if table.y is not None else np.zeros(table.n, np.int8)
    found = evaluate(
        y,
        scores,
        sensitive_features=table.groups,
        subgroups=table.subgroups,
        min_size=min_size,
        sample_weight=table.weight,
    )
    decided = (scores > 0.5).astype(np.int8)
    status = decision_status(y, decided, sample_weight=table.weight)
    found["status"] = status["status"]
    weight = np.ones(table.n) if table.weight is None else table.weight
    total, positive = weight.sum(), decided @ weight
    found["selection_rate"] = positive / total
    worth = total / (weight @ weight)  # Kish's rows of a unit
    low, high = wilson_interval(positive * worth, np.full(len(found), total * worth))
    found["selection_rate_low"], found["selection_rate_high"] = low, high
    n_groups = len(table.groups.categories)
    cell = y.astype(np.int64) * n_groups + table.groups.codes

    def by_cell(values: NDArray[Any]) -> NDArray[np.float64]:
        sums = np.bincount(cell, weights=values, minlength=2 * n_groups)
        return sums.astype(np.float64).reshape(2, n_groups)

    n = by_cell(weight)
    each = np.nan_to_num(divide(n, by_cell(weight**2)))
    k = np.stack([by_cell(weight * row) * each for row in decided])
    low, high = gap_interval(k, np.broadcast_to(n * each, k.shape), axes=2)
    found["equalized_odds_difference_low"] = low if known else np.nan
    found["equalized_odds_difference_high"] = high if known else np.nan
    if not known:
        found[list(_OF_OUTCOME)] = np.nan
    return found


def points_on_tables(
    tables: Sequence[DriftTable],
    models: Sequence[Setting],
    scores: Sequence[NDArray[np.float64]],
    front: NDArray[np.bool_],
    measure: str,
    min_size: int,
) -> pd.DataFrame:
    """Return the numbers of models on every table, and changes from the first one.

    ``scores`` are of every table; ``front`` says which models are on that of their
    method.
    """
    found: list[pd.DataFrame] = []
    for table, of_table in zip(tables, scores, strict=True):
        points = table_points(table, of_table, min_size=min_size)
        gaps = gap_points(table.y, table.groups, of_table, measure, table.weight)
        points = points.join(gaps)
        known: dict[str, Any] = {
            "table": table.name,
            "label": [one.label for one in models],
            "method": [CATALOG[one.method].label for one in models],
            "colour_role": [CATALOG[one.method].colour_role for one in models],
            "main": [place == 0 for place in range(len(models))],
            "front": front & (points["status"] == "").to_numpy(),
        }
        changes = _changes(
            points, found[0] if found else points, points_columns(measure)
        )
        found.append(pd.concat([pd.DataFrame(known), points, changes], axis=1))
    return pd.concat(found, ignore_index=True)


def gap_points(
    y: NDArray[np.int8] | None,
    groups: "pd.Categorical[str]",
    scores: NDArray[Any],
    measure: str,
    weight: NDArray[np.float64] | None,
) -> pd.DataFrame:
    """Return the gap of a measure over all rows with its ends, a row per model."""
    name = points_column(measure)
    if measure in DRIFT_MEASURES:
        return pd.DataFrame(index=range(len(scores)))
    found = [
        LocalMeasure.of(
            measure,
            y,
            predicted_of(one, measure),
            sensitive_features=groups,
            subgroups=np.zeros(len(one)),
            min_size=1,
            sample_weight=weight,
        ).overall()
        for one in scores
    ]
    columns = [name, f"{name}_low", f"{name}_high"]
    return pd.DataFrame([list(map(float, one)) for one in found], columns=columns)


def points_column(measure: str) -> str:
    """Return the column of points that a measure is across the figure."""
    if measure in DRIFT_MEASURES:
        return measure
    return f"{measure.partition(' ')[0]}_gap"


def points_columns(measure: str) -> list[str]:
    """Return the columns of points that hold gaps, that of a measure among them."""
    return list(dict.fromkeys((*DRIFT_MEASURES, points_column(measure))))


def predicted_of(scores: NDArray[Any], measure: str) -> NDArray[Any]:
    """Return what a measure is computed from: scores, or decisions."""
    return scores if measure in SCORE_MEASURES else (scores > 0.5).astype(np.int8)


def _changes(
    points: pd.DataFrame, reference: pd.DataFrame, measures: Sequence[str]
) -> pd.DataFrame:
    """Return intervals of changes between independent tables (Zou and Donner 2008)."""
    columns: dict[str, NDArray[np.float64]] = {}
    for name in ("accuracy", *measures):
        one, other = (
            Interval(
                *(rows[f"{name}{end}"].to_numpy() for end in ("", "_low", "_high"))
            )
            for rows in (points, reference)
        )
        low, high = difference_of(one, other)
        columns |= {f"{name}_change_low": low, f"{name}_change_high": high}
    return pd.DataFrame(columns)
