"""A network conditioned on settings, trained at several of them at once."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from fairdash.methods._layers import affine, gradients, input_gradient, views
from fairdash.methods._network import Network
from fairdash.methods._plane import Float64, PlaneNetwork, SettingRange
from fairdash.methods._sparse_rows import SparseRows, find_sparse

MODULATOR_WIDTH = 32
FEWEST_AWAKE = 0.05  # of rows, below which a network is a constant; usual is 0.6 to 1
FEW_INPUTS = 64  # up to which the first layer is as quick apart for every setting


class ConditionedNetwork:
    """A `PlaneNetwork` in training: like a stack whose models are settings.

    It runs and is moved as `StackedNetwork` is, with one set of parameters for all
    models. Scales and shifts are zero at the start, so all settings begin as the same
    network. Inputs that the settings share go through the first layer's product once
    and are scaled and shifted afterwards; the other layers fold them into weights and
    biases first, which costs next to nothing.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, with at least one hidden layer.
    n_models : int
        Settings at once.
    range : SettingRange
        Where settings come from.
    points : sequence of settings
        Those that ``predict`` and ``networks`` are for.
    seed : int
        Seed of the weights, uniform in +-1/sqrt(n_inputs) of the layer.
    device : torch.device
        Where the parameters live.
    like : Tensor of shape (n_rows, n_inputs), optional
        Rows such as will come, whose columns may turn out to be sparse.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        n_models: int,
        *,
        range: SettingRange,
        points: Sequence[Sequence[float]],
        seed: int,
        device: torch.device,
        like: Tensor | None = None,
    ) -> None:
        self.sizes = tuple(sizes)
        self.n_models = n_models
        self._columns = None if like is None else find_sparse(like)
        self.range = range
        self.points = list(points)
        n_units = sum(self.sizes[1:])
        layers = [
            *pairwise(self.sizes),
            (range.n_features, MODULATOR_WIDTH),
            (MODULATOR_WIDTH, 2 * n_units),
        ]
        shapes = [
            shape for n_in, n_out in layers for shape in ((n_in, n_out), (1, n_out))
        ]
        lengths = [rows * columns for rows, columns in shapes]
        self.parameters = torch.empty(sum(lengths), device=device)
        self.gradient = torch.zeros_like(self.parameters)
        self.weights, self.biases = views(self.parameters, lengths, shapes, 1)
        self._weight_gradients, self._bias_gradients = views(
            self.gradient, lengths, shapes, 1
        )
        self._initialise(seed)
        leaf = torch.nn.Parameter(self.parameters)  # shares the memory of the views
        leaf.grad = self.gradient
        self._optimiser = torch.optim.Adam([leaf], fused=True)
        self.learning_rate = 0.0  # of the next step; the trainer sets it
        self._buffers: dict[int, tuple[list[Tensor], list[Tensor]]] = {}
        self.condition(np.zeros((n_models, range.n_features)))

    def condition(self, features: Float64) -> None:
        """Let the models be those at settings with these ``features``, from here on."""
        self._features = torch.as_tensor(
            features, dtype=self.parameters.dtype, device=self.parameters.device
        )

    def prepare(self, rows: Tensor) -> Tensor | SparseRows:
        """Return ``rows``, (n_rows, n_inputs), as ``forward`` multiplies them fastest.

        Worth a call of its own where the same rows go through more than once.
        """
        if self._columns is not None:
            return SparseRows(rows, self._columns, 1)
        apart = self.n_models if rows.shape[1] <= FEW_INPUTS else 1
        return rows.expand(apart, *rows.shape)

    def forward(self, inputs: Tensor | SparseRows) -> Tensor:
        """Return the outputs, shape (n_models, n_rows, n_outputs).

        ``inputs`` has shape (n_rows, n_inputs), shared by all settings, or (n_models,
        n_rows, n_inputs), or comes from ``prepare``. The result is a buffer: the next
        call with as many rows overwrites it.
        """
        if isinstance(inputs, Tensor) and inputs.ndim == 2:
            inputs = self.prepare(inputs)
        self._inputs = inputs
        self._is_shared = isinstance(inputs, SparseRows) or len(inputs) == 1
        self._fold(from_layer=int(self._is_shared))
        outputs, _ = self._buffers_for(inputs.shape[-2])
        self._activations = outputs
        if self._is_shared:
            self._shared = outputs[0].new_empty(1, *outputs[0].shape[1:])
            affine(inputs, self.weights[0], self.biases[0], out=self._shared)
            torch.addcmul(
                self._shifts[0], self._shared, self._scales[0], out=outputs[0]
            )
        else:
            affine(inputs, *self._folded[0], out=outputs[0])
        for layer, (below, out) in enumerate(pairwise(outputs), start=1):
            affine(below.relu_(), *self._folded[layer], out=out)
        return outputs[-1]

    def backward(self, gradient: Tensor) -> None:
        """Set the parameters' gradient, given that of a loss in the last outputs."""
        scale_gradients: list[Tensor] = []
        shift_gradients: list[Tensor] = []
        for layer, delta in self._deltas(gradient):
            scale = self._scales[layer]
            weight, bias = self.weights[layer], self.biases[layer]
            if layer == 0 and self._is_shared:
                shift_gradient = delta.sum(1, keepdim=True)
                scale_gradient = (delta * self._shared).sum(1, keepdim=True)
                gradients(
                    self._inputs,
                    (delta * scale).sum(0, keepdim=True),
                    weight=self._weight_gradients[0],
                    bias=self._bias_gradients[0],
                )
            else:
                inputs = self._activations[layer - 1] if layer else self._inputs
                folded, shift_gradient = map(torch.empty_like, self._folded[layer])
                gradients(inputs, delta, weight=folded, bias=shift_gradient)
                scale_gradient = (folded * weight).sum(1, keepdim=True)
                scale_gradient += shift_gradient * bias
                torch.sum(
                    folded * scale, 0, keepdim=True, out=self._weight_gradients[layer]
                )
                torch.sum(
                    shift_gradient * scale,
                    0,
                    keepdim=True,
                    out=self._bias_gradients[layer],
                )
            scale_gradients.insert(0, scale_gradient[:, 0])
            shift_gradients.insert(0, shift_gradient[:, 0])
        self._modulator_backward(torch.cat([*scale_gradients, *shift_gradients], 1))

    def input_gradient(self, gradient: Tensor) -> Tensor:
        """Return a loss's gradient in the last inputs, which settings do not share."""
        for layer, delta in self._deltas(gradient):
            if layer == 0:
                return torch.bmm(delta, self._folded[0][0].mT)
        raise AssertionError("a network has at least one layer")

    def step(self) -> None:
        """Move all parameters one Adam step along the gradient of ``backward``."""
        self._optimiser.param_groups[0]["lr"] = self.learning_rate
        self._optimiser.step()

    def is_dead(self) -> bool:
        """Tell whether hardly a row of the last inputs moves the outputs.

        That is when no unit of the last hidden layer is active for it, at any setting.
        No gradient comes through such a layer, so training cannot wake it.
        """
        awake = (self._activations[-2] > 0).any(-1)
        return awake.float().mean().item() < FEWEST_AWAKE

    def redraw(self, seed: int) -> None:
        """Begin anew: other weights, and no memory of past gradients."""
        self._initialise(seed)
        self._optimiser.state.clear()

    def predict(self, inputs: Tensor) -> Tensor:
        """Return the outputs at ``points``; shape (n_points, n_rows, 1)."""
        outputs = self.plane().logits(inputs.cpu().numpy(), self.points)
        return torch.as_tensor(outputs).to(inputs)[..., None]

    def networks(self) -> list[Network]:
        """Return the network of each of ``points`` as plain arrays."""
        plane = self.plane()
        return [plane.fold(point) for point in self.points]

    def plane(self) -> PlaneNetwork:
        """Return the network for all settings as plain arrays, copied."""
        weights = [weight[0].cpu().numpy().copy() for weight in self.weights]
        biases = [bias[0, 0].cpu().numpy().copy() for bias in self.biases]
        n = len(self.sizes) - 1
        pairs = zip(weights[n:], biases[n:], strict=True)
        modulators = [array for pair in pairs for array in pair]
        return PlaneNetwork(weights[:n], biases[:n], modulators, self.range)

    def _initialise(self, seed: int) -> None:
        """Draw the weights on the CPU, the same on every device."""
        generator = torch.Generator().manual_seed(seed)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            bound = weight.shape[1] ** -0.5
            for tensor in (weight, bias):
                draw = torch.empty(tensor.shape).uniform_(
                    -bound, bound, generator=generator
                )
                tensor.copy_(draw)
        self.weights[-1].zero_()
        self.biases[-1].zero_()

    def _fold(self, *, from_layer: int) -> None:
        """Work out scales, shifts and folded parameters at the present settings."""
        hidden = torch.addmm(self.biases[-2][0], self._features, self.weights[-2][0])
        self._hidden = hidden.relu_()
        out = torch.addmm(self.biases[-1][0], self._hidden, self.weights[-1][0])
        scale, shift = out[:, None].chunk(2, dim=-1)
        self._scales = (1 + scale).split(self.sizes[1:], -1)
        self._shifts = shift.split(self.sizes[1:], -1)
        self._folded = {}
        for layer, scale in enumerate(self._scales):
            if layer < from_layer:
                continue
            self._folded[layer] = (
                self.weights[layer] * scale,
                torch.addcmul(self._shifts[layer], self.biases[layer], scale),
            )

    def _modulator_backward(self, gradient: Tensor) -> None:
        torch.mm(self._hidden.mT, gradient, out=self._weight_gradients[-1][0])
        torch.sum(gradient, 0, keepdim=True, out=self._bias_gradients[-1][0])
        delta = torch.mm(gradient, self.weights[-1][0].mT) * (self._hidden > 0)
        torch.mm(self._features.mT, delta, out=self._weight_gradients[-2][0])
        torch.sum(delta, 0, keepdim=True, out=self._bias_gradients[-2][0])

    def _deltas(self, gradient: Tensor):  # type: ignore[no-untyped-def]
        """Yield (layer, gradient in its outputs before ReLU), last to first."""
        delta = gradient
        _, scratch = self._buffers_for(gradient.shape[1])
        for layer in reversed(range(len(scratch) + 1)):
            yield layer, delta
            if layer:
                input_gradient(delta, self._folded[layer][0], out=scratch[layer - 1])
                delta = torch.ops.aten.threshold_backward(
                    scratch[layer - 1], self._activations[layer - 1], 0
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
