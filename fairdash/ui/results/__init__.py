"""What runs found, as pages show it."""

from fairdash.ui.results.found import is_sweep
from fairdash.ui.results.local import LocalResult, local_result
from fairdash.ui.results.results import (
    Setting,
    chance_worst,
    metrics_by_setting,
    model_label,
    paired_changes,
    settings,
)
from fairdash.ui.results.summary import (
    base_rate_kpis,
    base_rates,
    not_estimable,
)
from fairdash.ui.results.weights import find_top_rows, weight_kpis, weighted_models

__all__ = [
    "LocalResult",
    "Setting",
    "base_rate_kpis",
    "base_rates",
    "chance_worst",
    "find_top_rows",
    "is_sweep",
    "local_result",
    "metrics_by_setting",
    "model_label",
    "not_estimable",
    "paired_changes",
    "settings",
    "weight_kpis",
    "weighted_models",
]
