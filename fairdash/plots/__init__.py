"""Finished tables in, Plotly figures out; and what each figure says in words.

Every ``plot_*`` has a ``describe_*`` that returns its alt text and a ``*_finding`` that
returns the sentence above it. Colours are tokens that Streamlit swaps for the reader's
theme; ``resolve`` swaps them for files.
"""

from fairdash.plots._base_rates import describe_base_rates, plot_base_rates
from fairdash.plots._findings import (
    base_rates_finding,
    comparison_finding,
    correlation_finding,
    local_finding,
    ratio_finding,
    spread_finding,
    training_finding,
    traits_finding,
)
from fairdash.plots._local import MOST_MODELS, describe_local_di, plot_local_di
from fairdash.plots._models import (
    describe_comparison,
    plot_comparison,
    plot_overview,
)
from fairdash.plots._theme import CONFIG, resolve
from fairdash.plots._training import (
    RatioHistogram,
    describe_ratio_histogram,
    describe_training,
    plot_ratio_histogram,
    plot_training,
)
from fairdash.plots._traits import describe_traits, plot_traits
from fairdash.plots._weights import (
    describe_ratio_against_di,
    describe_ratio_by_epoch,
    plot_ratio_against_di,
    plot_ratio_by_epoch,
)

__all__ = [
    "CONFIG",
    "MOST_MODELS",
    "RatioHistogram",
    "base_rates_finding",
    "comparison_finding",
    "correlation_finding",
    "describe_base_rates",
    "describe_comparison",
    "describe_local_di",
    "describe_ratio_against_di",
    "describe_ratio_by_epoch",
    "describe_ratio_histogram",
    "describe_training",
    "describe_traits",
    "local_finding",
    "plot_base_rates",
    "plot_comparison",
    "plot_local_di",
    "plot_overview",
    "plot_ratio_against_di",
    "plot_ratio_by_epoch",
    "plot_ratio_histogram",
    "plot_training",
    "plot_traits",
    "ratio_finding",
    "resolve",
    "spread_finding",
    "training_finding",
    "traits_finding",
]
