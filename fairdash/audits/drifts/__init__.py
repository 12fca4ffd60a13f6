"""Drift: models trained on one table, held to another."""

from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.study import drift
