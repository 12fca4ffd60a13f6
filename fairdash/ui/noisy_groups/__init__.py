"""The Noisy groups page: what holds when groups are recorded wrongly."""

from fairdash.ui.noisy_groups.blocks import (
    noisy_facts,
    show_bounds,
    show_certificates,
    show_noise,
    show_progress,
    show_training,
)
from fairdash.ui.noisy_groups.form import certifiable, pick_noise
