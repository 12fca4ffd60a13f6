"""The training loop of a stack: minibatches, steps, and what an observer sees."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.lazy import torch
from fairdash.methods.network.rows import Batch
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.methods.params import hidden_layers

if TYPE_CHECKING:
    from torch import Tensor

# Of the weights of training rows, which a finished model keeps.
N_SNAPSHOTS = 20


class Trainer(ABC):
    """The networks of a stack and how one minibatch moves them.

    A subclass makes what it trains beside the predictor in ``prepare``.

    Models are alike in all that may not differ within a stack; seeds are of the
    predictor, and of what else is drawn.
    """

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        self.models = models
        self.first = models[0]
        self.seeds = seeds
        self.device = device
        self.predictor = self.network(
            rows.X.shape[1], self.first.predictor_layers, seed=seeds[0], like=rows.X
        )
        self.prepare(rows)

    def prepare(self, rows: Batch) -> None:  # noqa: B027 some need nothing else
        """Make what trains beside the predictor."""

    def network(
        self,
        width: int,
        layers: str | Sequence[int],
        n_classes: int = 2,
        *,
        seed: int,
        like: Tensor | None = None,
    ) -> StackedNetwork:
        """Return a network a model, with one output for two classes."""
        n_outputs = 1 if n_classes == 2 else n_classes
        return StackedNetwork(
            (width, *hidden_layers(layers), n_outputs),
            len(self.models),
            seed=seed,
            learning_rate=self.first.learning_rate,
            device=self.device,
            like=like,
        )

    def per_model(self, name: str) -> Tensor:
        """Return the setting ``name`` of every model, (n_models, 1)."""
        values = [[float(getattr(model, name))] for model in self.models]
        return torch.tensor(values, device=self.device)

    def begin_epoch(self, done: float) -> None:  # noqa: B027 most do the same in all
        """Prepare for an epoch; ``done`` is the share of the epochs before it."""

    @abstractmethod
    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Take one step; return each loss by name, one value per model."""

    def ratios(self, rows: Batch) -> Tensor | None:
        """Return the weights r of ``rows``, (n_models, n_rows); None without any."""
        return None

    def finish(self) -> None:  # noqa: B027 most have trained the predictor alone
        """Set what models keep of what was trained beside the predictor."""


@dataclass
class StackView:
    """A stack in training, as a callback finds it after an epoch.

    Attributes
    ----------
    points : list of int
        Which of the points given to ``fit_many`` these models are.
    epoch, n_epochs : int
        Epochs finished and planned.
    history : dict of str to list of ndarray
        Mean losses over the rows of each epoch, one array of (n_models,) an epoch.
    """

    points: list[int]
    n_epochs: int
    _trainer: Trainer
    _rows: Batch
    epoch: int = 0
    history: dict[str, list[NDArray[np.float32]]] = field(default_factory=dict)

    def logits(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the outputs of all models for ``X``; shape (n_models, n_samples)."""
        rows = torch.as_tensor(X, dtype=torch.float32).to(self._rows.X.device)
        return self._trainer.predictor.predict(rows)[..., 0].cpu().numpy()

    def ratios(self) -> NDArray[np.float32] | None:
        """Return r of the training rows, (n_models, n_samples), if there is one.

        Normalised over the whole training set, not over a batch: of mean one over
        rows as they are weighted, so that of counts it is one over people.
        """
        ratios = self._trainer.ratios(self._rows)
        return None if ratios is None else ratios.cpu().numpy()


def train(
    trainer: Trainer,
    rows: Batch,
    *,
    n_epochs: int,
    batch_size: int,
    balanced: bool = False,
    weight: NDArray[np.float64] | None = None,
    seed: int,
    points: Sequence[int],
    after_epoch: Callable[[StackView], bool],
) -> tuple[StackView, dict[str, NDArray[np.generic]]]:
    """Run epochs of shuffled minibatches, the last of which may be small.

    The order of rows follows from ``seed`` alone, so it is the same for every stack
    and method, unless minibatches are to be ``balanced``: then each class has as many
    rows as any other, those of small classes more than once an epoch. With a ``weight``
    of every row, rows are drawn in proportion to it, if balanced within their class.
    ``after_epoch`` may return True to stop.

    Snapshots are ``"epoch"`` (n_snapshots,) and ``"ratio"`` (n_snapshots, n_models,
    n_samples); empty when the method has no weights.
    """
    view = StackView(list(points), n_epochs, trainer, rows.weighing(weight))
    generator = torch.Generator().manual_seed(seed)
    snapshot_epochs = set(np.linspace(1, n_epochs, N_SNAPSHOTS).round().astype(int))
    epochs = []
    ratios = []
    for epoch in range(1, n_epochs + 1):
        totals: dict[str, Tensor] = {}
        seen = 0
        trainer.begin_epoch((epoch - 1) / n_epochs)
        for batch in _minibatches(rows, batch_size, generator, balanced, weight):
            seen += len(batch)
            for name, loss in trainer.step(batch).items():
                totals[name] = totals.get(name, 0) + loss * len(batch)
        for name, total in totals.items():
            mean = (total / seen).cpu().numpy()
            view.history.setdefault(name, []).append(mean)
        view.epoch = epoch
        stop = after_epoch(view)
        if epoch in snapshot_epochs or stop:
            snapshot = view.ratios()
            if snapshot is not None:
                epochs.append(epoch)
                ratios.append(snapshot)
        if stop:
            break
    if not ratios:
        return view, {}
    return view, {"epoch": np.array(epochs), "ratio": np.stack(ratios)}


def _minibatches(
    rows: Batch,
    batch_size: int,
    generator: torch.Generator,
    balanced: bool,
    weight: NDArray[np.float64] | None,
) -> Iterator[Batch]:
    """Yield the minibatches of one epoch; the generator lives on the CPU.

    So the order is the same on every device.
    """
    if weight is not None:
        if balanced:
            weight = _balanced_weight(rows.y.cpu(), weight)
        order = _weighted_order(weight, generator)
    elif balanced:
        order = _balanced_order(rows.y.cpu(), generator)
    else:
        order = torch.randperm(len(rows), generator=generator)
    for part in order.to(rows.X.device).split(batch_size):
        yield rows[part]


def _balanced_weight(y: Tensor, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of rows of which each class has the same in total."""
    classes = y.numpy().astype(int)
    totals = np.bincount(classes, weight)
    return weight / np.where(totals > 0, totals, 1)[classes]


def _weighted_order(weight: NDArray[np.float64], generator: torch.Generator) -> Tensor:
    """Return as many rows as there are, drawn in proportion to their weight."""
    ends = np.cumsum(weight)
    levels = torch.rand(len(weight), generator=generator, dtype=torch.float64)
    drawn = np.searchsorted(ends, levels.numpy() * ends[-1], "right")
    return torch.as_tensor(drawn)


def _balanced_order(y: Tensor, generator: torch.Generator) -> Tensor:
    """Return an order in which the classes take turns, equally many rows of each.

    A class smaller than the others is shuffled anew for each round through its rows.
    """
    classes = y.unique()
    n_per_class = math.ceil(len(y) / len(classes))
    columns = []
    for label in classes:
        members = torch.nonzero(y == label)[:, 0]
        rounds = math.ceil(n_per_class / len(members))
        shuffled = [
            members[torch.randperm(len(members), generator=generator)]
            for _ in range(rounds)
        ]
        columns.append(torch.cat(shuffled)[:n_per_class])
    return torch.stack(columns, dim=1).flatten()
