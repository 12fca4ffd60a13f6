"""Drift: models trained on one table, or numbers predicted on it, held to another."""

from fairdash.audits.drifts.numbers import drift_of_numbers, number_models
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.study import drift
