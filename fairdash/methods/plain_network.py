"""A trained network as plain arrays, which predicts by NumPy: pages need no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Float32 = NDArray[np.float32]
CHUNK = 65_536  # rows whose hidden activations are held at once


@dataclass(frozen=True)
class Network:
    """A fully connected ReLU network with linear outputs: one, or one for each class.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_inputs, n_outputs)
        One matrix per layer, the last with a column for each output.
    biases : sequence of ndarray of shape (n_outputs,)
        One vector per layer.
    """

    weights: Sequence[Float32]
    biases: Sequence[Float32]

    def logits(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the first output of every row of ``X``; shape (n_samples,).

        Computed in double precision: in single precision a row's output depends, in
        the last digits, on the rows beside it.
        """
        return self.outputs(X)[:, 0]

    def positive(
        self, X: NDArray[np.floating], group: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return P(1) of every row; a network is not told the group."""
        probability: NDArray[np.float64] = expit(self.logits(X))
        return probability

    def outputs(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return all outputs of every row of ``X``; shape (n_samples, n_outputs)."""
        out = np.empty((len(X), self.weights[-1].shape[1]))
        for start in range(0, len(X), CHUNK):
            part = np.asarray(X[start : start + CHUNK], dtype=np.float64)
            out[start : start + CHUNK] = self._layers(part)[-1]
        return out

    def input_gradient(
        self, X: NDArray[np.floating], slope: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Return the gradient in ``X`` of ``sum(slope * outputs(X))``.

        ``slope`` has the shape of ``outputs``; the result that of ``X``.
        """
        _, *hidden, _ = self._layers(np.asarray(X, dtype=np.float64))
        delta = np.asarray(slope, dtype=np.float64)
        for weight, above in zip(self.weights[:0:-1], hidden[::-1], strict=True):
            delta = (delta @ weight.T) * (above > 0)
        gradient: NDArray[np.float64] = delta @ self.weights[0].T
        return gradient

    def _layers(self, X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the rows, the activations of every hidden layer, and the outputs."""
        layers = [X]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layers.append(np.maximum(layers[-1] @ weight + bias, 0))
        return [*layers, layers[-1] @ self.weights[-1] + self.biases[-1]]

    def arrays(self) -> dict[str, Float32]:
        """Return the parameters by name, ready for a safetensors file."""
        named = {f"weight_{i}": weight for i, weight in enumerate(self.weights)}
        return named | {f"bias_{i}": bias for i, bias in enumerate(self.biases)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Float32]) -> Self:
        """Return the network whose ``arrays()`` these are."""
        n_layers = len(arrays) // 2
        return cls(
            [arrays[f"weight_{i}"] for i in range(n_layers)],
            [arrays[f"bias_{i}"] for i in range(n_layers)],
        )
