"""Finished tables in, Plotly figures out; and what each figure says in words.

Every ``plot_*`` has a ``describe_*`` that returns its alt text and a ``*_finding`` that
returns the sentence above it. Colours are tokens that Streamlit swaps for the reader's
theme; ``resolve`` swaps them for files.
"""

from fairdash.plots._base_rates import plot_base_rates
from fairdash.plots._findings import (
    comparison_finding,
    correlation_finding,
    local_finding,
    outcome_finding,
    ratio_finding,
    spread_finding,
    training_finding,
    traits_finding,
)
from fairdash.plots._front import (
    METRICS,
    drawn_models,
    front_picture,
    metric_words,
)
from fairdash.plots._grid import (
    by_tau_picture,
    grid_picture,
    ratio_by_tau_picture,
)
from fairdash.plots._individual import (
    plot_consistency,
    plot_fair_metric,
)
from fairdash.plots._local import MOST_MODELS, describe_local_di, plot_local_di
from fairdash.plots._models import (
    describe_comparison,
    plot_comparison,
    plot_overview,
)
from fairdash.plots._noisy_groups import (
    plot_certificates,
    plot_confusion,
    plot_noise_study,
)
from fairdash.plots._picture import Picture
from fairdash.plots._theme import (
    CONFIG,
    group_colours_of,
    method_colour_of,
    resolve,
)
from fairdash.plots._trade_off import (
    corrections_picture,
    ramp_picture,
    trade_off_picture,
)
from fairdash.plots._training import (
    describe_ratio_histogram,
    describe_training,
    plot_ratio_histogram,
    plot_training,
)
from fairdash.plots._traits import describe_traits, plot_traits
from fairdash.plots._truncation import (
    describe_players,
    describe_truncation,
    plot_players,
    plot_truncation,
    truncation_finding,
)
from fairdash.plots._two_features import describe_two_features, plot_two_features
from fairdash.plots._violations import plot_violations
from fairdash.plots._weights import (
    describe_ratio_against_di,
    describe_ratio_by_epoch,
    plot_ratio_against_di,
    plot_ratio_by_epoch,
)

__all__ = [
    "CONFIG",
    "METRICS",
    "MOST_MODELS",
    "Picture",
    "by_tau_picture",
    "comparison_finding",
    "corrections_picture",
    "correlation_finding",
    "describe_comparison",
    "describe_local_di",
    "describe_players",
    "describe_ratio_against_di",
    "describe_ratio_by_epoch",
    "describe_ratio_histogram",
    "describe_training",
    "describe_traits",
    "describe_truncation",
    "describe_two_features",
    "drawn_models",
    "front_picture",
    "grid_picture",
    "group_colours_of",
    "local_finding",
    "method_colour_of",
    "metric_words",
    "outcome_finding",
    "plot_base_rates",
    "plot_certificates",
    "plot_comparison",
    "plot_confusion",
    "plot_consistency",
    "plot_fair_metric",
    "plot_local_di",
    "plot_noise_study",
    "plot_overview",
    "plot_players",
    "plot_ratio_against_di",
    "plot_ratio_by_epoch",
    "plot_ratio_histogram",
    "plot_training",
    "plot_traits",
    "plot_truncation",
    "plot_two_features",
    "plot_violations",
    "ramp_picture",
    "ratio_by_tau_picture",
    "ratio_finding",
    "resolve",
    "spread_finding",
    "trade_off_picture",
    "training_finding",
    "traits_finding",
    "truncation_finding",
]
