"""A trained network as plain arrays, which predicts by NumPy: pages need no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
CHUNK = 65_536  # rows whose hidden activations are held at once


@dataclass(frozen=True)
class Network:
    """A fully connected ReLU network with one linear output.

    Parameters
    ----------
    weights : sequence of ndarray of shape (n_inputs, n_outputs)
        One matrix per layer, the last with one column.
    biases : sequence of ndarray of shape (n_outputs,)
        One vector per layer.
    """

    weights: Sequence[Float32]
    biases: Sequence[Float32]

    def logits(self, X: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the output of every row of ``X``; shape (n_samples,).

        Computed in double precision: in single precision a row's output depends, in
        the last digits, on the rows beside it.
        """
        out = np.empty(len(X))
        for start in range(0, len(X), CHUNK):
            hidden = np.asarray(X[start : start + CHUNK], dtype=np.float64)
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                hidden = np.maximum(hidden @ weight + bias, 0)
            last = hidden @ self.weights[-1] + self.biases[-1]
            out[start : start + CHUNK] = last[:, 0]
        return out

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
