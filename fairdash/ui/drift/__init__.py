"""The Drift page: stored models on tables they were not trained on."""

from fairdash.ui.drift.form import ask_for_table, forget_table, pick_drift
from fairdash.ui.drift.view import compare, show_changes, show_points, show_shifts
