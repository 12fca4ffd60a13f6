"""The numbers of models on every table: quality, gaps, and changes with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.audits.drifts.gaps import measured_on
from fairdash.audits.drifts.tables import DriftTable
from fairdash.audits.trials.models import Setting
from fairdash.methods import CATALOG
from fairdash.metrics import (
    SCORE_MEASURES,
    Interval,
    decision_status,
    difference_of,
    evaluate,
    wilson_interval,
)

_OF_OUTCOME = (
    "accuracy", "accuracy_low", "accuracy_high", "balanced_accuracy", "auc", "log_loss",
    "equalized_odds_difference", "equal_opportunity_difference",
)  # fmt: skip


def gap_column(measure: str) -> str:
    """Return the column of points with the gap of a measure."""
    return f"{measure.partition(' ')[0]}_gap"


def predicted_of(scores: NDArray[Any], measure: str) -> NDArray[Any]:
    """Return what a measure is computed from: scores, or decisions above one half."""
    return scores if measure in SCORE_MEASURES else (scores > 0.5).astype(np.int8)


def table_points(
    table: DriftTable,
    scores: NDArray[np.floating[Any]],
    measure: str = "selection_rate",
    *,
    min_size: int = 50,
) -> pd.DataFrame:
    """Return quality and fairness of models on a table.

    ``scores``, (n_models, n_rows), are P(y = 1); a row is decided 1 above one half.

    Returns
    -------
    DataFrame, one row per model: the columns of `fairdash.metrics.evaluate`, the gap of
    the measure over all rows (`gap_column`) with _low and _high, selection_rate with
    the same, status (`fairdash.metrics.decision_status`). What needs an outcome is NaN
    where the table has none; then none is not told from chance.
    """
    y = table.y if table.y is not None else np.zeros(table.n, np.int8)
    points = evaluate(
        y,
        scores,
        sensitive_features=table.groups,
        subgroups=table.subgroups,
        min_size=min_size,
        sample_weight=table.weight,
        cluster=table.unit,
    )
    decided = (scores > 0.5).astype(np.int8)
    status = decision_status(y, decided, sample_weight=table.weight, cluster=table.unit)
    points["status"] = status["status"]
    gaps = [
        measured_on(table, predicted_of(row, measure), measure, min_size).overall()
        for row in scores
    ]
    rates = _rates(table, decided)
    for name, ends in (
        (gap_column(measure), np.array(gaps, dtype=np.float64)),
        ("selection_rate", np.stack(rates, axis=1)),
    ):
        points[[name, f"{name}_low", f"{name}_high"]] = ends
    if table.y is None:
        points[list(_OF_OUTCOME)] = np.nan
    return points


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
    parts: list[pd.DataFrame] = []
    for table, of_table in zip(tables, scores, strict=True):
        points = table_points(table, of_table, measure, min_size=min_size)
        facts: dict[str, Any] = {
            "table": table.name,
            "label": [model.label for model in models],
            "method": [CATALOG[model.method].label for model in models],
            "colour_role": [CATALOG[model.method].colour_role for model in models],
            "main": [place == 0 for place in range(len(models))],
            "front": front & (points["status"] == "").to_numpy(),
        }
        changes = _changes(
            points, parts[0] if parts else points, ("accuracy", gap_column(measure))
        )
        parts.append(pd.concat([pd.DataFrame(facts), points, changes], axis=1))
    return pd.concat(parts, ignore_index=True)


def _rates(table: DriftTable, decided: NDArray[np.int8]) -> Interval:
    """Return the share of positive decisions of every model, with Wilson's interval."""
    weight = np.ones(table.n) if table.weight is None else table.weight
    total, positive = weight.sum(), decided @ weight
    worth = total / (weight @ weight)  # Kish's rows of a unit of weight
    rows = np.full(len(decided), total * worth)
    return Interval(positive / total, *wilson_interval(positive * worth, rows))


def _changes(
    points: pd.DataFrame, reference: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Return intervals of changes between independent tables (Zou and Donner 2008)."""
    columns: dict[str, NDArray[np.float64]] = {}
    for name in names:
        new, old = (
            Interval(
                *(rows[f"{name}{end}"].to_numpy() for end in ("", "_low", "_high"))
            )
            for rows in (points, reference)
        )
        low, high = difference_of(new, old)
        columns |= {f"{name}_change_low": low, f"{name}_change_high": high}
    return pd.DataFrame(columns)
