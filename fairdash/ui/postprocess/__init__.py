"""The Post-process page: thresholds for each group."""

from fairdash.ui.postprocess.apply import apply_to_file
from fairdash.ui.postprocess.bounds import post_bounds
from fairdash.ui.postprocess.form import (
    flips_without_outcome,
    pick_post,
    post_downloads,
    post_kpis,
    too_small,
)
from fairdash.ui.postprocess.local import local_before_after
from fairdash.ui.postprocess.ramp import live_setting, solve
from fairdash.ui.postprocess.tables import others, ramp_curve

__all__ = [
    "apply_to_file",
    "flips_without_outcome",
    "live_setting",
    "local_before_after",
    "others",
    "pick_post",
    "post_bounds",
    "post_downloads",
    "post_kpis",
    "ramp_curve",
    "solve",
    "too_small",
]
