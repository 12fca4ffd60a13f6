"""Constraints under soft memberships: groups known through P(G | noisy group)."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash.methods.noisy_groups._certificate import soft_certificate
from fairdash.methods.noisy_groups._estimators import column
from fairdash.methods.noisy_groups._inputs import check_noise_matrix
from fairdash.methods.noisy_groups._judges import Judge, soft_judge
from fairdash.methods.noisy_groups._naive import RobustClassifier
from fairdash.methods.noisy_groups._noise import symmetric_noise
from fairdash.methods.noisy_groups._opponents import Opponent
from fairdash.methods.noisy_groups._rows import Codes, Float32, Rows
from fairdash.methods.noisy_groups._soft_opponents import AscentSoft, WorstSoft


class NoisyGroupsSoft(RobustClassifier):
    r"""Constraints for all soft memberships that agree with the noise: Algorithm 4.

    .. math::

        \max_{w_j:\; E[w_j(\hat Y, Y, \hat G) | \hat G = k] = P(G = j | \hat G = k)}
        g_j(\theta, w_j) \le \alpha + \beta

    In mode "paper" the memberships climb by Adam and are projected, in mode "exact"
    they are the worst of each group in closed form. True and noisy groups need neither
    be alike nor as many.

    Parameters
    ----------
    constraints, slack, hinge_slack, simulated_noise, learning_rate, multiplier_rate, \
max_iter, random_state
        As in `NoisyGroupsNaive`.
    noise_level : float, default=0.1
        Assumed share of wrong groups, the same for all: see
        `fairdash.methods.noisy_groups.symmetric_noise`.
    group_given_noisy : array-like of shape (n_noisy, n_groups), optional
        P(G = j | noisy group k), noisy groups in sorted order, instead of
        ``noise_level``: see `fairdash.methods.noisy_groups.estimate_noise`.
    mode : {"paper", "exact"}
    adversary_rate : float, default=0.01
        Adam's step size for the memberships, in mode "paper".

    Attributes
    ----------
    As in `NoisyGroupsNaive`; ``violation_`` is the exact one over soft memberships, and
    ``noise_`` the matrix that was used.

    References
    ----------
    Wang et al. (NeurIPS 2020), Eq. 7 and Algorithm 4.
    """

    _stackable: ClassVar[tuple[str, ...]] = (
        "noise_level",
        "slack",
        "learning_rate",
        "multiplier_rate",
        "adversary_rate",
    )

    def __init__(
        self,
        constraints: str = "true_positive_rate_parity",
        *,
        noise_level: float = 0.1,
        group_given_noisy: Any = None,
        slack: float = 0.05,
        hinge_slack: float = 1.0,
        mode: str = "paper",
        simulated_noise: float = 0.0,
        learning_rate: float = 0.01,
        multiplier_rate: float = 0.5,
        adversary_rate: float = 0.01,
        max_iter: int = 750,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.noise_level = noise_level
        self.group_given_noisy = group_given_noisy
        self.slack = slack
        self.hinge_slack = hinge_slack
        self.mode = mode
        self.simulated_noise = simulated_noise
        self.learning_rate = learning_rate
        self.multiplier_rate = multiplier_rate
        self.adversary_rate = adversary_rate
        self.max_iter = max_iter
        self.random_state = random_state

    def _opponents(
        self, models: Sequence[Self], rows: Rows, groups: NDArray[Any]
    ) -> list[Opponent]:
        b = noises(models)
        if self.mode == "exact":
            return [WorstSoft(side, b) for side in rows.sides]
        rate = column(models, "adversary_rate")
        return [AscentSoft(side, b, rate) for side in rows.sides]

    def _judge(
        self, models: Sequence[Self], rows: Rows, codes: Codes, groups: NDArray[Any]
    ) -> Judge:
        return soft_judge(rows, noises(models), column(models, "slack"))

    def _violation(self, y: Codes, decided: Codes, noisy_groups: ArrayLike) -> float:
        table = soft_certificate(
            y,
            decided,
            noisy_groups,
            self.noise_,
            constraints=self.constraints,
            slack=self.slack,
        )
        return float(table["worst_violation"].max())


def noises(models: Sequence[Any]) -> Float32:
    """Return each model's P(G = j | noisy group k), and keep it with the model."""
    for model in models:
        model.noise_ = noise_matrix(
            model.group_given_noisy, model.noise_level, model.noisy_prior_
        )
    return np.array([model.noise_ for model in models], dtype=np.float32)


def noise_matrix(
    given: Any, level: float, noisy_prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the matrix given, or the one that a level of symmetric noise implies."""
    if given is None:
        return symmetric_noise(noisy_prior, level)
    return check_noise_matrix(given, len(noisy_prior))
