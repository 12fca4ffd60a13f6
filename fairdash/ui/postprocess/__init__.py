"""The Post-process page: thresholds for each group."""

from fairdash.ui.postprocess.correction import RAMP, other_methods, pick_dials
from fairdash.ui.postprocess.ramp import (
    correct,
    fit_ramp,
    live_ramp,
    pick_post,
    ramp_here,
)
from fairdash.ui.postprocess.report import (
    by_group,
    inside_subgroups,
    post_answer,
    post_downloads,
    trade_off,
)

__all__ = [
    "RAMP",
    "by_group",
    "correct",
    "fit_ramp",
    "inside_subgroups",
    "live_ramp",
    "other_methods",
    "pick_dials",
    "pick_post",
    "post_answer",
    "post_downloads",
    "ramp_here",
    "trade_off",
]
