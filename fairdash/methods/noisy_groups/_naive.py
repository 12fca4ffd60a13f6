"""Noisy groups taken at their word, and what the robust methods share."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_one_of, check_positive, check_whole
from fairdash.methods.noisy_groups._estimators import NoisyGroupsClassifier
from fairdash.methods.noisy_groups._judges import Judge
from fairdash.methods.noisy_groups._rows import Codes, Rows

MODES = ("paper", "exact")


class NoisyGroupsNaive(NoisyGroupsClassifier):
    r"""Constraints on the noisy groups as if they were the true ones.

    .. math::

        \min_\theta E[\max(0, 1 - Y \phi)] \quad \text{subject to} \quad
        E[\max(0, 1 + \phi) | Y = 1] - E[\min(1, \phi) | Y = 1, \hat G = j]
        \le \alpha + \beta

    for equal opportunity, with :math:`\phi = \theta \cdot x`; the hinges bound the true
    positive rates of all rows from above and of the group from below. A false positive
    rate must alike not be above that of all rows, and for demographic parity a rate of
    positive predictions not below it. Fitted to true groups, this is the reference that
    the other methods are held to.

    Parameters
    ----------
    constraints : {"true_positive_rate_parity", "false_positive_rate_parity", \
"equalized_odds", "demographic_parity"}
    slack : float, default=0.05
        :math:`\alpha`, at least 0.
    hinge_slack : float, default=1.0
        :math:`\beta`: the two hinges differ by at least 1, so less cannot be met.
    simulated_noise : float, default=0.0
        Share of the training rows whose group is replaced at random before training,
        to study what noise would do.
    learning_rate, multiplier_rate : float, default=0.01, 0.5
        Adam's step sizes for the model and for the multipliers.
    max_iter : int, default=750
        Full-batch iterations.
    random_state : int, RandomState or None
        Of the simulated noise.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
    multiplier_ : ndarray of shape (n_constraints,)
        By side of the constraint, then by group; of the last iterate.
    n_iter_ : int
        The iterate that was kept.
    violation_, feasible_ : float, bool
        Largest 0/1 violation of the method's constraint on the training rows, and
        whether it is at most 0.
    constant_ : bool
        Whether the model decides alike for every training row.
    noisy_prior_ : ndarray of shape (n_groups,)
        Share of every noisy group.
    history_ : DataFrame
        ``epoch`` (iteration), ``loss``, ``error`` and ``violation`` of the candidates.
    network_ : Network

    References
    ----------
    Wang et al., Robust optimization for fairness with noisy protected groups (NeurIPS
    2020), Eq. 2.
    """

    def __init__(
        self,
        constraints: str = "true_positive_rate_parity",
        *,
        slack: float = 0.05,
        hinge_slack: float = 1.0,
        simulated_noise: float = 0.0,
        learning_rate: float = 0.01,
        multiplier_rate: float = 0.5,
        max_iter: int = 750,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.slack = slack
        self.hinge_slack = hinge_slack
        self.simulated_noise = simulated_noise
        self.learning_rate = learning_rate
        self.multiplier_rate = multiplier_rate
        self.max_iter = max_iter
        self.random_state = random_state


class NoisyGroupsUnconstrained(NoisyGroupsClassifier):
    r"""The same linear model without constraints: what the others are held to.

    .. math::

        \min_\theta E[\max(0, 1 - Y \phi)]

    Parameters
    ----------
    learning_rate : float, default=0.01
    max_iter : int, default=750
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in `NoisyGroupsNaive`; there is nothing to violate, so ``violation_`` is 0.

    References
    ----------
    Wang et al. (NeurIPS 2020), section 7.
    """

    _stackable: ClassVar[tuple[str, ...]] = ("learning_rate",)
    constraints = "demographic_parity"  # of groups that no multiplier speaks for
    slack = hinge_slack = simulated_noise = multiplier_rate = 0.0

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        max_iter: int = 750,
        random_state: Any = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_params(self) -> None:
        self._check_shared()
        check_whole("max_iter", self.max_iter, at_least=1)

    def _judge(
        self, models: Sequence[Self], rows: Rows, codes: Codes, groups: NDArray[Any]
    ) -> Judge:
        return lambda decided: np.zeros(len(decided), np.float32)

    def _violation(self, y: Codes, decided: Codes, noisy_groups: ArrayLike) -> float:
        return 0.0


class RobustClassifier(NoisyGroupsClassifier):
    """Methods with an opponent that climbs (as in the paper) or is exact."""

    mode: str
    adversary_rate: float

    def _check_params(self) -> None:
        super()._check_params()
        check_one_of("mode", self.mode, MODES)
        check_positive("adversary_rate", self.adversary_rate)
