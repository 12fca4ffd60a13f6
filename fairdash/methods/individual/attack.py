"""The inner maximisation of SenSeI and SenSR, for a stack of networks at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from fairdash.methods.lazy import torch
from fairdash.methods.network import LANES, Adam, StackedNetwork, product
from fairdash.metrics import FairMetric

if TYPE_CHECKING:
    from torch import Tensor


class Objective(Protocol):
    """Function that the search raises, of outputs of shape (n_models, n_rows, K)."""

    def value(self, outputs: Tensor) -> Tensor:
        """Return the value of each row, (n_models, n_rows)."""
        ...

    def slope(self, outputs: Tensor) -> Tensor:
        """Return its gradient in the outputs."""
        ...


class FreeMoves(NamedTuple):
    """Moves along the free directions, and what they reach, row by row."""

    moves: Tensor
    entry: Tensor
    value: Tensor


class Attack:
    r"""Find the worst counterpart of every row under a fair metric.

    Ascends :math:`v(h(x')) - \lambda d_X(x, x')^2` in two phases of Adam. The first
    moves along the free directions A, where the distance is 0: with :math:`X W_1` and
    :math:`A^T W_1` at hand a step costs O(rows x hidden x k) instead of all columns.
    The second moves in all directions, against the penalty. A row that a phase leaves
    lower than it was is put back, so no counterpart is below the row itself.

    Within, rows are columns, (n_models, width, n_rows): products with the k directions
    and factors of a row take half the time or less this way round.

    Parameters
    ----------
    n_subspace_steps, n_full_steps : int
        Steps of the phases.
    subspace_learning_rate, full_learning_rate : float
        Adam's step sizes; steps times step size is as far as a coordinate can go.
    seed : int
        Of the first moves, of about one step: at x itself the distance of outputs has
        no slope. All models share them.
    """

    def __init__(
        self,
        network: StackedNetwork,
        metric: FairMetric,
        *,
        n_subspace_steps: int,
        subspace_learning_rate: float,
        n_full_steps: int,
        full_learning_rate: float,
        seed: int,
    ) -> None:
        device = network.parameters.device
        self.network = network
        self.n_subspace_steps = n_subspace_steps
        self.n_full_steps = n_full_steps
        self.subspace_learning_rate = subspace_learning_rate
        self.full_learning_rate = full_learning_rate
        basis = np.ascontiguousarray(metric.basis, np.float32)
        self.basis = torch.as_tensor(basis, device=device)
        self._across = self._for_all_models(self.basis.T)
        self._minus = self._for_all_models(-self.basis)
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(
        self, X: Tensor, objective_at: Callable[[Tensor], Objective], multiplier: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return counterparts (n_models, n_rows, d) and squared fair distances.

        ``objective_at`` makes the objective, given the outputs at ``X``, (n_rows, d);
        ``multiplier`` is (n_models, 1).
        """
        rows = X.T.expand(self.network.n_models, *X.T.shape)
        first = self.network.weights[0].mT
        bias = self.network.biases[0].mT
        above = _Above(self.network, len(X))
        at_free = product(first, rows, plus=bias)
        at_x = above.outputs(at_free).clone()
        objective = objective_at(at_x)
        value = objective.value(at_x)
        free = torch.zeros_like(rows)
        moves = free
        if self.n_subspace_steps and self.basis.shape[1]:
            free, at_free, value = self._along_free(at_free, above, objective, value)
        # From here on x' has a price: its squared distance times the multiplier.
        distance = torch.zeros_like(value)
        if self.n_full_steps:
            moves, distance = self._everywhere(
                at_free, above, objective, value, multiplier
            )
        return (rows + free + moves).mT, distance

    def _for_all_models(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self.network.n_models, *matrix.shape)

    def _along_free(
        self, at_rows: Tensor, above: _Above, objective: Objective, value: Tensor
    ) -> FreeMoves:
        """Ascend in the coefficients of A, at no distance from the rows."""
        projected = product(self._across, self.network.weights[0])  # A'W_1
        across = projected.mT.contiguous()
        ascent = self._start(at_rows, projected.shape[1], self.subspace_learning_rate)
        coefficients = ascent.place
        for _ in range(self.n_subspace_steps):
            product(across, coefficients, plus=at_rows, out=above.entry)
            above.gradient(objective, projected, out=ascent.gradient)
            ascent.step()
        product(across, coefficients, plus=at_rows, out=above.entry)
        reached = objective.value(above.outputs(above.entry))
        better = reached > value
        coefficients = coefficients * better[:, None]
        return FreeMoves(
            moves=product(self._for_all_models(self.basis), coefficients),
            entry=product(across, coefficients, plus=at_rows),
            value=torch.where(better, reached, value),
        )

    def _everywhere(
        self,
        at_free: Tensor,
        above: _Above,
        objective: Objective,
        value: Tensor,
        multiplier: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Ascend in all columns against the penalty; return moves and distances."""
        first = self.network.weights[0]
        ascent = self._start(at_free, first.shape[1], self.full_learning_rate)
        moves = ascent.place
        penalty_rate = 2 * multiplier[..., None]
        for _ in range(self.n_full_steps):
            product(first.mT, moves, plus=at_free, out=above.entry)
            above.gradient(objective, first, out=ascent.gradient)
            # The gradient of lambda d_X is 2 lambda (I - AA') (x' - x).
            ascent.gradient.addcmul_(self._weighed(moves), penalty_rate, value=-1)
            ascent.step()
        product(first.mT, moves, plus=at_free, out=above.entry)
        reached = objective.value(above.outputs(above.entry))
        distance = (self._weighed(moves) * moves).sum(1)
        better = reached - multiplier * distance > value
        return moves * better[:, None], torch.where(better, distance, 0.0)

    def _start(self, like: Tensor, width: int, learning_rate: float) -> _Ascent:
        """Return an ascent of ``width`` numbers a row, from random moves."""
        n_models, _, n_rows = like.shape
        noise = torch.randn((n_rows, width), generator=self._generator)
        first_moves = (noise * learning_rate).to(like.device).T
        return _Ascent(first_moves.expand(n_models, width, n_rows), learning_rate)

    def _weighed(self, move: Tensor) -> Tensor:
        """Return the product with I - AA', to which free moves are nothing."""
        return product(self._minus, product(self._across, move), plus=move)


class _Above:
    """The network above its first layer, in buffers for a given number of rows.

    ``entry`` holds the values before the first ReLU, which the search writes itself:
    a step along few directions costs less than the whole first layer.
    """

    def __init__(self, network: StackedNetwork, n_rows: int) -> None:
        self._weights = network.weights[1:]
        self._biases = network.biases[1:]
        new = network.parameters.new_empty
        # The outputs have no buffer: a product of few rows comes in its own memory.
        widths = network.sizes[1 : max(2, len(network.sizes) - 1)]
        self._values = [new(network.n_models, width, n_rows) for width in widths]
        self._slopes = [torch.empty_like(value) for value in self._values]
        self.entry = self._values[0]

    def outputs(self, entry: Tensor) -> Tensor:
        """Return the outputs (n_models, n_rows, K), which the next call may change."""
        if entry is not self.entry:
            self.entry.copy_(entry)
        hidden = self.entry
        buffers = (*self._values[1:], None)
        # Without a hidden layer the entry is the output, and there is nothing to run.
        layers = zip(self._weights, self._biases, buffers, strict=False)
        for weight, bias, out in layers:
            hidden = product(weight.mT, hidden.relu_(), plus=bias.mT, out=out)
        return hidden.mT

    def gradient(self, objective: Objective, weight: Tensor, *, out: Tensor) -> None:
        """Write ``weight`` times the gradient of the objective in the entry."""
        threshold_backward = torch.ops.aten.threshold_backward.grad_input
        slope = objective.slope(self.outputs(self.entry)).mT
        delta = slope
        n_layers = len(self._weights)
        # The slope in a single output is a factor of each row: it is cheapest to
        # multiply by it after all products.
        factored = slope.shape[1] == 1 and n_layers > 0
        for layer in reversed(range(n_layers)):
            hidden = self._values[layer]
            if factored and layer == n_layers - 1:
                below = self._weights[layer].expand_as(hidden)
            else:
                below = product(self._weights[layer], delta, out=self._slopes[layer])
            # The hidden values are not needed again, and the cache holds little: their
            # memory takes the gradient.
            delta = threshold_backward(below, hidden, 0, grad_input=hidden)
        product(weight, delta, out=out)
        if factored:
            out.mul_(slope)


class _Ascent:
    """Numbers that climb by Adam; ``place`` and ``gradient`` have the start's shape."""

    def __init__(self, start: Tensor, learning_rate: float) -> None:
        count = start.numel()
        padding = -count % LANES  # see `fairdash.methods.network.Adam`
        place, gradient = start.new_zeros(2, count + padding)
        self._adam = Adam(place, gradient, learning_rate, uphill=True)
        self.place: Tensor = place[:count].view(start.shape)
        self.gradient: Tensor = gradient[:count].view(start.shape)
        self.place.copy_(start)

    def step(self) -> None:
        """Move ``place`` along ``gradient``."""
        self._adam.step()
