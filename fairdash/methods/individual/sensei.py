"""SenSeI, SenSR and CLP: networks trained on counterparts of each person."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fairdash._arrays import FloatArray
from fairdash._validation import check_non_negative, check_positive
from fairdash.methods.declare import Method, at_least_one, param, vary
from fairdash.methods.individual import classifier
from fairdash.methods.individual.attack import Attack, Objective
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch, StackedNetwork
from fairdash.methods.params import FAST

if TYPE_CHECKING:
    from torch import Tensor

    from fairdash.metrics import FairMetric

FIRST_MULTIPLIER = 2.0  # λ
MULTIPLIER_RATE = 0.01  # its step η
_count = partial(at_least_one, at_least=0)


class AttackTrainer(classifier.PairTrainer):
    """A predictor with the search for counterparts and its multiplier λ."""

    def prepare(self, rows: Batch) -> None:
        """Make the search for counterparts."""
        metric = self.share_metric(rows)
        self.attack = self.first.search(self.predictor, metric, seed=self.seeds[1])
        self.radius = self.per_model("fair_radius")
        self.multiplier = torch.full_like(self.radius, FIRST_MULTIPLIER)

    def move_multiplier(
        self, distance: Tensor, weight: Tensor | float = 1.0
    ) -> dict[str, Tensor]:
        """Take λ <- max(0, λ - η ρ (ε - mean d_X)); return what a history keeps."""
        # λ falls while counterparts are nearer than ε on average, and so lets them move
        # further; it rises when they are too far.
        mean = distance.mean(1, keepdim=True)
        change = MULTIPLIER_RATE * weight * (self.radius - mean)
        self.multiplier = (self.multiplier - change).clamp(min=0)
        return {"distance": mean[:, 0], "multiplier": self.multiplier[:, 0]}


class SenseiTrainer(AttackTrainer):
    """Algorithm 1 of the paper."""

    def prepare(self, rows: Batch) -> None:
        """Make the search for counterparts; keep the weight of fairness."""
        super().prepare(rows)
        self.weight = self.per_model("fairness_weight")

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        # Algorithm 1: the worst x' of each row under the present network and λ, ...
        counterparts, distance = self.attack(
            batch.X, classifier.OutputDistance, self.multiplier
        )
        # ... a step of the network on ℓ(y, h(x)) + ρ d_Y(h(x), h(x')), and one of λ.
        losses = self.pair_step(batch, counterparts, self.weight)
        return losses | self.move_multiplier(distance, self.weight)


class SensrTrainer(AttackTrainer):
    """A predictor that descends its loss at the worst counterparts."""

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        loss = classifier.TargetLoss(batch.y)
        counterparts, distance = self.attack(batch.X, lambda _: loss, self.multiplier)
        outputs = self.predictor.forward(counterparts)
        losses = {"loss": loss.value(outputs).mean(1)}
        self.predictor.backward(loss.slope(outputs) / len(batch))
        self.predictor.step()
        return losses | self.move_multiplier(distance)


class SearchedClassifier(classifier.FairMetricClassifier):
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
    n_full_steps: int = vary(
        n_subspace_steps,
        default=5,
        label="Full steps",
        help="Steps of the search in all directions.",
    )
    full_learning_rate: float = vary(
        subspace_learning_rate,
        default=0.02,
        label="Size of a full step",
        low=1e-4,
        high=1.0,
        step=1e-4,
    )

    def search(
        self, network: StackedNetwork, metric: FairMetric, *, seed: int
    ) -> Attack:
        """Return the search for counterparts with this classifier's steps."""
        return Attack(
            network,
            metric,
            n_subspace_steps=self.n_subspace_steps,
            subspace_learning_rate=self.subspace_learning_rate,
            n_full_steps=self.n_full_steps,
            full_learning_rate=self.full_learning_rate,
            seed=seed,
        )

    def counterparts(
        self, X: ArrayLike, y: ArrayLike | None = None, *, random_state: int = 0
    ) -> FloatArray:
        """Return the worst counterpart of each sample, (n_samples, n_features).

        They are those that one more step of training would take: by its search, under
        the network and the multiplier that it ended with.

        Parameters
        ----------
        y : array-like of shape (n_samples,), optional
            Outcomes, which SenSR needs.
        random_state : int, default=0
            Of the first moves of the search.
        """
        check_is_fitted(self, "network_")
        rows = torch.as_tensor(np.asarray(self._rows(X), np.float32))
        last_multiplier = self.history_["multiplier"].iloc[-1]
        multiplier = torch.tensor([[last_multiplier]], dtype=torch.float32)
        with torch.no_grad():
            network = StackedNetwork.of(self.network_)
            search = self.search(network, self.fair_metric_, seed=random_state)
            worst, _ = search(rows, self._objective_at(y), multiplier)
        return worst[0].numpy().astype(np.float64)

    @abstractmethod
    def _objective_at(self, y: ArrayLike | None) -> Callable[[Tensor], Objective]: ...


class SenSeI(SearchedClassifier, classifier.WeightedPairs):
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
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
    history_ : DataFrame
        Means of each epoch: ``loss``, ``fair_loss`` (d_Y at the counterparts),
        ``distance`` (d_X) and ``multiplier``.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = SenseiTrainer

    def _objective_at(self, y: ArrayLike | None) -> Callable[[Tensor], Objective]:
        return classifier.OutputDistance


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

    def _objective_at(self, y: ArrayLike | None) -> Callable[[Tensor], Objective]:
        if y is None:
            raise ValueError("SenSR's counterparts depend on outcomes: give `y`.")
        target = column_or_1d(y) == self.classes_[1]
        loss = classifier.TargetLoss(torch.as_tensor(target, dtype=torch.float32))
        return lambda _: loss


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
    summary="Gives people who are alike the same output. Each person is moved along "
    "the sensitive directions to where the output changes most. Training makes that "
    "change small.",
    source=f"{classifier.SENSEI_PAPER}, Eq. 2.7 and Algorithm 1",
    efforts={"fast": FAST, "paper": {**classifier.LONG, **_SENSEI_PAPER}},
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
    efforts={"fast": FAST, "paper": {**classifier.LONG, **_SENSR_PAPER}},
    needs_names=True,
)


def free_projector(metric: FairMetric) -> Tensor:
    """Return the projector on the free directions, (n_features, n_features)."""
    free = torch.as_tensor(metric.basis.astype("float32"))
    return free @ free.T


def drawn_counterfactuals(
    X: Tensor, free: Tensor, generator: torch.Generator
) -> Tensor:
    """Return rows, each with the free part of another row drawn at random."""
    order = torch.randperm(len(X), generator=generator)
    other_rows = X[order.to(X.device)]
    return X + (other_rows - X) @ free


class ClpTrainer(classifier.PairTrainer):
    """A predictor whose output is pulled towards that at a random counterfactual."""

    def prepare(self, rows: Batch) -> None:
        """Seed the draws and find the free directions."""
        self.weight = self.per_model("fairness_weight")
        self._generator = torch.Generator().manual_seed(self.seeds[1])
        free = free_projector(self.share_metric(rows))
        self.free = free.to(self.device)

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Draw counterfactuals and move the predictor; return losses."""
        counterfactuals = drawn_counterfactuals(batch.X, self.free, self._generator)
        n_models = self.predictor.n_models
        return self.pair_step(
            batch, counterfactuals.expand(n_models, -1, -1), self.weight
        )


class CLP(classifier.WeightedPairs):
    r"""Network whose logits agree for a person and a counterfactual.

    .. math:: \min_\theta E[\ell(y, h(x))] + \rho E[d_Y(h(x), h(\tilde{x}))]

    with :math:`\tilde{x}` drawn anew for every row and minibatch: the row moved to
    another one along sensitive directions, :math:`x + P (x_j - x)` with the projector P
    on the free directions. For the levels of a column this is another person's value.

    Source: Garg et al., *Counterfactual fairness in text classification through
    robustness* (AIES 2019), section 4.3; :math:`d_Y` as in :class:`SenSeI`.

    Attributes
    ----------
    classes_, groups_, network_, ratio_, ratio_history_
        As in :class:`SenSeI`.
    history_ : DataFrame
        Means of each epoch: ``loss`` and ``fair_loss`` (d_Y).
    """

    _trainer_class = ClpTrainer

    def counterparts(
        self, X: ArrayLike, y: ArrayLike | None = None, *, random_state: int = 0
    ) -> FloatArray:
        """Return a counterfactual of each sample, (n_samples, n_features).

        It has the free part of another of these samples, drawn as in training.
        """
        check_is_fitted(self, "network_")
        rows = torch.as_tensor(np.asarray(self._rows(X), np.float32))
        generator = torch.Generator().manual_seed(random_state)
        free = free_projector(self.fair_metric_)
        return drawn_counterfactuals(rows, free, generator).numpy().astype(np.float64)


CLP_METHOD = Method.of(
    CLP,
    key="clp",
    label="CLP",
    title="Counterfactual logit pairing",
    summary="Pulls a person's output towards that of the same person with somebody "
    "else's sensitive values.",
    source=f"Garg et al. (AIES 2019), as in {classifier.SENSEI_PAPER}, section 4",
    efforts={"fast": FAST, "paper": classifier.LONG},
    needs_names=True,
)
