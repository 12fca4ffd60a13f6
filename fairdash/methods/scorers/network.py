"""A fully connected network as plain arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairdash._arrays import Float32Array

CHUNK = 2048  # rows whose hidden activations stay in the processor's cache


@dataclass(frozen=True)
class Network:
    """A fully connected ReLU network with a linear output.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_inputs, n_outputs)
        One matrix per layer, the last of a classifier with one column.
    biases : sequence of ndarray of shape (n_outputs,)
        One vector per layer.
    """

    weights: Sequence[Float32Array]
    biases: Sequence[Float32Array]

    def logits(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the first output of every row of ``X``; shape (n_samples,)."""
        return self.outputs(X)[:, 0]

    def outputs(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return all outputs of every row of ``X``; shape (n_samples, n_outputs).

        Computed in double precision: in single precision a row's output depends, in
        the last digits, on the rows beside it.
        """
        last_weight = self.weights[-1]
        last_bias = self.biases[-1]
        outputs = np.empty((len(X), last_weight.shape[1]))
        for rows, hidden in self._hidden_parts(X):
            outputs[rows] = hidden @ last_weight + last_bias
        return outputs

    def hidden(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the last hidden layer of every row, (n_samples, width)."""
        return np.concatenate([hidden for _, hidden in self._hidden_parts(X)])

    def _hidden_parts(
        self, X: NDArray[np.floating]
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield some rows after the others, with their last hidden layer."""
        *hidden_layers, _ = zip(self.weights, self.biases, strict=True)
        for start in range(0, len(X), CHUNK):
            rows = slice(start, start + CHUNK)
            activations = np.asarray(X[rows], dtype=np.float64)
            for weight, bias in hidden_layers:
                activations = np.maximum(activations @ weight + bias, 0)
            yield rows, activations

    def positive(
        self, X: NDArray[np.floating], group: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return P(1) of every row; a network is not told the group."""
        return expit(self.logits(X))

    def arrays(self) -> dict[str, Float32Array]:
        """Return the parameters by name, ready for a safetensors file."""
        arrays = {f"weight_{i}": weight for i, weight in enumerate(self.weights)}
        arrays |= {f"bias_{i}": bias for i, bias in enumerate(self.biases)}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Float32Array]) -> Self:
        """Return the network whose ``arrays()`` these are."""
        n_layers = len(arrays) // 2
        weights = [arrays[f"weight_{i}"] for i in range(n_layers)]
        biases = [arrays[f"bias_{i}"] for i in range(n_layers)]
        return cls(weights, biases)
