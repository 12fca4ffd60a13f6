"""Trained models as plain arrays, which predict by NumPy alone: pages need no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from fairdash.methods.log_loss.truncation import TruncatedLogistic

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
        return expit(self.logits(X))

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
        return delta @ self.weights[0].T

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


Float = NDArray[np.float64]
Codes = NDArray[np.int64]
Arrays = Mapping[str, NDArray[np.generic]]
_LEAF = -1  # instead of a feature


class Scorer(Protocol):
    """A stored model of encoded rows, whichever method trained it."""

    def positive(self, X: NDArray[np.floating], group: Codes) -> Float:
        """Return P(1) of every row; ``group`` is the index of its group's name."""
        ...

    def arrays(self) -> dict[str, Any]:
        """Return the parameters by name, ready for a safetensors file."""
        ...


class _Stored:
    """A dataclass of arrays, which are its file."""

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name, ready for a safetensors file."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        return cls(**arrays)


@dataclass(frozen=True, eq=False)
class LinearMixture(_Stored):
    """A random choice among linear decisions.

    Parameters
    ----------
    coefficients : ndarray of shape (n_models, n_features)
    intercepts : ndarray of shape (n_models,)
    shares : ndarray of shape (n_models,)
        Probability with which each model decides.
    """

    coefficients: NDArray[np.floating]
    intercepts: NDArray[np.floating]
    shares: NDArray[np.floating]

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return the probability of a positive decision."""
        decided = X @ self.coefficients.T + self.intercepts > 0
        positive: Float = decided @ np.asarray(self.shares, np.float64)
        return positive.clip(0, 1)


@dataclass(frozen=True, eq=False)
class GroupThresholds(_Stored):
    """A logistic regression under a mixture of two thresholds in each group.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features,)
    intercept : ndarray of shape (1,)
    thresholds, signs, shares : ndarray of shape (n_groups, 2)
        A score s is decided 1 where ``sign * s > sign * threshold``, with the
        probability ``share`` of this threshold.
    constants : ndarray of shape (n_groups,)
        Probability of 1 whatever the score, beside the thresholds'.
    """

    coefficients: Float
    intercept: Float
    thresholds: Float
    signs: Float
    shares: Float
    constants: Float

    def positive(self, X: NDArray[np.floating], group: Codes) -> Float:
        """Return the probability of a positive decision."""
        margin = np.asarray(X, np.float64) @ self.coefficients + self.intercept
        return self.corrected(expit(margin), group)

    def corrected(self, scores: Float, group: Codes) -> Float:
        """Return what the thresholds make of scores of the regression."""
        signs = self.signs[group]
        above = signs * scores[:, None] > signs * self.thresholds[group]
        positive: Float = self.constants[group] + (self.shares[group] * above).sum(1)
        return positive.clip(0, 1)


@dataclass(frozen=True, eq=False)
class Forest(_Stored):
    """Trees, one after the other in flat arrays.

    Parameters
    ----------
    roots : ndarray of int32 of shape (n_trees,)
    features : ndarray of int32 of shape (n_nodes,)
        Column compared with ``thresholds``; -1 at a leaf.
    thresholds, values : ndarray of shape (n_nodes,)
        ``values`` are P(1) of leaves.
    left, right : ndarray of int32 of shape (n_nodes,)
        Where a row goes that is at most, or above, the threshold.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: Float
    values: Float
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return the mean over trees of P(1) at the leaf."""
        rows = np.asarray(X, np.float32)  # what the trees were grown on
        total = np.zeros(len(rows))
        for root in self.roots:
            at = np.full(len(rows), root)
            moving = np.flatnonzero(self.features[at] != _LEAF)
            for _ in self.features:  # no path is longer
                node = at[moving]
                low = rows[moving, self.features[node]] <= self.thresholds[node]
                at[moving] = np.where(low, self.left[node], self.right[node])
                moving = moving[self.features[at[moving]] != _LEAF]
                if not len(moving):
                    break
            else:
                raise ValueError("A tree of this model has no end; train it again.")
            total += self.values[at]
        return total / len(self.roots)


@dataclass(frozen=True, eq=False)
class Neighbours(_Stored):
    """Training rows, whose outcomes are averaged over the nearest.

    Parameters
    ----------
    rows : ndarray of float32 of shape (n_train, n_features)
    outcomes : ndarray of int8 of shape (n_train,)
    n_neighbours : ndarray of int64 of shape (1,)
    """

    rows: NDArray[np.float32]
    outcomes: NDArray[np.int8]
    n_neighbours: NDArray[np.int64]

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return the share of positive outcomes among the nearest training rows."""
        return self._model.predict_proba(np.asarray(X, np.float64))[:, 1]

    @cached_property
    def _model(self) -> KNeighborsClassifier:
        rows = np.asarray(self.rows, np.float64)
        return KNeighborsClassifier(int(self.n_neighbours[0])).fit(rows, self.outcomes)


@dataclass(frozen=True, eq=False)
class Smoothed:
    r"""A network drawn towards the training rows that are alike, see `GLIF`.

    Parameters
    ----------
    network : Network
    root : ndarray of shape (n_features, r)
        Of the fair metric.
    anchors : ndarray of float32 of shape (n_train, r)
        The training rows times ``root``.
    outputs_there : ndarray of shape (n_train, n_outputs)
        Smoothed outputs of the training rows.
    settings : ndarray of shape (2,)
        The weight :math:`\lambda` and the number of neighbours k.
    """

    network: Network
    root: Float
    anchors: Float32
    outputs_there: Float
    settings: Float

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return P(1) of every row; the group is not told."""
        return expit(self.logits(X))

    def logits(self, X: NDArray[np.floating]) -> Float:
        """Return the first output of every row; shape (n_samples,)."""
        return self.outputs(X)[:, 0]

    def outputs(self, X: NDArray[np.floating]) -> Float:
        """Return all outputs of every row; shape (n_samples, n_outputs)."""
        rows = np.asarray(X, np.float64)
        own, weight = self.network.outputs(rows), self.settings[0]
        place, w = self.nearest(rows @ self.root)
        pull = (w[..., None] * self.outputs_there[place]).sum(1)
        return (own + weight * pull) / (1 + weight * w.sum(1, keepdims=True))

    def nearest(self, points: Float, *, itself: bool = False) -> tuple[Codes, Float]:
        """Return the k nearest anchors of points and their weights, each (n, k).

        ``points`` are rows times ``root``; with ``itself`` they are the anchors, and
        none is its own neighbour.
        """
        k, most = int(self.settings[1]), len(self.anchors) - itself
        given = None if itself else points
        apart, place = self._index.kneighbors(given, min(k + 1, most))
        squared = apart**2
        last = squared[:, -1:]
        share = np.divide(squared, last, out=np.zeros_like(squared), where=last > 0)
        return place[:, :k], (1 - share[:, :k]) / k

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name, ready for a safetensors file."""
        own = {one.name: getattr(self, one.name) for one in fields(self)[1:]}
        return own | self.network.arrays()

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """Return the model whose ``arrays()`` these are."""
        own = {one.name: arrays[one.name] for one in fields(cls)[1:]}
        rest: Any = {name: arrays[name] for name in arrays if name not in own}
        return cls(Network.from_arrays(rest), **own)  # type: ignore[arg-type]

    @cached_property
    def _index(self) -> NearestNeighbors:
        return NearestNeighbors().fit(np.asarray(self.anchors, np.float64))


@dataclass(frozen=True, eq=False)
class RuleList(_Stored):
    """Rules in order, the first that applies decides.

    Parameters
    ----------
    features : ndarray of int32 of shape (n_rules,)
    rule_thresholds : ndarray of shape (n_rules,)
    above : ndarray of int8 of shape (n_rules,)
        1: the rule applies above its threshold; 0: at most at it.
    decisions : ndarray of int8 of shape (n_rules + 1,)
        Of each rule, and where none applies.
    """

    features: NDArray[np.int32]
    rule_thresholds: Float
    above: NDArray[np.int8]
    decisions: NDArray[np.int8]

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return the decision, 0 or 1."""
        return self.decisions[self.first(X)].astype(np.float64)

    def first(self, X: NDArray[np.floating]) -> Codes:
        """Return which rule decides each row; where none applies, their number."""
        values = np.asarray(X, np.float64)[:, self.features]
        applies = (values > self.rule_thresholds) == (self.above == 1)
        last = np.ones((len(applies), 1), bool)
        return np.hstack([applies, last]).argmax(1)


def scorer_of(arrays: Arrays) -> Scorer:
    """Return the model that a trial keeps, known by the names of its arrays.

    Raises ValueError when nothing was kept: an earlier version stored scores alone.
    """
    for name, kind in _KINDS.items():
        if name in arrays:
            return kind.from_arrays(arrays)
    raise ValueError(
        "Only the scores of this model were kept, by an earlier version, so changed "
        "people cannot be scored. Delete its runs and train it again."
    )


_KINDS: dict[str, Any] = {  # by an array that no other kind before it has
    "anchors": Smoothed,
    "weight_0": Network,
    "pulls": TruncatedLogistic,
    "signs": GroupThresholds,
    "shares": LinearMixture,
    "roots": Forest,
    "n_neighbours": Neighbours,
    "decisions": RuleList,
}
