"""Linear classifiers trained under constraints on noisy groups."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.callback import CallbackContext, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from fairdash._validation import (
    check_non_negative,
    check_one_of,
    check_positive,
    check_whole,
    encode_binary_target,
    encode_groups,
)
from fairdash.methods.base import Asked, NetworkClassifier
from fairdash.methods.noisy_groups.certificate import violations
from fairdash.methods.noisy_groups.game import (
    Codes,
    Float32,
    GivenGroups,
    Opponent,
    Played,
    Rows,
    Settings,
    ViolationFunction,
    compress,
    play,
    violation_function,
)
from fairdash.methods.noisy_groups.inputs import SIDES, check_shares
from fairdash.methods.noisy_groups.noise import simulate_noise
from fairdash.methods.plain_network import Network

TOGETHER = 12  # models whose scores stay in the cache
MODES = ("paper", "exact")


class NoisyGroupsClassifier(NetworkClassifier):
    """Linear classifier that plays against memberships; a subclass says which.

    The hinge loss is minimised by Adam on full batches, the multipliers climb by Adam
    within ``{lambda >= 0, sum <= 1}``, and the best of the iterates, one every 25, is
    kept: the best by 0/1 error and 0/1 violation of the method's own constraint on the
    training rows. True groups have no part in it. A callback may end the game between
    two candidates.
    """

    _stackable: ClassVar[tuple[str, ...]] = (
        "slack",
        "learning_rate",
        "multiplier_rate",
    )

    constraints: str
    slack: float
    hinge_slack: float
    simulated_noise: float
    learning_rate: float
    multiplier_rate: float
    max_iter: int
    random_state: Any

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the model; ``sensitive_features`` holds the noisy group of each sample.

        Raises
        ------
        ValueError
            When a parameter is out of range, or a group has no rows that a rate of the
            constraint is over.
        """
        self._fit_models([self], X, y, sensitive_features)
        return self

    @with_callbacks
    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
    ) -> list[Self]:
        """Fit one clone per point, those that differ in rates or slack in one stack.

        Returns
        -------
        list of estimators
            In the order of ``points``; each equals the model fitted alone, up to
            rounding.
        """
        models = [clone(self).set_params(**point) for point in points]
        self._fit_models(models, X, y, sensitive_features)
        return models

    def violation(
        self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike
    ) -> float:
        """Return the largest violation of this method's own constraint on other rows.

        By it, and never by true groups, are hyperparameters chosen: see
        `fairdash.methods.noisy_groups.choose_model`.
        """
        outcome = np.searchsorted(self.classes_, np.asarray(y))
        decided = (self.predict_proba(X)[:, 1] > 0.5).astype(int)
        return self._violation(outcome, decided, sensitive_features)

    def _violation(self, y: Codes, decided: Codes, noisy_groups: ArrayLike) -> float:
        table = violations(
            y, decided, noisy_groups, constraints=self.constraints, slack=self.slack
        )
        return float(table["violation"].max())

    def _check_params(self) -> None:
        self._check_shared()
        check_positive("multiplier_rate", self.multiplier_rate)
        check_whole("max_iter", self.max_iter, at_least=1)

    def _check_shared(self) -> None:
        check_one_of("constraints", self.constraints, SIDES)
        check_non_negative("slack", self.slack)
        check_non_negative("hinge_slack", self.hinge_slack)
        check_shares("simulated_noise", self.simulated_noise)
        check_positive("learning_rate", self.learning_rate)

    def _opponents(
        self, models: Sequence[Self], rows: Rows, groups: NDArray[Any]
    ) -> list[Opponent]:
        """Return one opponent for each side of the rows, for all models at once."""
        return [GivenGroups(side) for side in rows.sides]

    def _violations(
        self, models: Sequence[Self], rows: Rows, codes: Codes, groups: NDArray[Any]
    ) -> ViolationFunction:
        """Return what gives each model's violation from decisions of distinct rows."""
        return violation_function(rows, column(models, "slack"))

    def _fit_models(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        for model in models:
            model._check_params()
        features, y = validate_data(self, X, y, dtype=np.float32)
        classes, target = encode_binary_target(y)
        groups, _ = encode_groups(sensitive_features, features)
        stacks = _stacks(models)
        given = np.asarray(sensitive_features)
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self, X=X, y=y)
        for stack in stacks:
            noisy = given
            if level := stack[0].simulated_noise:
                seed = check_random_state(stack[0].random_state)
                noisy = simulate_noise(given, level, random_state=seed)
            codes = np.searchsorted(groups, noisy)
            prior = np.bincount(codes, minlength=len(groups)) / len(codes)
            for model in stack:
                model.classes_, model.groups_ = classes, groups
                model.n_features_in_ = self.n_features_in_
                if hasattr(self, "feature_names_in_"):
                    model.feature_names_in_ = self.feature_names_in_
                model.noisy_prior_ = prior
            self._fit_stack(stack, features, target, codes, root)
        root.call_on_fit_task_end(estimator=self, X=X, y=y)

    def _fit_stack(
        self,
        stack: Sequence[Self],
        X: Float32,
        target: Codes,
        codes: Codes,
        root: CallbackContext,
    ) -> None:
        """Fit models that differ in stackable parameters only."""
        first = stack[0]
        rows = compress(X, target, codes, first.groups_, SIDES[first.constraints])
        for start in range(0, len(stack), TOGETHER):
            part = stack[start : start + TOGETHER]
            played = play(
                rows,
                first._opponents(part, rows, first.groups_),
                Settings(
                    column(part, "learning_rate"),
                    column(part, "multiplier_rate"),
                    column(part, "slack") + column(part, "hinge_slack"),
                ),
                n_iterations=first.max_iter,
                violation=first._violations(part, rows, codes, first.groups_),
                stopped=Asked(self, root.subcontext("part", max_subtasks=None)),
            )
            decided = played.theta @ rows.X.T > 0
            for i, model in enumerate(part):
                model._keep(played, i)
                model.constant_ = bool(decided[i].all() or not decided[i].any())
                if model.constant_ and getattr(model, "mode", "paper") == "exact":
                    _warn_constant(type(model).__name__)

    def _keep(self, played: Played, i: int) -> None:
        theta, best = played.theta[i], int(played.best[i])
        self.coef_, self.intercept_ = theta[None, :-1], theta[-1:]
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
        self.ratio_, self.ratio_history_ = None, None


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

    def _violations(
        self, models: Sequence[Self], rows: Rows, codes: Codes, groups: NDArray[Any]
    ) -> ViolationFunction:
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


def column(models: Sequence[NoisyGroupsClassifier], name: str) -> Float32:
    """Return a parameter of every model."""
    return np.array([getattr(model, name) for model in models], np.float32)


def _warn_constant(name: str) -> None:
    message = (
        f"{name} decides alike for every training row: in exact mode no other model was"
        " found that comes closer to the constraint. Lower the noise or allow more "
        "slack."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=2)


def _stacks(models: Sequence[Any]) -> list[list[Any]]:
    """Put together models that are alike in all that cannot differ within a stack."""
    alike: dict[str, list[Any]] = {}
    for model in models:
        params = model.get_params(deep=False)
        fixed = {k: v for k, v in params.items() if k not in model._stackable}
        alike.setdefault(repr(sorted(fixed.items())), []).append(model)
    return list(alike.values())
