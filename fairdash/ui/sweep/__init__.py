"""The Sweep page: fronts, and a way through the settings."""

from fairdash.ui.sweep.form import sweep_form
from fairdash.ui.sweep.page import show_finished_sweep, show_growing_sweep

__all__ = [
    "show_finished_sweep",
    "show_growing_sweep",
    "sweep_form",
]
