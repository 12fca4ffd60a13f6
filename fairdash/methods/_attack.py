"""The inner maximisation of SenSeI and SenSR, for a stack of networks at once."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from fairdash.methods._stacked import StackedNetwork
from fairdash.metrics import FairMetric

Objective = Callable[[Tensor], tuple[Tensor, Tensor]]


class Attack:
    r"""Find the worst counterpart of every row under a fair metric.

    Ascends :math:`v(h(x')) - \lambda d_X(x, x')^2` in two phases of Adam. The first
    moves along the free directions A, where the distance is 0: with :math:`X W_1` and
    :math:`A^T W_1` at hand a step costs O(rows x hidden x k) instead of all columns.
    The second moves in all directions, against the penalty. A row that a phase leaves
    lower than it was is put back, so no counterpart is below the row itself.

    Parameters
    ----------
    network : StackedNetwork
        Its present parameters are read at every call.
    metric : FairMetric
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
        self.n_subspace_steps, self.n_full_steps = n_subspace_steps, n_full_steps
        self.subspace_learning_rate = subspace_learning_rate
        self.full_learning_rate = full_learning_rate
        basis = np.ascontiguousarray(metric.basis, np.float32)
        self.basis = torch.as_tensor(basis, device=device)
        self.sigma = None  # stands for I - AA'
        if not np.allclose(metric.sigma, metric.projection, atol=1e-8):
            self.sigma = torch.as_tensor(metric.sigma.astype(np.float32), device=device)
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(
        self, X: Tensor, objective: Objective, multiplier: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return counterparts (n_models, n_rows, d) and squared fair distances.

        Parameters
        ----------
        X : Tensor of shape (n_rows, d)
        objective : callable
            Of outputs (n_models, n_rows, K): the value of each row, (n_models, n_rows),
            and its gradient in the outputs.
        multiplier : Tensor of shape (n_models, 1)
        """
        first, bias = self.network.weights[0], self.network.biases[0]
        rows = X.expand(self.network.n_models, *X.shape)
        at_rows = torch.baddbmm(bias, rows, first)
        start, _ = objective(self._tail(at_rows.clone()))
        move = torch.zeros_like(rows)
        at_move, value = at_rows, start.clone()
        if self.n_subspace_steps and self.basis.shape[1]:
            move, at_move, value = self._along_free(at_rows, objective, value)
        if self.n_full_steps:
            move = self._everywhere(move, at_move, objective, value, multiplier)
        return rows + move, (self._weighed(move) * move).sum(-1)

    def sensitivity(self) -> Tensor:
        """Return the norm of A'W_1, one per model: 0 if free moves are not seen."""
        seen: Tensor = (self.basis.T @ self.network.weights[0]).norm(dim=(1, 2))
        return seen

    def _along_free(
        self, at_rows: Tensor, objective: Objective, value: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        projected = self.basis.T @ self.network.weights[0]  # (n_models, k, hidden)
        shape = (*at_rows.shape[:2], self.basis.shape[1])
        moves, gradient, optimiser = self._leaf(shape, self.subspace_learning_rate)
        here = torch.empty_like(at_rows)
        for _ in range(self.n_subspace_steps):
            torch.baddbmm(at_rows, moves, projected, out=here)
            _, slope = objective(self._tail(here))
            torch.bmm(self._back(slope), projected.mT, out=gradient)
            optimiser.step()
        reached, _ = objective(
            self._tail(torch.baddbmm(at_rows, moves, projected, out=here))
        )
        kept = moves * (reached > value)[..., None]
        at_move = torch.baddbmm(at_rows, kept, projected)
        return kept @ self.basis.T, at_move, torch.maximum(reached, value)

    def _everywhere(
        self,
        free: Tensor,
        at_free: Tensor,
        objective: Objective,
        value: Tensor,
        multiplier: Tensor,
    ) -> Tensor:
        first = self.network.weights[0]
        moves, gradient, optimiser = self._leaf(free.shape, self.full_learning_rate)
        here, total = torch.empty_like(at_free), torch.empty_like(free)
        for _ in range(self.n_full_steps):
            torch.baddbmm(at_free, moves, first, out=here)
            _, slope = objective(self._tail(here))
            torch.bmm(self._back(slope), first.mT, out=gradient)
            torch.add(free, moves, out=total)
            gradient.addcmul_(self._weighed(total), multiplier[..., None], value=-2)
            optimiser.step()
        total = free + moves
        reached, _ = objective(
            self._tail(torch.baddbmm(at_free, moves, first, out=here))
        )
        reached = reached - multiplier * (self._weighed(total) * total).sum(-1)
        before = value - multiplier * (self._weighed(free) * free).sum(-1)
        return torch.where((reached > before)[..., None], total, free)

    def _leaf(
        self, shape: tuple[int, ...], learning_rate: float
    ) -> tuple[Tensor, Tensor, torch.optim.Adam]:
        """Return moves of about one step, the same for all models, and their Adam."""
        drawn = torch.randn(shape[1:], generator=self._generator) * learning_rate
        drawn = drawn.to(self.basis.device)
        leaf = torch.nn.Parameter(drawn.repeat(shape[0], 1, 1))
        leaf.grad = gradient = torch.zeros_like(leaf)
        adam = torch.optim.Adam([leaf], lr=learning_rate, maximize=True, fused=True)
        return leaf, gradient, adam

    def _weighed(self, move: Tensor) -> Tensor:
        """Return the product with sigma."""
        if self.sigma is not None:
            return move @ self.sigma
        return move - (move @ self.basis) @ self.basis.T

    def _tail(self, hidden: Tensor) -> Tensor:
        """Return outputs, given what enters the first ReLU; overwrites it."""
        self._activations = []
        layers = zip(self.network.weights[1:], self.network.biases[1:], strict=True)
        for weight, bias in layers:
            self._activations.append(hidden.relu_())
            hidden = torch.baddbmm(bias, hidden, weight)
        return hidden

    def _back(self, slope: Tensor) -> Tensor:
        """Return the gradient in what entered the first ReLU."""
        for weight, above in zip(
            self.network.weights[:0:-1], self._activations[::-1], strict=True
        ):
            below = slope * weight.mT if slope.shape[2] == 1 else slope @ weight.mT
            slope = torch.ops.aten.threshold_backward.grad_input(
                below, above, 0, grad_input=below
            )
        return slope
