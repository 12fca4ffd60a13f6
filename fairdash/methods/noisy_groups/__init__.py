"""Fairness under noisy protected groups: worst cases, certificates, bounds, noise.

Wang, Guo, Narasimhan, Cotter, Gupta and Jordan, Robust Optimization for Fairness with
Noisy Protected Groups (NeurIPS 2020). Nothing here loads torch; the estimators are in
`fairdash.methods`.
"""

from fairdash.methods.noisy_groups.certificate import (
    soft_certificate,
    tv_certificate,
    tv_curve,
)
from fairdash.methods.noisy_groups.game import best_candidate
from fairdash.methods.noisy_groups.noise import (
    NoiseEstimate,
    estimate_noise,
    largest_noise,
    reach,
    shares_on_rows,
    symmetric_limits,
    symmetric_noise,
    tv_bounds,
)
from fairdash.methods.noisy_groups.worst_case import (
    cell_probabilities,
    project_simplex,
    project_tv_ball,
    soft_group_max,
    soft_group_rates,
    tv_ball_max,
)

__all__ = [
    "NoiseEstimate",
    "best_candidate",
    "cell_probabilities",
    "estimate_noise",
    "largest_noise",
    "project_simplex",
    "project_tv_ball",
    "reach",
    "shares_on_rows",
    "soft_certificate",
    "soft_group_max",
    "soft_group_rates",
    "symmetric_limits",
    "symmetric_noise",
    "tv_ball_max",
    "tv_bounds",
    "tv_certificate",
    "tv_curve",
]
