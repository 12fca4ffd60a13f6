"""What SenSeI and SenSR share: the search for counterparts and its multiplier."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fairdash._validation import check_non_negative, check_positive, check_whole
from fairdash.methods._attack import Attack
from fairdash.methods._individual import (
    FairMetricClassifier,
    PairTrainer,
    each,
    share_metric,
)
from fairdash.methods.network import Batch
from fairdash.metrics import FairMetric


class AttackTrainer(PairTrainer):
    """A predictor with the search for counterparts and its multiplier λ."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        super().__init__(models, rows, seeds=seeds, device=device)
        first = models[0]
        self.attack = Attack(
            self.predictor,
            share_metric(models, rows),
            n_subspace_steps=first.n_subspace_steps,
            subspace_learning_rate=first.subspace_learning_rate,
            n_full_steps=first.n_full_steps,
            full_learning_rate=first.full_learning_rate,
            seed=seeds[1],
        )
        self.radius = each(models, "fair_radius", device)
        self.multiplier = torch.full_like(self.radius, first.initial_multiplier)
        self.multiplier_rate = first.multiplier_learning_rate

    def move_multiplier(
        self, distance: Tensor, weight: Tensor | float = 1.0
    ) -> dict[str, Tensor]:
        """Take λ <- max(0, λ - η ρ (ε - mean d_X)); return what a history keeps."""
        mean = distance.mean(1, keepdim=True)
        change = self.multiplier_rate * weight * (self.radius - mean)
        self.multiplier = (self.multiplier - change).clamp(min=0)
        return {
            "distance": mean[:, 0],
            "multiplier": self.multiplier[:, 0],
            "free_sensitivity": self.attack.sensitivity(),
        }


class AttackClassifier(FairMetricClassifier):
    """A classifier that a search for counterparts trains; SenSeI has its parameters."""

    def __init__(
        self,
        metric: str | FairMetric = "group_direction",
        *,
        columns: str | Sequence[str] = "",
        feature_names: Sequence[str] | None = None,
        fair_radius: float = 0.1,
        n_subspace_steps: int = 10,
        subspace_learning_rate: float = 0.5,
        n_full_steps: int = 5,
        full_learning_rate: float = 0.02,
        initial_multiplier: float = 2.0,
        multiplier_learning_rate: float = 0.01,
        batches: str = "shuffled",
        predictor_layers: str | Sequence[int] = (64, 32),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.columns = columns
        self.feature_names = feature_names
        self.fair_radius = fair_radius
        self.n_subspace_steps = n_subspace_steps
        self.subspace_learning_rate = subspace_learning_rate
        self.n_full_steps = n_full_steps
        self.full_learning_rate = full_learning_rate
        self.initial_multiplier = initial_multiplier
        self.multiplier_learning_rate = multiplier_learning_rate
        self.batches = batches
        self.predictor_layers = predictor_layers
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_non_negative("fair_radius", self.fair_radius)
        check_whole("n_subspace_steps", self.n_subspace_steps, at_least=0)
        check_whole("n_full_steps", self.n_full_steps, at_least=0)
        check_positive("subspace_learning_rate", self.subspace_learning_rate)
        check_positive("full_learning_rate", self.full_learning_rate)
        check_non_negative("initial_multiplier", self.initial_multiplier)
        check_non_negative("multiplier_learning_rate", self.multiplier_learning_rate)
