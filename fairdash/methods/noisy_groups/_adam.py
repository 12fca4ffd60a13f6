"""Adam for arrays whose first axis is the models, each with its own step size."""

import numpy as np

from fairdash.methods.noisy_groups._rows import Float32

DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Kingma and Ba (2015), with their defaults.

    Parameters
    ----------
    shape : tuple of int
    rate : ndarray that broadcasts to ``shape``
    """

    def __init__(self, shape: tuple[int, ...], rate: Float32) -> None:
        self.rate = rate
        self._mean = np.zeros(shape, np.float32)
        self._square = np.zeros(shape, np.float32)
        self._steps = 0

    def step(self, gradient: Float32) -> Float32:
        """Return how far to move along ``gradient``."""
        self._steps += 1
        self._mean *= DECAY
        self._mean += (1 - DECAY) * gradient
        self._square *= SQUARE_DECAY
        self._square += (1 - SQUARE_DECAY) * gradient * gradient
        mean_share = 1 - DECAY**self._steps
        square_share = 1 - SQUARE_DECAY**self._steps
        size: Float32 = np.sqrt(self._square)
        size *= np.float32(square_share**-0.5)
        size += np.float32(EPSILON)
        move: Float32 = np.divide(self._mean, size, dtype=np.float32)
        move *= np.asarray(self.rate / mean_share, dtype=np.float32)
        return move
