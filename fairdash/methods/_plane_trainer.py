"""Adversarial training of networks conditioned on settings, many settings a step."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairdash.methods._plane import Plane
from fairdash.methods._plane_network import ConditionedNetwork
from fairdash.methods._training import Batch
from fairdash.methods.adversarial import AdversarialTrainer
from fairdash.methods.road import RoadTrainer


class PlaneTrainer(AdversarialTrainer):
    """The game of Zhang et al., played for each minibatch at settings of its own.

    The settings drawn take the place of the models of a stack. f moves on the mean of
    its losses over 1 + lambda, so that no setting outweighs another, and slower than
    its opponents: at one rate f runs ahead of an adversary that has to follow it at
    all settings. All rates fall to zero along a cosine.

    While f still says the same of everyone its opponents move on noise, and at their
    rate now and then all units of a layer end at zero. One opponent is all there is
    for every setting, so a dead one is drawn anew.
    """

    predictor: Any  # a ConditionedNetwork, as are its opponents
    adversary: Any

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        first = models[0]
        self.range = first._setting_range()
        self.n_settings = first.n_settings
        self.random = np.random.default_rng(list(seeds))
        super().__init__(models, rows, seeds=seeds, device=device)
        self.rates = first.learning_rate, first.adversary_learning_rate
        self.n_steps = first.n_epochs * math.ceil(len(rows) / first.batch_size)
        self.n_taken = 0

    def make_network(
        self,
        sizes: Sequence[int],
        models: Sequence[Any],
        *,
        seed: int,
        device: torch.device,
        like: Tensor | None = None,
    ) -> Any:
        """Return a network conditioned on settings, which predicts at the models'."""
        return ConditionedNetwork(
            sizes,
            self.n_settings,
            range=self.range,
            points=[model._setting() for model in models],
            seed=seed,
            device=device,
            like=like,
        )

    def opponents(self) -> list[Any]:
        """Return the networks that f plays against."""
        return [self.adversary]

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Draw settings and play at them; return mean losses, the same for all models.

        ``n_models`` values each, since every model shares in every step.
        """
        settings = self.range.draw(self.n_settings, self.random)
        features = self.range.features(settings)
        decay = 0.5 * (1 + math.cos(math.pi * self.n_taken / self.n_steps))
        rates = [self.rates[0], *(self.rates[1] for _ in self.opponents())]
        networks = [self.predictor, *self.opponents()]
        for network, rate in zip(networks, rates, strict=True):
            network.learning_rate = decay * rate
            network.condition(features)
        self.n_taken += 1
        self.set_point(torch.as_tensor(settings).to(batch.X))
        losses = super().step(batch)
        for network in self.opponents():
            if network.is_dead():
                network.redraw(int(self.random.integers(2**31)))
        n_models = len(self.predictor.points)
        return {name: loss.mean().expand(n_models) for name, loss in losses.items()}

    def set_point(self, settings: Tensor) -> None:
        """Play at ``settings``, rows of lambda and, for ROAD, tau."""
        self.fairness_weight = settings[:, :1]
        self.importance = 1 / (1 + self.fairness_weight)

    def plane(self) -> Plane:
        """Return what was learned for all settings, as plain arrays."""
        return Plane(self.predictor.plane())


class RoadPlaneTrainer(PlaneTrainer, RoadTrainer):
    """The game of ROAD in the same manner, with a ratio network at each setting."""

    ratio: Any

    def opponents(self) -> list[Any]:
        """Return the networks that f plays against."""
        return [self.adversary, self.ratio]

    def set_point(self, settings: Tensor) -> None:
        """Play at ``settings``, rows of lambda and tau."""
        super().set_point(settings)
        self.tau = settings[:, 1:]

    def plane(self) -> Plane:
        """Return what was learned for all settings, as plain arrays."""
        return Plane(
            self.predictor.plane(),
            self.ratio.plane(),
            knows_target=self.knows_target,
            conditional=self.conditional,
        )
