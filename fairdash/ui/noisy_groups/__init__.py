"""The Noisy groups page: what holds when groups are recorded wrongly."""

from fairdash.ui.noisy_groups.form import certifiable
from fairdash.ui.noisy_groups.page import show_noisy_groups, show_progress
