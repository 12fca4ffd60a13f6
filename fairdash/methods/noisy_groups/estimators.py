"""Linear classifiers trained under constraints on noisy groups."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.callback import CallbackContext

from fairdash._arrays import Float32Array
from fairdash._validation import check_non_negative, check_positive
from fairdash.methods.base import (
    ManyClassifier,
    NetworkClassifier,
    Samples,
    StopRequest,
    TrainingRows,
    Weighted,
    group_by_fixed,
)
from fairdash.methods.declare import Effort, Method, Scalar, param, positional, vary
from fairdash.methods.noisy_groups import game
from fairdash.methods.noisy_groups.inputs import SIDES
from fairdash.methods.params import (
    CONSTRAINT,
    LEARNING_RATE,
    NO_RANDOM_STATE,
    RANDOM_STATE,
)
from fairdash.methods.scorers import Network

HINGE_SLACK = np.float32(1)  # β of the paper: the two hinges differ by at least 1
TOGETHER = 12  # models whose scores stay in the cache
PAPER = "Wang et al., Robust optimization for fairness with noisy groups (NeurIPS 2020)"
FORMER_NOISE: dict[str, Scalar] = {"simulated_noise": 0.0}
FORMER: dict[str, Scalar] = {**FORMER_NOISE, "mode": "paper", "auxiliary": ""}
EFFORTS: dict[Effort, dict[str, Scalar]] = {
    "fast": {"max_iter": 300},
    "paper": {"max_iter": 750},
}
NOISY_CONSTRAINT: Any = vary(
    CONSTRAINT,
    default="true_positive_rate_parity",
    options={
        "true_positive_rate_parity": "Equal opportunity",
        "false_positive_rate_parity": "False positives",
        "equalized_odds": "Equalized odds",
        "demographic_parity": "Demographic parity",
    },
    help="Which rate of a group must not be worse than that of all rows.",
    doc="",
)


class LearnedNoise:
    """Attributes that methods on noisy groups learn beside the model."""

    noisy_prior_: NDArray[np.float64]
    constant_: bool


class NoisyGroupsClassifier(LearnedNoise, Weighted, ManyClassifier, NetworkClassifier):
    """Linear classifier under constraints on groups that are known with noise."""

    constraints: str = positional(default=NOISY_CONSTRAINT, kw_only=False)
    slack: float = param(
        0.05,
        "Slack",
        letter="α",
        high=0.3,
        stackable=True,
        check=check_non_negative,
        help="By how much a rate may be worse.",
        doc="The :math:`\\alpha` above, at least 0.",
    )
    learning_rate: float = vary(
        LEARNING_RATE,
        default=0.01,
        low=1e-3,
        high=0.1,
        step=1e-3,
        stackable=True,
        help="Adam's step size for the model.",
    )
    random_state: Any = vary(RANDOM_STATE, doc="Of random draws.")

    def _fit_models(self, models: Sequence[Self], samples: Samples) -> None:
        for model in models:
            model._check_params()
        rows = self._training_rows(samples, dtype=np.float32)
        if rows.weight is not None:
            # `compress` takes weights above 0.
            rows = rows.only(rows.weight > 0)
        sizes = np.bincount(rows.codes, rows.weight, len(self.groups_))
        prior = sizes / sizes.sum()
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self, X=samples.X, y=samples.y)
        for places in group_by_fixed(models, self._stackable):
            stack = [models[i] for i in places]
            self._copy_learned(stack)
            for model in stack:
                model.noisy_prior_ = prior
            self._fit_stack(stack, rows, root)
        root.call_on_fit_task_end(estimator=self, X=samples.X, y=samples.y)

    @abstractmethod
    def _fit_stack(
        self, stack: Sequence[Self], training: TrainingRows, root: CallbackContext
    ) -> None:
        """Fit models that differ in stackable parameters only."""


class GameClassifier(NoisyGroupsClassifier):
    """The best iterate of one game of model, multipliers and opponents.

    The hinge loss is minimised by Adam on full batches, the multipliers climb by Adam
    within ``{lambda >= 0, sum <= 1}``, and the best of the iterates, one every 25, is
    kept: the best by 0/1 error and 0/1 violation of the method's own constraint on the
    training rows. True groups have no part in it. A callback may end the game between
    two candidates.
    """

    multiplier_rate: float = param(
        0.5,
        "Multiplier rate",
        low=0.05,
        high=2.0,
        step=0.05,
        stackable=True,
        advanced=True,
        check=check_positive,
        help="Adam's step size for the multipliers.",
    )
    max_iter: int = param(
        750,
        "Iterations",
        low=25,
        high=3000,
        step=25,
        advanced=True,
        help="Passes over the training rows.",
        doc="Full-batch iterations.",
    )

    def _opponents(
        self, models: Sequence[Self], rows: game.GameRows
    ) -> list[game.Opponent]:
        return [game.GivenGroups(side) for side in rows.sides]

    def _violations(
        self, models: Sequence[Self], rows: game.GameRows, training: TrainingRows
    ) -> game.ViolationFunction:
        return game.violation_function(rows, column(models, "slack"))

    def _fit_stack(
        self, stack: Sequence[Self], training: TrainingRows, root: CallbackContext
    ) -> None:
        first = stack[0]
        X, target, codes, weight = training
        sides = SIDES[first.constraints]
        rows = game.compress(X, target, codes, first.groups_, sides, weight)
        for start in range(0, len(stack), TOGETHER):
            part = stack[start : start + TOGETHER]
            played = game.play(
                rows,
                first._opponents(part, rows),
                learning_rate=column(part, "learning_rate"),
                multiplier_rate=column(part, "multiplier_rate"),
                slack=column(part, "slack") + HINGE_SLACK,
                n_iterations=first.max_iter,
                violation=first._violations(part, rows, training),
                stopped=StopRequest(self, root.subcontext("part", max_subtasks=None)),
            )
            decided = game.by_model(played.theta, rows.X.T) > 0
            for i, model in enumerate(part):
                model._keep(played, i)
                model.constant_ = bool(decided[i].all() or not decided[i].any())

    def _keep(self, played: game.Played, i: int) -> None:
        """Set what the game found for the i-th model of a stack."""
        theta = played.theta[i]
        best = int(played.best[i])
        self.coef_ = theta[None, :-1]
        self.intercept_ = theta[-1:]
        self.network_ = Network([theta[:-1, None]], [theta[-1:]])
        self.multiplier_ = played.multiplier[i]
        self.n_iter_ = int(played.iteration[best])
        self.violation_ = float(played.violation[best, i])
        self.feasible_ = self.violation_ <= 0
        self.history_ = pd.DataFrame(
            {
                "epoch": played.iteration,
                "loss": played.loss[:, i],
                "error": played.error[:, i],
                "violation": played.violation[:, i],
            }
        )
        self.ratio_ = None
        self.ratio_history_ = None


class NoisyGroupsNaive(GameClassifier):
    r"""Constraints on the noisy groups as if they were the true ones.

    .. math::

        \min_\theta E[\max(0, 1 - Y \phi)] \quad \text{subject to} \quad
        E[\max(0, 1 + \phi) | Y = 1] - E[\min(1, \phi) | Y = 1, \hat G = j]
        \le \alpha + 1

    for equal opportunity, with :math:`\phi = \theta \cdot x`; the two hinges differ by
    at least 1, so less cannot be met, and they bound the true
    positive rates of all rows from above and of the group from below. A false positive
    rate must alike not be above that of all rows, and for demographic parity a rate of
    positive predictions not below it. Fitted to true groups, this is the reference that
    the other methods are held to.

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

    References
    ----------
    Wang et al., Robust optimization for fairness with noisy protected groups (NeurIPS
    2020), Eq. 2.
    """


class NoisyGroupsUnconstrained(GameClassifier):
    r"""The same linear model without constraints: what the others are held to.

    .. math::

        \min_\theta E[\max(0, 1 - Y \phi)]

    Attributes
    ----------
    As in `NoisyGroupsNaive`; there is nothing to violate, so ``violation_`` is 0.

    References
    ----------
    Wang et al. (NeurIPS 2020), section 7.
    """

    _ignores_groups = True

    constraints = "demographic_parity"  # of groups that no multiplier speaks for
    slack = multiplier_rate = 0.0
    random_state: Any = NO_RANDOM_STATE

    def _violations(
        self, models: Sequence[Self], rows: game.GameRows, training: TrainingRows
    ) -> game.ViolationFunction:
        return lambda decided: np.zeros(len(decided), np.float32)


class RobustClassifier(GameClassifier):
    """Methods with an opponent that climbs by gradients, as in the paper."""

    adversary_rate: float = param(
        0.01,
        "Adversary rate",
        low=1e-3,
        high=0.1,
        step=1e-3,
        stackable=True,
        advanced=True,
        check=check_positive,
        help="Adam's step size for the memberships.",
        doc="Adam's step size for the memberships.",
    )


def column(models: Sequence[NoisyGroupsClassifier], name: str) -> Float32Array:
    """Return a parameter of every model."""
    return np.array([getattr(model, name) for model in models], np.float32)


UNCONSTRAINED = Method.of(
    NoisyGroupsUnconstrained,
    key="hinge",
    label="Hinge",
    title="Linear model with the hinge loss, no constraint",
    summary="What the methods for noisy groups are compared with.",
    source=f"{PAPER}, section 7",
    colour_role="noisy_unconstrained",
    efforts=EFFORTS,
)
NAIVE = Method.of(
    NoisyGroupsNaive,
    key="noisy_naive",
    label="Naive",
    title="Constraints on the noisy groups as given",
    summary="Treats noisy groups as true; on true groups it is the reference.",
    source=f"{PAPER}, Eq. 2",
    efforts=EFFORTS,
    former=FORMER_NOISE,
)
