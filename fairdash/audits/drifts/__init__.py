"""Drift: models trained on one table, or a column of it, held to another table."""

from fairdash.audits.drifts.columns import column_drift, column_measures, column_models
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.study import drift

__all__ = [
    "DriftResult",
    "column_drift",
    "column_measures",
    "column_models",
    "drift",
]
