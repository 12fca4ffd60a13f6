"""How far outputs of a network can move for each person: its ReLUs between lines.

Every bound here is proved: no counterpart within reach, found or not, exceeds it.
"""

from itertools import pairwise, product

import numpy as np
from scipy.optimize import minimize_scalar

from fairdash.metrics.individual.fair_metric import FairMetric, Float
from fairdash.metrics.individual.worst_case import FreeRange, ReluNetwork

_DOUBLINGS = range(-5, 8)  # radii, as powers of two of the one allowed on average
_CELLS = {1: 27, 2: 8}  # parts of the free range, by number of hidden layers
_FEWEST = 4  # of deeper networks
_TINY = 1e-12


def relaxed_bound(
    model: ReluNetwork, rows: Float, metric: FairMetric, radius: float, free: FreeRange
) -> float:
    r"""Return an upper bound of the fair regulariser R(h) of these rows.

    For each row, :math:`B_i(t)` bounds :math:`d_Y` within a squared distance t. As it
    does not fall, any radii :math:`0 = t_0 < t_1 < \dots` and any :math:`\lambda` give

    .. math::

        R(h) \le \lambda \epsilon + \frac{1}{n} \sum_i \max\bigl(B_i(0),
        \max_j [B_i(t_j) - \lambda t_{j-1}]\bigr),

    beyond the last radius with the Lipschitz constant of the whole network; the best
    :math:`\lambda` is taken.

    References
    ----------
    Zhang, Weng, Chen, Hsieh, Daniel, *Efficient neural network robustness certification
    with general activation functions* (NeurIPS 2018), for the relaxation; Benussi,
    Patane, Wicker, Laurenti, Kwiatkowska, *Individual fairness guarantees for neural
    networks* (IJCAI 2022), for relaxing over a fair metric's ball.
    """
    reach = _Reach(model, rows, metric, free)
    radii = np.array([0.0, *(radius * 2.0**power for power in _DOUBLINGS)])
    moved = np.stack([reach.farthest(float(np.sqrt(t))) for t in radii])
    steepest = reach.lipschitz
    unit = 1 / (4 if moved.shape[2] == 1 else moved.shape[2])
    bounds = unit * (moved**2).sum(2)
    at_free, last = np.sqrt((moved[0] ** 2).sum(1)), float(radii[-1])

    def dual(logarithm: float) -> float:
        multiplier = float(np.exp(logarithm))
        each = np.maximum(
            bounds[0], (bounds[1:] - multiplier * radii[:-1, None]).max(0)
        )
        over = multiplier - unit * steepest**2
        if over <= _TINY * multiplier:
            return np.inf
        far = np.maximum(unit * steepest * at_free / over, np.sqrt(last))
        tail = unit * (at_free + steepest * far) ** 2 - multiplier * far**2
        return multiplier * radius + float(np.maximum(each, tail).mean())

    least = np.log(max(unit * steepest**2, _TINY)) + 1e-3
    grid = np.linspace(least, least + 20, 81)
    values = [dual(one) for one in grid]
    best = int(np.argmin(values))
    near = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(dual, bounds=near, method="bounded")
    return float(min(values[best], found.fun))


class _Reach:
    """A network and the moves of its rows: free ones in parts, then a distance."""

    def __init__(
        self, model: ReluNetwork, rows: Float, metric: FairMetric, free: FreeRange
    ) -> None:
        self.weights = [np.asarray(weight, np.float64) for weight in model.weights]
        self.biases = [np.asarray(bias, np.float64) for bias in model.biases]
        self.rows, self.outputs = rows, model.outputs(rows)
        values, vectors = np.linalg.eigh(metric.sigma)
        counts = values > 1e-6 * values[-1]
        root = vectors[:, counts] / np.sqrt(values[counts])
        coordinates = rows @ metric.basis
        self.low = np.minimum(free.low - coordinates, 0.0)
        self.high = np.maximum(free.high - coordinates, 0.0)
        first = self.weights[0]
        later = np.prod([np.linalg.norm(weight, 2) for weight in self.weights[1:]])
        self.lipschitz = float(later * np.linalg.norm(root.T @ first, 2))
        # of every unit of the first layer: value, slopes along free moves and others
        self.start = rows @ first + self.biases[0]
        self.along, self.across = first.T @ metric.basis, first.T @ root
        self.steep = np.linalg.norm(self.across, axis=1)

    def farthest(self, length: float) -> Float:
        """Bound how far each output (n_rows, K) can move within a distance."""
        moved = np.zeros_like(self.outputs)
        for low, high in self._cells():
            up, down = self._ends(low, high, length)
            moved = np.maximum(
                moved, np.maximum(up - self.outputs, self.outputs - down)
            )
        return moved

    def _cells(self) -> list[tuple[Float, Float]]:
        """Cut the range of free moves, the widest directions first."""
        hidden, k = len(self.weights) - 1, self.low.shape[1]
        most = _CELLS.get(hidden, _FEWEST)
        parts = np.ones(k, dtype=int)
        if k:
            seen = np.linalg.norm(self.along, axis=0)
            width = (self.high - self.low).max(0) * seen
            while True:
                widest = int(np.argmax(width / parts))
                more = parts + (np.arange(k) == widest)
                if more.prod() > most or width[widest] == 0:
                    break
                parts = more
        shares = [list(pairwise(np.linspace(0, 1, n + 1))) for n in parts]
        span = self.high - self.low
        return [
            (
                self.low + span * np.array([first for first, _ in cell]),
                self.low + span * np.array([last for _, last in cell]),
            )
            for cell in product(*shares)
        ]

    def _ends(self, low: Float, high: Float, length: float) -> tuple[Float, Float]:
        """Bound all outputs from above and below, layer by layer."""
        up, down = np.maximum(self.along, 0.0).T, np.minimum(self.along, 0.0).T
        known = [
            (
                self.start + high @ down + low @ up - length * self.steep,
                self.start + high @ up + low @ down + length * self.steep,
            )
        ]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            lines = np.hstack([weight, -weight]).T
            constant = np.concatenate([bias, -bias])
            ends = self._upper(lines, constant, known, low, high, length)
            half = len(bias)
            known.append((-ends[:, half:], ends[:, :half]))
        lowest, highest = known[-1]
        return highest, lowest

    def _upper(
        self,
        lines: Float,
        constant: Float,
        known: list[tuple[Float, Float]],
        low: Float,
        high: Float,
        length: float,
    ) -> Float:
        """Bound linear functions (m, width) of the last known layer from above."""
        n, m = len(self.rows), len(lines)
        slopes, total = lines[None], constant[None]
        for layer in range(len(known) - 1, -1, -1):
            chord, lift, floor = _lines(*known[layer])
            above = np.maximum(slopes, 0.0)
            total = total + (above @ lift[:, :, None])[:, :, 0]
            slopes = slopes * np.where(slopes > 0, chord[:, None], floor[:, None])
            if layer:
                flat = slopes.reshape(n * m, -1)
                total = total + (flat @ self.biases[layer]).reshape(n, m)
                slopes = (flat @ self.weights[layer].T).reshape(n, m, -1)
        total = total + (slopes @ self.start[:, :, None])[:, :, 0]
        flat = slopes.reshape(n * m, -1)
        along = (flat @ self.along).reshape(n, m, -1)
        total = total + np.maximum(along * low[:, None], along * high[:, None]).sum(2)
        if length:
            sideways = np.linalg.norm(flat @ self.across, axis=1)
            total = total + length * sideways.reshape(n, m)
        return total


def _lines(down: Float, up: Float) -> tuple[Float, Float, Float]:
    """Return slope and height of a line above ReLU, and the slope of one below."""
    unsure = (down < 0) & (up > 0)
    slope = np.where(unsure, up / np.maximum(up - down, _TINY), down >= 0)
    lift = np.where(unsure, -slope * down, 0.0)
    floor = np.where(unsure, up > -down, down >= 0).astype(np.float64)
    return slope, lift, floor
