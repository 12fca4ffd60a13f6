"""The Noisy groups page: what holds when groups are recorded wrongly."""

from fairdash.ui.noisy_groups.blocks import show_certificates, show_noise, show_study
from fairdash.ui.noisy_groups.form import pick_noise
from fairdash.ui.noisy_groups.rows import certifiable
from fairdash.ui.noisy_groups.study import study_table
from fairdash.ui.noisy_groups.view import noisy_facts

__all__ = [
    "certifiable",
    "noisy_facts",
    "pick_noise",
    "show_certificates",
    "show_noise",
    "show_study",
    "study_table",
]
