"""Many networks of one shape, run and trained as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from fairdash.methods.lazy import torch
from fairdash.methods.network.adam import LANES, Adam
from fairdash.methods.network.products import product
from fairdash.methods.network.sparse import SparseRows, find_sparse
from fairdash.methods.scorers import Network

if TYPE_CHECKING:
    from torch import Tensor

ROWS_AT_ONCE = 512  # of a prediction: as many whatever the size of a stack


class StackedNetwork:
    """``n_models`` fully connected ReLU networks with linear outputs.

    All parameters live in one flat vector, of which the layers' weights, of shape
    (n_models, n_inputs, n_outputs), and biases are views; so is the gradient. A
    forward or backward pass is one batched matrix product a layer, written into
    buffers that are kept from batch to batch, and an optimiser step (Adam) is one
    kernel for all models. Since Adam works entry by entry, models do not touch each
    other: each moves as if it were trained alone.

    The backward pass is written out: autograd's bookkeeping would cost as much as the
    arithmetic. Tests compare it with autograd.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, e.g. ``(n_features, 64, 32, 1)``.
    n_models : int
        Networks in the stack. All start from the same weights.
    seed : int
        Seed of these weights, uniform in +-1/sqrt(n_inputs) of the layer.
    like : Tensor of shape (n_rows, n_inputs), optional
        Rows such as will come, whose columns may turn out to be sparse.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        n_models: int,
        *,
        seed: int,
        learning_rate: float,
        device: torch.device,
        like: Tensor | None = None,
    ) -> None:
        self.sizes = tuple(sizes)
        self.n_models = n_models
        self._columns = None if like is None else find_sparse(like)
        shapes = []
        for n_in, n_out in pairwise(self.sizes):
            weight_shape = (n_in, n_out)
            bias_shape = (1, n_out)
            shapes += [weight_shape, bias_shape]
        lengths = [n_models * n_rows * n_columns for n_rows, n_columns in shapes]
        # Up to a multiple of `LANES`, see `Adam`.
        padding = -sum(lengths) % LANES
        self.parameters = torch.zeros(sum(lengths) + padding, device=device)
        self.gradient = torch.zeros_like(self.parameters)
        self.weights, self.biases = views(self.parameters, lengths, shapes, n_models)
        self._weight_gradients, self._bias_gradients = views(
            self.gradient, lengths, shapes, n_models
        )
        self._initialise(seed)
        self._adam = Adam(self.parameters, self.gradient, learning_rate)
        self._buffers: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._inputs: Tensor | SparseRows
        self._activations: list[Tensor] = []

    def prepare(self, rows: Tensor) -> Tensor | SparseRows:
        """Return ``rows``, (n_rows, n_inputs), as ``forward`` multiplies them fastest.

        Worth a call of its own where the same rows go through more than once.
        """
        if self._columns is None:
            return rows.expand(self.n_models, *rows.shape)
        return SparseRows(rows, self._columns, self.n_models)

    def forward(self, inputs: Tensor | SparseRows) -> Tensor:
        """Return the outputs, shape (n_models, n_rows, n_outputs).

        ``inputs`` has shape (n_rows, n_inputs), shared by all models, or (n_models,
        n_rows, n_inputs), or comes from ``prepare``. The result is a buffer: the next
        call with as many rows overwrites it.
        """
        if isinstance(inputs, torch.Tensor) and inputs.ndim == 2:
            inputs = self.prepare(inputs)
        self._inputs = inputs
        self._activations, _ = self._buffers_for(inputs.shape[-2])
        return self._run(inputs, self._activations)

    @property
    def hidden(self) -> Tensor:
        """Last hidden layer of the rows that ``forward`` took, a buffer of its own."""
        return self._activations[-2]

    def backward(self, gradient: Tensor, *, at_hidden: Tensor | None = None) -> None:
        """Set the parameters' gradient, given that of a loss in the last outputs.

        ``at_hidden`` is the gradient of what else depends on ``hidden``.
        """
        for layer, delta in self._deltas(gradient, at_hidden):
            inputs = self._activations[layer - 1] if layer else self._inputs
            gradients(
                inputs,
                delta,
                weight=self._weight_gradients[layer],
                bias=self._bias_gradients[layer],
            )

    def input_gradient(self, gradient: Tensor) -> Tensor:
        """Return a loss's gradient in the last inputs; parameters are left alone."""
        for layer, delta in self._deltas(gradient):
            if layer == 0:
                return product(delta, self.weights[0].mT)
        raise AssertionError("a network has at least one layer")

    def tangents(self, along: Tensor) -> list[Tensor]:
        """Return the derivatives of every layer's last inputs along a direction.

        ``along``, (n_models, n_rows, n_inputs), is a direction a row; the last entry is
        the derivative of the outputs in it.
        """
        changes = [along]
        for layer, weight in enumerate(self.weights):
            # As in `affine`, a product with one column is taken transposed.
            if weight.shape[2] == 1:
                change = product(weight.mT, changes[-1].mT).mT
            else:
                change = product(changes[-1], weight)
            if layer < len(self.weights) - 1:
                slope_of_relu = self._activations[layer] > 0
                change *= slope_of_relu
            changes.append(change)
        return changes

    def add_backward_of_slopes(self, gradient: Tensor, tangents: list[Tensor]) -> None:
        """Add to the parameters' gradient that of sum(along * input_gradient).

        That is with ``gradient`` held fast; ``tangents`` are those of ``along``.
        """
        for layer, delta in self._deltas(gradient):
            weight = self._weight_gradients[layer]
            change = tangents[layer]
            if delta.shape[2] == 1:
                weight.mT.add_(product(delta.mT, change))
            else:
                weight += product(change.mT, delta)

    def step(self) -> None:
        """Move all parameters one Adam step along the gradient of ``backward``."""
        self._adam.step()

    def predict(self, inputs: Tensor) -> Tensor:
        """Return the outputs of many rows without keeping anything for a backward.

        Rows go through in parts that stay in the cache: activations of all of them at
        once would be fresh memory at every call, which costs more than the products.
        """
        parts = []
        outputs = self._new_outputs(0)
        for part in inputs.split(ROWS_AT_ONCE, dim=-2):
            if outputs[0].shape[1] != part.shape[-2]:
                outputs = self._new_outputs(part.shape[-2])
            rows = self.prepare(part) if part.ndim == 2 else part
            parts.append(self._run(rows, outputs).clone())
        return torch.cat(parts, dim=1)

    @classmethod
    def of(cls, network: Network, *, learning_rate: float = 0.0) -> StackedNetwork:
        """Return a stack of one trained network, on the CPU."""
        sizes = [weight.shape[0] for weight in network.weights]
        sizes.append(network.weights[-1].shape[1])
        device = torch.device("cpu")
        stack = cls(sizes, 1, seed=0, learning_rate=learning_rate, device=device)
        layers = zip(network.weights, network.biases, strict=True)
        for layer, (weight, bias) in enumerate(layers):
            stack.weights[layer].copy_(torch.as_tensor(weight))
            stack.biases[layer].copy_(torch.as_tensor(bias))
        return stack

    def networks(self) -> list[Network]:
        """Return every model as plain arrays, copied."""
        weights = [weight.cpu().numpy() for weight in self.weights]
        biases = [bias.cpu().numpy() for bias in self.biases]
        networks = []
        for model in range(self.n_models):
            own_weights = [weight[model].copy() for weight in weights]
            own_biases = [bias[model, 0].copy() for bias in biases]
            networks.append(Network(own_weights, own_biases))
        return networks

    def _initialise(self, seed: int) -> None:
        """Draw one network on the CPU, the same on every device, for all models."""
        generator = torch.Generator().manual_seed(seed)
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = weight.shape[1] ** -0.5
            for tensor in (weight, bias):
                draw = torch.empty(tensor.shape[1:]).uniform_(
                    -bound, bound, generator=generator
                )
                tensor.copy_(draw.expand_as(tensor))

    def _deltas(
        self, gradient: Tensor, at_hidden: Tensor | None = None
    ) -> Iterator[tuple[int, Tensor]]:
        """Yield (layer, gradient in its pre-activation) from the last to the first."""
        delta = gradient
        _, scratch = self._buffers_for(gradient.shape[1])
        last = len(self.weights) - 1
        for layer in reversed(range(len(self.weights))):
            yield layer, delta
            if layer == 0:
                return
            below = scratch[layer - 1]
            product(delta, self.weights[layer].mT, out=below)
            if at_hidden is not None and layer == last:
                below += at_hidden
            # The gradient of ReLU in one kernel and in place: 0 where the activation
            # is.
            delta = torch.ops.aten.threshold_backward.grad_input(
                below, self._activations[layer - 1], 0, grad_input=below
            )

    def _run(self, inputs: Tensor | SparseRows, outputs: list[Tensor]) -> Tensor:
        """Write the outputs of every layer; return those of the last.

        A hidden layer's buffer is replaced by its ReLU when the next layer reads it.
        """
        affine(inputs, self.weights[0], self.biases[0], out=outputs[0])
        for layer, (below, out) in enumerate(pairwise(outputs), start=1):
            affine(below.relu_(), self.weights[layer], self.biases[layer], out=out)
        return outputs[-1]

    def _buffers_for(self, n_rows: int) -> tuple[list[Tensor], list[Tensor]]:
        """Return buffers for the layers' outputs and for gradients of hidden layers."""
        if n_rows not in self._buffers:
            outputs = self._new_outputs(n_rows)
            *hidden_gradients, _ = self._new_outputs(n_rows)
            self._buffers[n_rows] = (outputs, hidden_gradients)
        return self._buffers[n_rows]

    def _new_outputs(self, n_rows: int) -> list[Tensor]:
        """Return a buffer for the outputs of each layer."""
        shapes = [(self.n_models, n_rows, width) for width in self.sizes[1:]]
        return [self.parameters.new_empty(shape) for shape in shapes]


def affine(
    inputs: Tensor | SparseRows, weight: Tensor, bias: Tensor, *, out: Tensor
) -> None:
    """Write inputs x weight + bias."""
    if isinstance(inputs, SparseRows):
        inputs.affine(weight, bias, out=out)
    elif weight.shape[2] == 1:
        # One output: transposed, it takes a quarter of the time.
        product(weight.mT, inputs.mT, plus=bias, out=out.mT)
    else:
        product(inputs, weight, plus=bias, out=out)


def gradients(
    inputs: Tensor | SparseRows, delta: Tensor, *, weight: Tensor, bias: Tensor
) -> None:
    """Write the gradients in weight and bias, given that in the layer's outputs."""
    if isinstance(inputs, SparseRows):
        inputs.gradients(delta, weight=weight, bias=bias)
        return
    torch.sum(delta, 1, keepdim=True, out=bias)
    if delta.shape[2] == 1:
        product(delta.mT, inputs, out=weight.mT)
    else:
        product(inputs.mT, delta, out=weight)


def views(
    flat: Tensor, lengths: list[int], shapes: list[tuple[int, int]], n_models: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights and the biases that lie one after the other in ``flat``."""
    parts = flat[: sum(lengths)].split(lengths)
    layers = [
        part.view(n_models, *shape) for part, shape in zip(parts, shapes, strict=True)
    ]
    # Each layer has its weight and then its bias.
    return layers[::2], layers[1::2]
