"""Soft memberships with the paper's guarantee: a mixture of models."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.callback import CallbackContext

from fairdash._arrays import BoolArray, Float32Array
from fairdash._validation import check_non_negative
from fairdash.methods.base import StopRequest, TrainingRows
from fairdash.methods.declare import Method, param
from fairdash.methods.mixture import MixtureClassifier
from fairdash.methods.noisy_groups import estimators, soft_method
from fairdash.methods.noisy_groups.game import (
    Adam,
    GameRows,
    SideRows,
    compress,
    shrink,
    slopes,
)
from fairdash.methods.noisy_groups.inputs import SIDES
from fairdash.methods.noisy_groups.worst_case import project_simplex, soft_ratio_max
from fairdash.methods.scorers import LinearMixture

DESCENT_STEPS = 10  # of Adam for one approximate best response of the model
PENALTY = 10.0  # R' = B' / gamma of the paper, whose constants are not known in advance


class NoisyGroupsIdeal(
    soft_method.LearnedShares, MixtureClassifier, estimators.NoisyGroupsClassifier
):
    r"""Constraints under soft memberships, by Algorithms 1 and 3: a mixture of models.

    In each of T rounds the model responds to the multipliers in Q steps against
    memberships that climb within the simplex of every cell, total probability being
    relaxed to :math:`\tau` and enforced by a penalty; then the multipliers climb by the
    exact worst violation of these responses, within
    :math:`\lVert \lambda \rVert_1 \le T^{1/4}` and by steps of
    :math:`T^{1/4} / (B \sqrt T)`. The result decides by one of the T x Q models, drawn
    at random. Best responses are approximate, so the theorem holds up to their error.

    Attributes
    ----------
    coefs_, intercepts_ : ndarray of shape (n_models, n_features) and (n_models,)
        Each decides with the same probability; ``predict_proba`` is the probability of
        a positive decision.
    violation_, feasible_ : float, bool
        The largest exact 0/1 violation of each model on the training rows, averaged
        over the mixture, and whether it is at most 0.
    multiplier_, noise_, noisy_prior_, history_
        As in `NoisyGroupsSoft`; one row per round, with the mean largest violation of
        the hinge constraints.

    References
    ----------
    Wang et al. (NeurIPS 2020), Algorithms 1 and 3, Theorems 4 and 5.
    """

    _dtype = np.float32

    noise_level: float = soft_method.NOISE_LEVEL
    group_given_noisy: Any = soft_method.GROUP_GIVEN_NOISY
    n_rounds: int = param(
        20,
        "Rounds",
        letter="T",
        low=2,
        high=200,
        advanced=True,
        help="Steps of the multipliers.",
        doc="T above.",
    )
    n_responses: int = param(
        10,
        "Responses",
        letter="Q",
        high=100,
        advanced=True,
        help="Models in each round.",
        doc="Q above.",
    )
    tolerance: float = param(
        0.01,
        "Tolerance",
        letter="τ",
        high=0.1,
        step=0.005,
        advanced=True,
        check=check_non_negative,
        help="By how much memberships may miss the known shares.",
        doc="The :math:`\\tau` above, at least 0.",
    )

    def _fit_stack(
        self, stack: Sequence[Self], training: TrainingRows, root: CallbackContext
    ) -> None:
        X, target, codes, weight = training
        for model in stack:
            sides = SIDES[model.constraints]
            rows = compress(X, target, codes, model.groups_, sides, weight)
            ask = StopRequest(self, root.subcontext("part", max_subtasks=None))
            model._play_rounds(rows, soft_method.noises([model]), ask)

    def _play_rounds(
        self, rows: GameRows, b: Float32Array, stopped: StopRequest
    ) -> None:
        """Play Algorithm 1, each best response by Algorithm 3; keep the mixture."""
        radius = self.n_rounds**0.25  # R of the paper
        rate = self.n_responses**-0.5
        climbers = [PenalisedSoft(side, b, self.tolerance, rate) for side in rows.sides]
        worst = [WorstSoft(side, b) for side in rows.sides]
        theta = np.zeros((1, rows.X.shape[1]), np.float32)
        multiplier = np.zeros((1, b.shape[2] * len(rows.sides)), np.float32)
        descent = Adam(theta.shape, np.array([[self.learning_rate]], np.float32))
        features = np.ascontiguousarray(rows.X.T)
        mixture = []
        history = []
        steepest = 1.0  # B of the paper, a bound of the gradient: the largest one yet
        for _ in range(self.n_rounds):
            gaps = []
            for _ in range(self.n_responses):
                # Algorithm 3: theta descends, then the memberships climb one step.
                for _ in range(DESCENT_STEPS):
                    slope, _ = slopes(rows, climbers, theta @ features, multiplier)
                    theta = theta - descent.step(slope @ rows.X)
                phi = theta @ features
                _climb(rows, climbers, phi, multiplier)
                gaps.append(slopes(rows, worst, phi, multiplier)[1])
                mixture.append(theta[0])
                if stopped():
                    break
            # Algorithm 1: the multipliers climb by the mean violation of the responses.
            gap = np.mean(gaps, axis=0) - (self.slack + estimators.HINGE_SLACK)
            steepest = max(steepest, float(np.linalg.norm(gap)))
            step = radius / (steepest * self.n_rounds**0.5)
            multiplier = shrink(multiplier + np.float32(step) * gap, radius)
            loss = float(np.maximum(1 - phi * rows.sign, 0)[0] @ rows.share)
            history.append({"loss": loss, "violation": float(gap.max())})
            if stopped.answer:
                break
        models = np.stack(mixture)
        self.coefs_ = models[:, :-1]
        self.intercepts_ = models[:, -1]
        equal_shares = np.full(len(models), 1 / len(models))
        self.network_ = LinearMixture(self.coefs_, self.intercepts_, equal_shares)
        self.multiplier_ = multiplier[0]
        decided = models @ features > 0
        violations = soft_method.soft_violations(
            rows, np.repeat(b, len(models), 0), estimators.column([self], "slack")
        )
        self.violation_ = float(violations(decided).mean())
        self.feasible_ = self.violation_ <= 0
        self.constant_ = bool(decided.all() or not decided.any())
        self.n_iter_ = len(history)
        self.history_ = pd.DataFrame(history)
        self.history_.insert(0, "epoch", np.arange(1, len(history) + 1))
        self.ratio_ = None
        self.ratio_history_ = None


METHOD = Method.of(
    NoisyGroupsIdeal,
    key="noisy_ideal",
    label="Soft ideal",
    title="Soft group assignments with a guarantee",
    summary="A random choice among many models, as the theorem asks for.",
    source=f"{estimators.PAPER}, Algorithms 1 and 3",
    efforts={"fast": {"n_rounds": 10, "n_responses": 5}, "paper": {}},
    former={**estimators.FORMER_NOISE, "auxiliary": ""},
)


class WorstSoft(soft_method.SoftOpponent):
    """The exact worst memberships of each group: `soft_ratio_max`."""

    def _memberships(
        self, cells: soft_method.GroupCells, multiplier: Float32Array
    ) -> Float32Array:
        prior = self._prior.astype(np.float64)
        size = cells.size.astype(np.float64)
        divisor = np.maximum(size, soft_method.TINY)  # cells may be empty
        value = cells.cut / divisor
        rest = np.maximum(prior - size.sum(axis=-1), 0)
        budget = prior[:, None] * self._b
        _, members = soft_ratio_max(size, value, rest, budget, budget)
        return np.asarray(members / divisor[..., None], dtype=np.float32)


class PenalisedSoft(soft_method.SoftOpponent):
    r"""The opponent of Algorithm 3: total probability is a penalty, not a rule.

    Memberships climb within the simplex of every cell. For leaving
    :math:`|\sum_c P(c | k) w_{kcj} - P(G = j | k)| \le \tau` the model's side answers
    with a multiplier :math:`\mu` of size :math:`R'` on the worst k of each group, which
    pushes them back.
    """

    def __init__(
        self,
        rows: SideRows,
        group_given_noisy: Float32Array,
        tolerance: float,
        rate: float,
    ) -> None:
        super().__init__(rows, group_given_noisy)
        self._tolerance = tolerance
        self._rate = rate
        self._w = np.repeat(group_given_noisy[:, :, None], 3, axis=2)

    def climb(
        self, v: Float32Array, decided: BoolArray, multiplier: Float32Array
    ) -> None:
        """Take one step of the memberships against the model that has these scores."""
        cells = self.cells(v, decided)
        size = self.shares(cells)
        w = self._w
        gain = self.gain(cells, w)
        excess = np.einsum("knc,kncj->knj", size, w) - self._b
        worst_noisy = np.abs(excess).argmax(axis=1, keepdims=True)
        largest = np.take_along_axis(excess, worst_noisy, 1)
        mu = np.zeros_like(excess)
        push = PENALTY * np.sign(largest) * (np.abs(largest) > self._tolerance)
        np.put_along_axis(mu, worst_noisy, push.astype(np.float32), 1)
        gain -= mu[:, :, None, :] * size[..., None]
        self._w = project_simplex(w + self._rate * multiplier[:, None, None] * gain)

    def _memberships(
        self, cells: soft_method.GroupCells, multiplier: Float32Array
    ) -> Float32Array:
        return self._w[:, :, :2]


def _climb(
    rows: GameRows,
    climbers: Sequence[PenalisedSoft],
    phi: Float32Array,
    multiplier: Float32Array,
) -> None:
    start = 0
    for side, climber in zip(rows.sides, climbers, strict=True):
        part = multiplier[:, start : start + climber.n_groups]
        start += climber.n_groups
        phi_side = phi[:, side.span]
        signed = phi_side if side.side.sign > 0 else -phi_side
        climber.climb(np.maximum(signed, -1), phi_side > 0, part)
