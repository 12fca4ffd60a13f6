"""Adversarial debiasing (Zhang, Lemoine and Mitchell 2018) on a stack of models."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from fairdash._validation import (
    CONSTRAINTS,
    check_non_negative,
    check_one_of,
    check_whole,
)
from fairdash.methods._base import StackedClassifier
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._groups import binary_cross_entropy, group_cross_entropy
from fairdash.methods._stacked import StackedNetwork
from fairdash.methods._training import Batch


class AdversarialTrainer:
    """Predictor f against adversary g, with weights r on the rows: here r = 1.

    ROAD and BROAD differ in ``fit_ratio`` alone.
    """

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        first = models[0]
        self.knows_target = first.constraints == "equalized_odds"
        self.n_adversary_steps = first.n_adversary_steps
        self.fairness_weight = torch.tensor(
            [[float(model.fairness_weight)] for model in models], device=device
        )
        self.importance = torch.ones_like(self.fairness_weight)
        n_groups = rows.groups.n_groups
        self.predictor = self.make_network(
            (rows.X.shape[1], *hidden_layers(first.predictor_layers), 1),
            models,
            seed=seeds[0],
            device=device,
            like=rows.X,
        )
        self.adversary = self.make_network(
            (
                1 + self.knows_target,
                *hidden_layers(first.adversary_layers),
                1 if n_groups == 2 else n_groups,
            ),
            models,
            seed=seeds[1],
            device=device,
        )

    def make_network(
        self,
        sizes: Sequence[int],
        models: Sequence[Any],
        *,
        seed: int,
        device: torch.device,
        like: Tensor | None = None,
    ) -> StackedNetwork:
        """Return a network of this shape for every model."""
        return StackedNetwork(
            sizes,
            len(models),
            seed=seed,
            learning_rate=models[0].learning_rate,
            device=device,
            like=like,
        )

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Move adversary, weights and predictor in turn; return their losses."""
        logits = self.predictor.forward(batch.X)[..., 0]
        group_loss, slope = self.fit_adversary(logits, batch)
        log_ratio = self.fit_ratio(group_loss, batch)
        weighted = group_loss if log_ratio is None else group_loss * log_ratio.exp()
        loss = self.fit_predictor(logits, slope, log_ratio, batch)
        losses = {"loss": loss, "adversary_loss": group_loss, "weighted": weighted}
        if log_ratio is not None:
            losses["divergence"] = log_ratio.exp() * log_ratio
        return {name: values.mean(1) for name, values in losses.items()}

    def fit_adversary(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Let g descend mean L_S; return its loss afterwards, row by row, and slope."""
        inputs = self._adversary_inputs(logits, batch)
        for _ in range(self.n_adversary_steps):
            outputs = self.adversary.forward(inputs)
            _, slope = group_cross_entropy(outputs, batch.groups)
            self.adversary.backward(slope / len(batch))
            self.adversary.step()
        return group_cross_entropy(self.adversary.forward(inputs), batch.groups)

    def fit_ratio(self, group_loss: Tensor, batch: Batch) -> Tensor | None:
        """Return log r of the batch, given L_S; None stands for r = 1."""
        return None

    def fit_predictor(
        self, logits: Tensor, slope: Tensor, log_ratio: Tensor | None, batch: Batch
    ) -> Tensor:
        """Let f descend mean L_Y - lambda mean(r L_S); return L_Y row by row."""
        loss, gradient = binary_cross_entropy(logits, batch.y)
        through_adversary = self.adversary.input_gradient(slope)[..., 0]
        if log_ratio is not None:
            through_adversary = through_adversary * log_ratio.exp()
        gradient = gradient - self.fairness_weight * through_adversary
        gradient = gradient * self.importance / len(batch)
        self.predictor.backward(gradient[..., None])
        self.predictor.step()
        return loss

    def group_loss(self, rows: Batch) -> Tensor:
        """Return L_S of all ``rows`` under the present f and g."""
        logits = self.predictor.predict(rows.X)[..., 0]
        outputs = self.adversary.predict(self._adversary_inputs(logits, rows))
        return group_cross_entropy(outputs, rows.groups)[0]

    def ratios(self, rows: Batch) -> Tensor | None:
        """Return r of all ``rows``; None where the method does not weight rows."""
        return None

    def _adversary_inputs(self, logits: Tensor, batch: Batch) -> Tensor:
        if not self.knows_target:
            return logits[..., None]
        return torch.stack([logits, batch.y.expand_as(logits)], dim=-1)


class AdversarialDebiasing(StackedClassifier):
    r"""Network whose output an adversary cannot tell the group from.

    With predictor :math:`f`, adversary :math:`g` and cross-entropies
    :math:`L_Y(f(x), y)` and :math:`L_S(g(f(x)), s)`, training seeks

    .. math:: \min_f \max_g \; E[L_Y] - \lambda E[L_S] .

    Every minibatch moves g several steps on :math:`L_S`, then f one step. g reads the
    logit of f, and with ``constraints="equalized_odds"`` the target as well. More than
    two groups get an adversary with one output each.

    Source: Zhang, Lemoine and Mitchell, *Mitigating unwanted biases with adversarial
    learning* (2018), as the "globally fair" comparison of Grari et al., *On the
    fairness ROAD* (2024), section 3.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds"}
        What the prediction is to be independent of the group given: nothing, or y.
    fairness_weight : float, default=1.0
        The :math:`\lambda` above; 0 leaves the predictor alone.
    predictor_layers, adversary_layers : str or tuple of int
        Hidden widths, or "simple" (), "medium" (32,), "standard" (64, 32), "complex";
        by default (64, 32) and (64, 32, 16).
    n_adversary_steps : int, default=3
        Steps of g per step of f.
    n_epochs, batch_size, learning_rate : int, int, float
        Passes over the rows, rows a minibatch, Adam's step size.
    device : {"auto", "cpu", "cuda"}
        Where to train.
    random_state : int, RandomState instance or None
        Seed of weights and of the order of rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
        The predictor; its logit is the log odds of ``classes_[1]``.
    history_ : DataFrame
        Mean losses per epoch: ``epoch``, ``loss`` (L_Y), ``adversary_loss`` (L_S).
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _stackable: ClassVar[tuple[str, ...]] = ("fairness_weight",)
    _trainer_class = AdversarialTrainer

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        fairness_weight: float = 1.0,
        predictor_layers: str | Sequence[int] = (64, 32),
        adversary_layers: str | Sequence[int] = (64, 32, 16),
        n_adversary_steps: int = 3,
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.fairness_weight = fairness_weight
        self.predictor_layers = predictor_layers
        self.adversary_layers = adversary_layers
        self.n_adversary_steps = n_adversary_steps
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_one_of("constraints", self.constraints, CONSTRAINTS)
        check_non_negative("fairness_weight", self.fairness_weight)
        check_whole("n_adversary_steps", self.n_adversary_steps, at_least=1)
        hidden_layers(self.adversary_layers, name="adversary_layers")
