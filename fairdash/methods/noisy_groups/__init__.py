"""Fairness under noisy protected groups: worst cases, certificates, bounds, noise.

Wang, Guo, Narasimhan, Cotter, Gupta and Jordan, Robust Optimization for Fairness with
Noisy Protected Groups (NeurIPS 2020). Nothing here loads torch; the estimators are in
`fairdash.methods`.
"""

from fairdash.methods.noisy_groups.certificate import (
    best_candidate,
    choose_model,
    soft_certificate,
    tv_certificate,
    tv_curve,
    violations,
)
from fairdash.methods.noisy_groups.noise import (
    NoiseEstimate,
    estimate_noise,
    largest_noise,
    reach,
    share_limits,
    shares_on_rows,
    simulate_noise,
    symmetric_limits,
    symmetric_noise,
    tv_bounds,
    violation_bound,
)
from fairdash.methods.noisy_groups.soft import (
    cell_probabilities,
    joint_soft_max,
    soft_group_max,
    soft_group_rates,
)
from fairdash.methods.noisy_groups.tv import (
    project_simplex,
    project_tv_ball,
    robust_rates,
    tv_ball_max,
    tv_ball_ratio_max,
)

__all__ = [
    "NoiseEstimate",
    "best_candidate",
    "cell_probabilities",
    "choose_model",
    "estimate_noise",
    "joint_soft_max",
    "largest_noise",
    "project_simplex",
    "project_tv_ball",
    "reach",
    "robust_rates",
    "share_limits",
    "shares_on_rows",
    "simulate_noise",
    "soft_certificate",
    "soft_group_max",
    "soft_group_rates",
    "symmetric_limits",
    "symmetric_noise",
    "tv_ball_max",
    "tv_ball_ratio_max",
    "tv_bounds",
    "tv_certificate",
    "tv_curve",
    "violation_bound",
    "violations",
]
