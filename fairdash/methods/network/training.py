"""The training loop of a stack: groups of rows, minibatches, what an observer sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.lazy import torch
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.methods.params import hidden_layers

if TYPE_CHECKING:
    from torch import Tensor

N_SNAPSHOTS = 20  # weights of the training rows that a finished model keeps


@dataclass(frozen=True)
class Groups:
    """The group of each row.

    Values of rows have shape (n_models, n_rows), of groups (n_models, n_groups). A
    group without rows in sight is skipped: nothing is divided by its size.

    ``n_groups`` counts those seen here and those not. ``weight`` says how much each
    row counts in a mean; without, each counts once.
    """

    codes: Tensor
    n_groups: int
    weight: Tensor | None = None

    @cached_property
    def indicator(self) -> Tensor:
        """1 where a row belongs to a group; shape (n_rows, n_groups)."""
        one_hot = torch.nn.functional.one_hot(self.codes, self.n_groups)
        return one_hot.to(torch.get_default_dtype())

    @cached_property
    def sizes(self) -> Tensor:
        """Rows per group, at least 1; shape (n_groups,)."""
        return self.indicator.sum(0).clamp(min=1)

    @cached_property
    def _shares(self) -> tuple[Tensor, Tensor]:
        """Weight of each row in each group, and the sums of these by group."""
        if self.weight is None:
            return self.indicator.T, self.sizes
        counted = self.indicator.T * self.weight
        sums = counted.sum(-1)
        # A group that weighs nothing counts each of its rows once.
        counted = torch.where(sums[:, None] > 0, counted, self.indicator.T)
        return counted, torch.where(sums > 0, sums, self.sizes)

    @cached_property
    def _outside(self) -> Tensor:
        """Minus infinity where a row is not of a group, 0 elsewhere."""
        return torch.where(self.indicator.T == 1, 0.0, -torch.inf)

    def __getitem__(self, rows: Tensor) -> Groups:
        # Rows of a minibatch are drawn by their weight, so that each counts once.
        return Groups(self.codes[rows], self.n_groups)

    def mean(self, values: Tensor) -> Tensor:
        """Return each row's group mean of ``values``."""
        # A product of matrices would round by the number of models.
        counted, totals = self._shares
        sums = (values[:, None] * counted).sum(-1)
        return (sums / totals)[:, self.codes]

    def log_weights(self, logits: Tensor) -> Tensor:
        r"""Return log weights whose exponentials average to one within each group.

        .. math::

            \log r_i = h_i - \log \sum_{j: s_j = s_i} e^{h_j} + \log n_{s_i}

        Exact for logits :math:`h` of any size, since each group's largest is taken
        out before the exponential.
        """
        largest = (logits[:, None] + self._outside).amax(-1)[:, self.codes]
        centred = logits - largest
        return centred - self.mean(centred.exp()).log()


def binary_cross_entropy(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return loss and its derivative in ``logits`` row by row; target 0 or 1."""
    # log(1 + e^f) = log(1 + e^-|f|) + max(f, 0): the exponential cannot overflow.
    loss = logits.abs().neg_().exp_().log1p_().add_(logits.relu())
    loss.sub_(logits * target)
    slope = sigmoid(logits).sub_(target)
    return loss, slope


def sigmoid(logits: Tensor) -> Tensor:
    """Return the logistic function, rounded alike wherever a number stands.

    torch's own (and its softplus) round the last few numbers of a tensor in another
    way than the others, so that a row's value would depend on the models beside it.
    """
    return logits.neg().exp_().add_(1).reciprocal_()


def group_cross_entropy(outputs: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
    """Return the loss of guessing each row's group and its gradient in ``outputs``.

    ``outputs``, of shape (n_models, n_rows, n_outputs), are the logits of the second
    of two groups (one output), or of every group of more. The loss has shape
    (n_models, n_rows), the gradient the shape of ``outputs``.
    """
    if groups.n_groups == 2:
        loss, slope = binary_cross_entropy(outputs[..., 0], groups.indicator[:, 1])
        return loss, slope[..., None]
    loss = -(outputs.log_softmax(-1) * groups.indicator).sum(-1)
    return loss, group_slope(outputs, groups)


def group_slope(outputs: Tensor, groups: Groups) -> Tensor:
    """Return the gradient of `group_cross_entropy` alone."""
    if groups.n_groups == 2:
        return sigmoid(outputs).sub_(groups.indicator[:, 1:])
    return outputs.softmax(-1) - groups.indicator


@dataclass(frozen=True)
class Batch:
    """Rows of the training set: features, target in {0, 1} as floats, groups."""

    X: Tensor
    y: Tensor
    groups: Groups

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(self.X[rows], self.y[rows], self.groups[rows])

    def weighing(self, weight: NDArray[np.float64] | None) -> Batch:
        """Return the same rows, of which means of groups are weighted."""
        if weight is None:
            return self
        relative = torch.as_tensor(weight / weight.mean(), dtype=self.y.dtype)
        groups = replace(self.groups, weight=relative.to(self.y.device))
        return replace(self, groups=groups)


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
            # Each class weighs the same in total.
            classes = rows.y.cpu().numpy().astype(int)
            totals = np.bincount(classes, weight)
            weight = weight / np.where(totals > 0, totals, 1)[classes]
        ends = np.cumsum(weight)
        levels = torch.rand(len(rows), generator=generator, dtype=torch.float64)
        drawn = np.searchsorted(ends, levels.numpy() * ends[-1], "right")
        order = torch.as_tensor(drawn)
    elif balanced:
        order = _balanced_order(rows.y.cpu(), generator)
    else:
        order = torch.randperm(len(rows), generator=generator)
    for part in order.to(rows.X.device).split(batch_size):
        yield rows[part]


def _balanced_order(y: Tensor, generator: torch.Generator) -> Tensor:
    """Return an order in which the classes take turns, equally many rows of each.

    A class smaller than the others is shuffled anew for each round through its rows.
    """
    classes = y.unique()
    n_per_class = -(-len(y) // len(classes))  # rounded up
    columns = []
    for label in classes:
        members = torch.nonzero(y == label)[:, 0]
        rounds = -(-n_per_class // len(members))
        shuffled = [
            members[torch.randperm(len(members), generator=generator)]
            for _ in range(rounds)
        ]
        columns.append(torch.cat(shuffled)[:n_per_class])
    return torch.stack(columns, dim=1).flatten()
