"""Many networks of one shape, run and trained as one."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from fairdash.methods._network import Network


class StackedNetwork:
    """``n_models`` fully connected ReLU networks with linear outputs.

    All parameters live in one flat vector, of which the layers' weights, of shape
    (n_models, n_inputs, n_outputs), and biases are views; so is the gradient. A
    forward or backward pass is one batched matrix product a layer, written into
    buffers that are kept from batch to batch, and an optimiser step (Adam) is one
    kernel for all models. Since Adam works entry by entry, models do not touch each
    other: each moves as if it were trained alone.

    The backward pass is written out because the passes here are so small that
    autograd's bookkeeping would cost as much as the arithmetic; tests compare it with
    autograd.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, e.g. ``(n_features, 64, 32, 1)``.
    n_models : int
        Networks in the stack. All start from the same weights.
    seed : int
        Seed of these weights, uniform in +-1/sqrt(n_inputs) of the layer.
    learning_rate : float
        Adam's step size.
    device : torch.device
        Where the parameters live.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        n_models: int,
        *,
        seed: int,
        learning_rate: float,
        device: torch.device,
    ) -> None:
        self.sizes = tuple(sizes)
        self.n_models = n_models
        shapes = [
            shape
            for n_in, n_out in pairwise(self.sizes)
            for shape in ((n_in, n_out), (1, n_out))
        ]
        lengths = [n_models * rows * columns for rows, columns in shapes]
        self.parameters = torch.empty(sum(lengths), device=device)
        self.gradient = torch.zeros_like(self.parameters)
        self.weights, self.biases = _views(self.parameters, lengths, shapes, n_models)
        self._weight_gradients, self._bias_gradients = _views(
            self.gradient, lengths, shapes, n_models
        )
        self._initialise(seed)
        leaf = torch.nn.Parameter(self.parameters)  # shares the memory of the views
        leaf.grad = self.gradient
        self._optimiser = torch.optim.Adam([leaf], lr=learning_rate, fused=True)
        self._buffers: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self._activations: list[Tensor] = []

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs, shape (n_models, n_rows, n_outputs).

        ``inputs`` has shape (n_rows, n_inputs), shared by all models, or (n_models,
        n_rows, n_inputs). The result is a buffer: the next call with as many rows
        overwrites it.
        """
        hidden = inputs.expand(self.n_models, *inputs.shape[-2:])
        outputs, _ = self._buffers_for(hidden.shape[1])
        self._activations = [hidden]
        last = len(self.weights) - 1
        for layer, out in enumerate(outputs):
            _affine(hidden, self.weights[layer], self.biases[layer], out=out)
            hidden = out if layer == last else out.relu_()
            self._activations.append(hidden)
        return hidden

    def backward(self, gradient: Tensor) -> None:
        """Set the parameters' gradient, given that of a loss in the last outputs."""
        for layer, delta in self._deltas(gradient):
            inputs = self._activations[layer]
            _weight_gradient(inputs, delta, out=self._weight_gradients[layer])
            torch.sum(delta, 1, keepdim=True, out=self._bias_gradients[layer])

    def input_gradient(self, gradient: Tensor) -> Tensor:
        """Return a loss's gradient in the last inputs; parameters are left alone."""
        for layer, delta in self._deltas(gradient):
            if layer == 0:
                return torch.bmm(delta, self.weights[0].mT)
        raise AssertionError("a network has at least one layer")

    def step(self) -> None:
        """Move all parameters one Adam step along the gradient of ``backward``."""
        self._optimiser.step()

    def predict(self, inputs: Tensor, *, rows_at_once: int = 8_192) -> Tensor:
        """Return the outputs of many rows without keeping anything for a backward."""
        parts = []
        for part in inputs.split(rows_at_once, dim=-2):
            hidden = part.expand(self.n_models, *part.shape[-2:])
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                hidden = torch.baddbmm(bias, hidden, weight).relu_()
            parts.append(torch.baddbmm(self.biases[-1], hidden, self.weights[-1]))
        return torch.cat(parts, dim=1)

    def networks(self) -> list[Network]:
        """Return every model as plain arrays, copied."""
        weights = [weight.cpu().numpy() for weight in self.weights]
        biases = [bias.cpu().numpy() for bias in self.biases]
        return [
            Network([w[i].copy() for w in weights], [b[i, 0].copy() for b in biases])
            for i in range(self.n_models)
        ]

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

    def _deltas(self, gradient: Tensor):  # type: ignore[no-untyped-def]
        """Yield (layer, gradient in its pre-activation) from the last to the first."""
        delta = gradient
        _, scratch = self._buffers_for(gradient.shape[1])
        for layer in reversed(range(len(self.weights))):
            yield layer, delta
            if layer:
                _input_gradient(delta, self.weights[layer], out=scratch[layer - 1])
                delta = torch.ops.aten.threshold_backward(
                    scratch[layer - 1], self._activations[layer], 0
                )

    def _buffers_for(self, n_rows: int) -> tuple[list[Tensor], list[Tensor]]:
        """Return the output and gradient buffers for batches of ``n_rows``."""
        if n_rows not in self._buffers:
            shapes = [(self.n_models, n_rows, width) for width in self.sizes[1:]]
            make = self.parameters.new_empty
            self._buffers[n_rows] = (
                [make(shape) for shape in shapes],
                [make(shape) for shape in shapes[:-1]],
            )
        return self._buffers[n_rows]


# Products with a matrix of one row or one column, as at either end of the adversary,
# take a quarter of the time or less when not written as the general product.


def _affine(inputs: Tensor, weight: Tensor, bias: Tensor, *, out: Tensor) -> None:
    if weight.shape[1] == 1:
        torch.addcmul(bias, inputs, weight, out=out)
    elif weight.shape[2] == 1:
        torch.baddbmm(bias, weight.mT, inputs.mT, out=out.mT)
    else:
        torch.baddbmm(bias, inputs, weight, out=out)


def _weight_gradient(inputs: Tensor, delta: Tensor, *, out: Tensor) -> None:
    if delta.shape[2] == 1:
        torch.bmm(delta.mT, inputs, out=out.mT)
    else:
        torch.bmm(inputs.mT, delta, out=out)


def _input_gradient(delta: Tensor, weight: Tensor, *, out: Tensor) -> None:
    if delta.shape[2] == 1:
        torch.mul(delta, weight.mT, out=out)
    else:
        torch.bmm(delta, weight.mT, out=out)


def _views(
    flat: Tensor, lengths: list[int], shapes: list[tuple[int, int]], n_models: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights and the biases that lie one after the other in ``flat``."""
    views = [
        part.view(n_models, *shape)
        for part, shape in zip(flat.split(lengths), shapes, strict=True)
    ]
    return views[::2], views[1::2]
