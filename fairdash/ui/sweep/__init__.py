"""The Sweep page: fronts, and a way through the settings."""

from fairdash.ui.sweep.elsewhere import settings_evidence
from fairdash.ui.sweep.form import sweep_form
from fairdash.ui.sweep.page import show_finished_sweep, show_growing_sweep

__all__ = [
    "settings_evidence",
    "show_finished_sweep",
    "show_growing_sweep",
    "sweep_form",
]
