"""Drift: models trained on one table, held to others."""

from fairdash.audits.drift.facts import MEASURE_LABELS, DriftResult
from fairdash.audits.drift.gaps import GapCells, gap_changes, gap_drivers
from fairdash.audits.drift.points import DRIFT_MEASURES, table_points
from fairdash.audits.drift.shifts import column_shifts, unseen_rows
from fairdash.audits.drift.study import drift, drift_over_seeds
from fairdash.audits.drift.tables import DriftTable, columns_of_parts, drift_tables
