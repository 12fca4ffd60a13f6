"""Drift: models trained on one table, held to others."""

from fairdash.audits.drifts.facts import MEASURE_LABELS, DriftResult
from fairdash.audits.drifts.gaps import GapCells, gap_changes, gap_drivers
from fairdash.audits.drifts.points import DRIFT_MEASURES, table_points
from fairdash.audits.drifts.shifts import column_shifts, unseen_rows
from fairdash.audits.drifts.study import drift, drift_over_seeds
from fairdash.audits.drifts.tables import DriftTable, columns_of_parts, drift_tables
