"""Drift: models trained on one table, held to others."""

from fairdash.audits.drifts.points import gap_column
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.study import drift, drift_over_seeds
from fairdash.audits.drifts.tables import columns_of_parts
