"""SenSeI and SenSR: networks trained on the worst counterpart of each person."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairdash._validation import check_non_negative, check_positive, check_whole
from fairdash.methods.declare import Method, param
from fairdash.methods.individual.attack import Attack
from fairdash.methods.individual.classifier import (
    LONG,
    SENSEI_PAPER,
    FairMetricClassifier,
    OutputDistance,
    PairTrainer,
    TargetLoss,
    WeightedPairs,
)
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch
from fairdash.methods.params import FAST

if TYPE_CHECKING:
    from torch import Tensor

_count = partial(check_whole, at_least=0)


class AttackTrainer(PairTrainer):
    """A predictor with the search for counterparts and its multiplier λ."""

    def prepare(self, rows: Batch) -> None:
        """Make the search for counterparts."""
        first = self.first
        self.attack = Attack(
            self.predictor,
            self.share_metric(rows),
            n_subspace_steps=first.n_subspace_steps,
            subspace_learning_rate=first.subspace_learning_rate,
            n_full_steps=first.n_full_steps,
            full_learning_rate=first.full_learning_rate,
            seed=self.seeds[1],
        )
        self.radius = self.each("fair_radius")
        self.multiplier = torch.full_like(self.radius, first.initial_multiplier)

    def move_multiplier(
        self, distance: Tensor, weight: Tensor | float = 1.0
    ) -> dict[str, Tensor]:
        """Take λ <- max(0, λ - η ρ (ε - mean d_X)); return what a history keeps."""
        mean = distance.mean(1, keepdim=True)
        change = self.first.multiplier_learning_rate * weight * (self.radius - mean)
        self.multiplier = (self.multiplier - change).clamp(min=0)
        return {
            "distance": mean[:, 0],
            "multiplier": self.multiplier[:, 0],
            "free_sensitivity": self.attack.sensitivity(),
        }


class SenseiTrainer(AttackTrainer):
    """Algorithm 1 of the paper."""

    def prepare(self, rows: Batch) -> None:
        """Make the search for counterparts; keep the weight of fairness."""
        super().prepare(rows)
        self.weight = self.each("fairness_weight")

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        counterparts, distance = self.attack(batch.X, OutputDistance, self.multiplier)
        losses = self.pair_step(batch, counterparts, self.weight)
        return losses | self.move_multiplier(distance, self.weight)


class SensrTrainer(AttackTrainer):
    """A predictor that descends its loss at the worst counterparts."""

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        loss = TargetLoss(batch.y)
        counterparts, distance = self.attack(batch.X, lambda _: loss, self.multiplier)
        outputs = self.predictor.forward(counterparts)
        losses = {"loss": loss.value(outputs).mean(1)}
        self.predictor.backward(loss.slope(outputs) / len(batch))
        self.predictor.step()
        return losses | self.move_multiplier(distance)


class SearchedClassifier(FairMetricClassifier):
    """A classifier that a search for counterparts trains."""

    fair_radius: float = param(
        0.1,
        "Fair radius",
        letter="ε",
        low=0.0,
        high=1.0,
        step=0.001,
        stackable=True,
        check=check_non_negative,
        help="How far apart people may be, on average, to count as alike.",
        doc="The :math:`\\epsilon` above: squared fair distance allowed on average.",
    )
    n_subspace_steps: int = param(
        10,
        "Free steps",
        low=0,
        high=100,
        advanced=True,
        check=_count,
        help="Steps of the search along the sensitive directions.",
    )
    subspace_learning_rate: float = param(
        0.5,
        "Size of a free step",
        low=0.01,
        high=20.0,
        advanced=True,
        check=check_positive,
        help="In standard deviations of a column.",
    )
    n_full_steps: int = param(
        5,
        "Full steps",
        low=0,
        high=100,
        advanced=True,
        check=_count,
        help="Steps of the search in all directions.",
    )
    full_learning_rate: float = param(
        0.02,
        "Size of a full step",
        low=1e-4,
        high=1.0,
        step=1e-4,
        advanced=True,
        check=check_positive,
        help="In standard deviations of a column.",
    )
    initial_multiplier: float = param(
        2.0, check=check_non_negative, doc="First :math:`\\lambda`."
    )
    multiplier_learning_rate: float = param(
        0.01, check=check_non_negative, doc="Step size :math:`\\eta` of λ."
    )


class SenSeI(SearchedClassifier, WeightedPairs):
    r"""Network whose output does not change between people who are alike.

    .. math::

        \min_\theta \inf_{\lambda \geq 0} E[\ell(y, h(x))] + \rho \Bigl( \lambda
        \epsilon + E \sup_{x'} [d_Y(h(x), h(x')) - \lambda d_X(x, x')] \Bigr)

    with :math:`d_Y = \frac{1}{K} \lVert h(x) - h(x') \rVert^2` on logits (one logit s
    stands for -s/2 and s/2) and the fair metric :math:`d_X = (x-x')^T \Sigma (x-x')`.
    Each minibatch finds x' in two phases (see ``Attack``), then moves
    :math:`\lambda \leftarrow \max(0, \lambda - \eta \rho (\epsilon - \bar d_X))` and
    the network.

    Source: Yurochkin and Sun, *SenSeI: Sensitive set invariance for enforcing
    individual fairness* (ICLR 2021), Eq. 2.7 and Algorithm 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
        One logit, or one for each of more than two classes.
    history_ : DataFrame
        Means of each epoch: ``loss``, ``fair_loss`` (d_Y at the counterparts),
        ``distance`` (d_X), ``multiplier`` and ``free_sensitivity``, the norm of
        :math:`A^T W_1`, which is 0 when free moves are not seen.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = SenseiTrainer


class SenSR(SearchedClassifier):
    r"""Network that is as accurate for the worst counterpart of each person.

    .. math::

        \min_\theta \inf_{\lambda \geq 0} \lambda \epsilon + E \sup_{x'}
        [\ell(y, h(x')) - \lambda d_X(x, x')]

    Fairness has no weight of its own: as free moves cost nothing, even
    :math:`\epsilon = 0` asks for the same output along the free directions.

    Source: Yurochkin, Bower and Sun, *Training individually fair ML models with
    sensitive subspace robustness* (ICLR 2020).

    Attributes
    ----------
    As in :class:`SenSeI`; ``loss`` of ``history_`` is that of the counterparts.
    """

    _trainer_class = SensrTrainer


_SHORT_SEARCH = {
    "n_subspace_steps": 10,
    "subspace_learning_rate": 0.5,
    "n_full_steps": 5,
    "full_learning_rate": 0.02,
}
_SENSEI_PAPER = {  # 30,000 minibatches of 36,177 rows: the paper does not say how many
    "n_epochs": 830,
    "learning_rate": 1e-5,
    "fair_radius": 0.01,
    "n_subspace_steps": 50,
    "subspace_learning_rate": 10.0,
    "n_full_steps": 50,
    "full_learning_rate": 1e-3,
}
_SENSR_PAPER = {
    "fair_radius": 0.001,
    "n_subspace_steps": 50,
    "subspace_learning_rate": 10.0,
    "n_full_steps": 40,
    "full_learning_rate": 1e-4,
}
SENSEI = Method.of(
    SenSeI,
    key="sensei",
    label="SenSeI",
    title="Sensitive set invariance",
    summary="Gives people who are alike the same output: each person is moved along "
    "the sensitive directions to where the output changes most, and that change is "
    "made small.",
    source=f"{SENSEI_PAPER}, Eq. 2.7 and Algorithm 1",
    efforts={"fast": {**FAST, **_SHORT_SEARCH}, "paper": {**LONG, **_SENSEI_PAPER}},
    needs_names=True,
)
SENSR = Method.of(
    SenSR,
    key="sensr",
    label="SenSR",
    title="Sensitive subspace robustness",
    summary="Learns from the worst counterpart of each person. Fairness and "
    "accuracy come as one: there is no weight between them.",
    source="Yurochkin, Bower and Sun (ICLR 2020)",
    efforts={"fast": {**FAST, **_SHORT_SEARCH}, "paper": {**LONG, **_SENSR_PAPER}},
    needs_names=True,
)
