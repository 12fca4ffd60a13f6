"""The most differently treated counterpart of every row under a fair metric."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from fairdash._validation import as_written, check_non_negative, check_whole
from fairdash.metrics.individual.fair_metric import FairMetric, Float

_RANDOM_STARTS = 3
_SMALLEST_STEP = 1e-3
_TINY = 1e-12
_COSTLESS = 1e-12  # of all that counts: below it, a free direction costs nothing
_HALVINGS = 60


class Differentiable(Protocol):
    """A model with its slopes: `fairdash.methods.Network` is one."""

    def outputs(self, X: Float) -> Float:
        """Return the outputs (n_rows, K): one logit, or one for each class."""
        ...

    def input_gradient(self, X: Float, slope: Float) -> Float:
        """Return the gradient in X (n_rows, d) of sum(slope * outputs)."""
        ...


class ReluNetwork(Differentiable, Protocol):
    """A differentiable model whose layers are known."""

    @property
    def weights(self) -> Sequence[NDArray[np.floating]]:
        """One matrix (n_inputs, n_outputs) a layer."""
        ...

    @property
    def biases(self) -> Sequence[NDArray[np.floating]]:
        """One vector (n_outputs,) a layer."""
        ...


def output_distance(outputs: ArrayLike, others: ArrayLike) -> Float:
    r"""Return :math:`d_Y = \frac{1}{K} \lVert h(x) - h(x') \rVert^2` row by row.

    One logit s stands for the two logits -s/2 and s/2, so that K = 2.
    """
    difference = np.asarray(outputs, np.float64) - np.asarray(others, np.float64)
    squared: Float = (difference**2).mean(-1)
    return squared / 4 if difference.shape[-1] == 1 else squared


@dataclass(frozen=True, eq=False)
class FreeRange:
    """How far one may go along the free directions: as far as the rows seen.

    A network that is not constant along a free direction has an infinite worst case
    there; the coordinates ``A'x`` of counterparts are kept within those of real rows.
    """

    low: Float
    high: Float

    @classmethod
    def of(cls, X: ArrayLike, metric: FairMetric) -> "FreeRange":
        """Return the range that the rows of ``X`` span."""
        coordinates = np.asarray(X, np.float64) @ metric.basis
        return cls(coordinates.min(0), coordinates.max(0))


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst counterpart found of each row.

    ``X``, (n_rows, d), encoded; ``value`` is what was maximised there, never below that
    at the row itself, and ``distance`` the squared fair distance to the row.
    """

    X: Float
    value: Float
    distance: Float


def worst_case(
    model: Differentiable,
    X: ArrayLike,
    metric: FairMetric,
    *,
    radius: float = 0.0,
    free: FreeRange | None = None,
    target: ArrayLike | None = None,
    n_steps: int = 20,
    random_state: int = 0,
) -> WorstCase:
    r"""Search, for each row, the counterpart within a fair distance treated worst.

    Maximises :math:`d_Y(h(x), h(x'))`, or the loss of x' where ``target`` is given,
    over :math:`d_X(x, x')^2 \leq` ``radius`` and the range of the free directions. A
    step goes to the best point of the linearised model, half as far after every one
    that did not help; it needs no step size, and one step is exact for a linear model.
    A search, so from below: a worse counterpart may exist.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
        Encoded rows.
    radius : float, default=0
        Largest squared fair distance; 0 leaves the free directions alone.
    target : array-like of int of shape (n_rows,), optional
        Index of each row's class, from 0.
    """
    check_non_negative("radius", radius)
    check_whole("n_steps", n_steps, at_least=1)
    rows = np.asarray(X, np.float64)
    free = free or FreeRange.of(rows, metric)
    goal = _Goal(model, rows, target)
    reach = _Reach(rows, metric, free, float(np.sqrt(radius)))
    there, best = rows, goal.start
    for start in _starts(goal, reach, random_state):
        reached, value = _ascend(goal, reach, start, n_steps)
        there = np.where((value > best)[:, None], reached, there)
        best = np.maximum(best, value)
    return WorstCase(there, best, metric.distance(rows, there))


class _Start(NamedTuple):
    """Moves to set out from, and which way the outputs should go at first."""

    u: Float
    delta: Float
    slope: Float


def _starts(goal: "_Goal", reach: "_Reach", random_state: int) -> Iterator[_Start]:
    """Yield the rows themselves, upwards and downwards, and points within reach.

    At a row the distance has no slope, and where a network is flat it has none either.
    """
    u, delta = np.zeros_like(reach.coordinates), np.zeros_like(goal.rows)
    if goal.target is not None:
        yield _Start(u, delta, goal.slope(goal.rows))
    else:
        for sign in (1.0, -1.0):
            yield _Start(u, delta, np.full_like(goal.outputs, sign))
    rng = np.random.default_rng(random_state)
    for _ in range(_RANDOM_STARTS):
        _, somewhere = reach.towards(rng.normal(size=goal.rows.shape))
        inside, somewhere = reach.within(rng.uniform(reach.low, reach.high), somewhere)
        slope = goal.slope(reach.at(inside, somewhere))
        yield _Start(inside, somewhere, slope)


def _ascend(
    goal: "_Goal", reach: "_Reach", start: _Start, n_steps: int
) -> tuple[Float, Float]:
    """Climb from every start; return where to, and the value there."""
    u, delta, slope = start
    here = reach.at(u, delta)
    value, step = goal.value(here), np.ones((len(here), 1))
    for _ in range(n_steps):
        to_u, to_delta = reach.towards(goal.model.input_gradient(here, slope))
        next_u, next_delta = u + step * (to_u - u), delta + step * (to_delta - delta)
        there = reach.at(next_u, next_delta)
        reached = goal.value(there)
        better = (reached > value)[:, None]
        u, delta = np.where(better, next_u, u), np.where(better, next_delta, delta)
        here = np.where(better, there, here)
        value = np.maximum(value, reached)
        step = np.where(better, step, step / 2)
        if (step < _SMALLEST_STEP).all():
            break
        left = (value > goal.start + _TINY)[:, None]
        slope = np.where(left, goal.slope(here), slope)
    return here, value


class _Reach:
    """Counterparts as free moves u and others delta, within their limits.

    A direction that a learned metric calls free may cost a little, and then its moves
    count in the distance.
    """

    def __init__(
        self, rows: Float, metric: FairMetric, free: FreeRange, length: float
    ) -> None:
        self.rows, self.metric, self.length = rows, metric, length
        self.coordinates = rows @ metric.basis
        self.low = np.minimum(free.low - self.coordinates, 0.0)
        self.high = np.maximum(free.high - self.coordinates, 0.0)
        sigma, basis = metric.sigma, metric.basis
        costs = ((sigma @ basis) * basis).sum(0)
        self.costs = np.where(costs > _COSTLESS * np.trace(sigma), costs, 0.0)
        if self.costs.any():
            sigma = metric.projection @ sigma @ metric.projection
        self.inverse = np.linalg.pinv(sigma, rcond=1e-6, hermitian=True)

    def at(self, u: Float, delta: Float) -> Float:
        return self.rows + u @ self.metric.basis.T + delta

    def towards(self, gradient: Float) -> tuple[Float, Float]:
        """Return the moves that gain most if the model were linear."""
        along = gradient @ self.metric.basis
        u = np.where(along > 0, self.high, np.where(along < 0, self.low, 0.0))
        if self.length == 0.0:
            return np.where(self.costs > 0, 0.0, u), np.zeros_like(gradient)
        steepest = gradient @ self.inverse
        norm = np.sqrt(np.maximum((steepest * gradient).sum(1), 0.0))
        scale = np.divide(self.length, norm, out=np.zeros_like(norm), where=norm > 0)
        if not self.costs.any():
            return u, steepest * scale[:, None]
        return self._shared_out(u, along, steepest, norm, scale)

    def within(self, u: Float, delta: Float) -> tuple[Float, Float]:
        """Return moves shortened to the distance, those that cost nothing as they are.

        Without a cost of free moves it is the length of ``delta`` alone that counts.
        """
        if not self.costs.any():
            return u, delta
        paid = np.where(self.costs > 0, u, 0.0)
        far = np.sqrt(self.metric.distance(self.at(paid, delta), self.rows))
        share = np.divide(self.length, far, out=np.ones_like(far), where=far > 0)
        share = np.minimum(share, 1.0)[:, None]
        return np.where(self.costs > 0, u * share, u), delta * share

    def _shared_out(
        self, u: Float, along: Float, steepest: Float, norm: Float, most: Float
    ) -> tuple[Float, Float]:
        """Share the distance out among moves that cost: each gains alike at its end.

        A move goes t times its slope over its cost, as far as its limits; t is halved
        for, up to ``most``, or without other moves to where all are at their limits.
        """
        costly = self.costs > 0
        slope = np.where(costly, along, 0.0) / np.where(costly, self.costs, 1.0)
        ends = np.divide(
            np.abs(u), np.abs(slope), out=np.zeros_like(u), where=slope != 0
        )
        high = np.where(norm > 0, most, ends.max(1))
        low = np.zeros_like(high)

        def moves(t: Float) -> Float:
            return np.clip(t[:, None] * slope, self.low, self.high)

        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            spent = (self.costs * moves(middle) ** 2).sum(1) + (middle * norm) ** 2
            near = spent <= self.length**2
            low, high = np.where(near, middle, low), np.where(near, high, middle)
        return self.within(np.where(costly, moves(low), u), steepest * low[:, None])


class _Goal:
    """What is maximised: the distance of outputs, or the loss."""

    def __init__(
        self, model: Differentiable, rows: Float, target: ArrayLike | None
    ) -> None:
        self.model, self.rows = model, rows
        self.outputs = model.outputs(rows)
        self.target = None if target is None else class_indices(target, self.outputs)
        self.start = self.value(rows)

    def value(self, X: Float) -> Float:
        outputs = self.model.outputs(X)
        if self.target is None:
            return output_distance(self.outputs, outputs)
        return model_loss(outputs, self.target)

    def slope(self, X: Float) -> Float:
        """Return the derivative in the outputs, up to a positive factor."""
        outputs = self.model.outputs(X)
        if self.target is None:
            return outputs - self.outputs
        logits = _two_logits(outputs)
        slope: Float = softmax(logits, axis=1) - np.eye(logits.shape[1])[self.target]
        return slope[:, 1:] if outputs.shape[1] == 1 else slope


def class_indices(target: ArrayLike, outputs: Float) -> NDArray[np.int64]:
    """Return the class of each row as an index from 0, or a ValueError."""
    labels, n_classes = np.asarray(target), max(2, outputs.shape[1])
    wrong = ~np.isin(labels, np.arange(n_classes))
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"The class of each row must be an index from 0 to {n_classes - 1}; row "
            f"{where} holds {as_written(labels[where])}. Encode labels such as -1 and "
            "1 as 0 and 1."
        )
    return labels.astype(np.int64)


def model_loss(outputs: Float, target: NDArray[np.int64]) -> Float:
    """Return the cross-entropy of every row; ``target`` is the index of its class."""
    logs = log_softmax(_two_logits(outputs), axis=1)
    return -np.asarray(logs[np.arange(len(target)), target], np.float64)


def _two_logits(outputs: Float) -> Float:
    if outputs.shape[1] > 1:
        return outputs
    return np.hstack([np.zeros_like(outputs), outputs])
