"""The Local fairness page: one measure by subgroup, every measure by group."""

from fairdash.ui.local.found import find_section
from fairdash.ui.local.measures import by_measure
