"""A network classifier without a fairness term: what the others are compared with."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fairdash.methods._base import StackedClassifier
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._groups import binary_cross_entropy
from fairdash.methods._stacked import StackedNetwork
from fairdash.methods._training import Batch


class PlainTrainer:
    """A predictor on its own, in descent of its cross-entropy."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        first = models[0]
        self.predictor = StackedNetwork(
            (rows.X.shape[1], *hidden_layers(first.predictor_layers), 1),
            len(models),
            seed=seeds[0],
            learning_rate=first.learning_rate,
            device=device,
            like=rows.X,
        )

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Move the predictor one step; return its loss, one value per model."""
        logits = self.predictor.forward(batch.X)[..., 0]
        loss, slope = binary_cross_entropy(logits, batch.y)
        self.predictor.backward(slope[..., None] / len(batch))
        self.predictor.step()
        return {"loss": loss.mean(1)}

    def ratios(self, rows: Batch) -> None:
        """Return None: no weights."""


class Unconstrained(StackedClassifier):
    r"""Network classifier that minimises :math:`E[L_Y]` and nothing else.

    With the same ``random_state`` it starts from the weights, and sees the rows in the
    order, of the debiased networks.

    Parameters
    ----------
    predictor_layers : str or tuple of int, default=(64, 32)
        Hidden widths, or "simple" (), "medium" (32,), "standard" (64, 32), "complex".
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
    history_ : DataFrame
        ``epoch`` and mean ``loss`` of each.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = PlainTrainer

    def __init__(
        self,
        *,
        predictor_layers: str | Sequence[int] = (64, 32),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.predictor_layers = predictor_layers
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state
