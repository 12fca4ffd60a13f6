"""The Train page: a method is set, watched and compared."""

from fairdash.ui.train.export import export_run
from fairdash.ui.train.method_form import method_form, seeds_input
from fairdash.ui.train.run_view import estimate, prefilled, show_run, tray_with

__all__ = [
    "estimate",
    "export_run",
    "method_form",
    "prefilled",
    "seeds_input",
    "show_run",
    "tray_with",
]
