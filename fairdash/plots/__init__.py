"""Finished tables in, Plotly figures out; and what each figure says in words.

Every ``plot_*`` returns a `Picture`: figure, headline, alt text and table, from one
input. In all of them ``groups`` are named in the fixed order of the data set, and
after their sensitive ``feature`` ("sex: Female"); ``rows`` says which rows numbers are
of ("validation"); ``colour_role`` is that of a method; ``chance`` is the value that
chance alone reaches, where the grey band ends, and none is drawn if it is NaN.

Colours are tokens that Streamlit swaps for the reader's theme; ``resolve`` swaps them
for files.
"""

from fairdash._lazy import load

__all__ = [
    "METRICS",
    "MOST_MODELS",
    "Picture",
    "plot_base_rates",
    "plot_calibration",
    "plot_comparison",
    "plot_cuts",
    "plot_front",
    "plot_gap_changes",
    "plot_group_rates",
    "plot_limits",
    "plot_local_di",
    "plot_pairs",
    "plot_planted",
    "plot_ranks",
    "plot_ratio_against_di",
    "plot_rules",
    "plot_training",
    "plot_weight_spread",
    "plot_worst_case",
    "resolve",
    "theme",
]

load("plotly")


from fairdash.plots import theme
from fairdash.plots._cuts import plot_cuts
from fairdash.plots._drift import plot_gap_changes
from fairdash.plots._front import METRICS, plot_front
from fairdash.plots._group_rates import plot_group_rates
from fairdash.plots._individual import plot_pairs
from fairdash.plots._limits import plot_limits
from fairdash.plots._local import MOST_MODELS, plot_local_di
from fairdash.plots._models import plot_comparison
from fairdash.plots._noisy_groups import plot_worst_case
from fairdash.plots._outcome import plot_base_rates, plot_calibration, plot_planted
from fairdash.plots._ranks import plot_ranks
from fairdash.plots._rules import plot_rules
from fairdash.plots._training import plot_training
from fairdash.plots._weight_spread import plot_weight_spread
from fairdash.plots._weights import plot_ratio_against_di
from fairdash.plots.theme import Picture, resolve
