"""Fairness under noisy protected groups: worst cases, certificates, bounds, noise.

Wang, Guo, Narasimhan, Cotter, Gupta and Jordan, Robust Optimization for Fairness with
Noisy Protected Groups (NeurIPS 2020). Nothing here loads torch; the estimators are in
`fairdash.methods`.
"""

from fairdash.methods.noisy_groups._rates import robust_rates
from fairdash.methods.noisy_groups._soft import (
    cell_probabilities,
    joint_soft_max,
    soft_group_max,
    soft_group_rates,
)
from fairdash.methods.noisy_groups._tv import (
    project_simplex,
    project_tv_ball,
    tv_ball_max,
    tv_ball_ratio_max,
)

__all__ = [
    "cell_probabilities",
    "joint_soft_max",
    "project_simplex",
    "project_tv_ball",
    "robust_rates",
    "soft_group_max",
    "soft_group_rates",
    "tv_ball_max",
    "tv_ball_ratio_max",
]
