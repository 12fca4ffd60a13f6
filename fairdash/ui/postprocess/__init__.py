"""The Post-process page: thresholds for each group."""

from fairdash.ui.postprocess.ramp import (
    baselines,
    fit_ramp,
    live_ramp,
    pick_post,
    pick_ramp,
)
from fairdash.ui.postprocess.report import (
    apply_to_file,
    by_measure,
    changed_by_group,
    local_before_after,
    post_answer,
    post_downloads,
    ramps_of,
    trade_off,
)
