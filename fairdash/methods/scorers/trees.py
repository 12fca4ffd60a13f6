"""Decision trees as plain arrays: forests and boosted trees."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fairdash._arrays import Codes, FloatArray
from fairdash.methods.scorers.base import Stored

_LEAF = -1  # instead of a feature


@dataclass(frozen=True, eq=False)
class _Trees(Stored):
    """Decision trees, their nodes one after the other.

    Parameters
    ----------
    roots : ndarray of int32 of shape (n_trees,)
        The first node of each tree.
    features : ndarray of int32 of shape (n_nodes,)
        Column that is compared with the threshold; -1 at a leaf.
    thresholds : ndarray of shape (n_nodes,)
    values : ndarray of shape (n_nodes,)
        Values of leaves.
    left, right : ndarray of int32 of shape (n_nodes,)
        Next node of a row that is at most the threshold, and of one above it.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    thresholds: FloatArray
    values: FloatArray
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def _total(self, rows: NDArray[np.floating]) -> FloatArray:
        """Return the sum over trees of the value at each row's leaf."""
        total = np.zeros(len(rows))
        for root in self.roots:
            total += self.values[self._leaves(root, rows)]
        return total

    def _leaves(self, root: np.int32, rows: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the leaf of each row in one tree."""
        node_of_row = np.full(len(rows), root)
        moving = np.flatnonzero(self.features[node_of_row] != _LEAF)
        # All rows step down at once. No path is longer than there are nodes, so trees
        # of a file that lead in circles end too.
        for _ in self.features:
            if not len(moving):
                return node_of_row
            node = node_of_row[moving]
            value = rows[moving, self.features[node]]
            goes_left = self._goes_left(node, value)
            next_node = np.where(goes_left, self.left[node], self.right[node])
            node_of_row[moving] = next_node
            moving = moving[self.features[next_node] != _LEAF]
        if len(moving):
            raise ValueError("A tree of this model has no end; train it again.")
        return node_of_row

    def _goes_left(
        self, node: NDArray[np.int32], value: NDArray[np.floating]
    ) -> NDArray[np.bool_]:
        """Return whether rows with these values go left at these nodes."""
        goes_left: NDArray[np.bool_] = value <= self.thresholds[node]
        return goes_left


class Forest(_Trees):
    """Trees whose leaves are P(1)."""

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return the mean over trees of P(1) at the leaf."""
        # The trees were grown on single precision.
        rows = np.asarray(X, np.float32)
        return self._total(rows) / len(self.roots)


@dataclass(frozen=True, eq=False)
class Boosted(_Trees):
    """Trees whose leaves add up to the log odds.

    Parameters
    ----------
    missing_left : ndarray of int8 of shape (n_nodes,)
        1 where a missing value goes left.
    baseline : ndarray of shape (1,)
        Log odds before the first tree.
    """

    missing_left: NDArray[np.int8]
    baseline: FloatArray

    def positive(
        self, X: NDArray[np.floating], group: Codes | None = None
    ) -> FloatArray:
        """Return P(1) of every row."""
        rows = np.asarray(X, np.float64)
        return expit(self.baseline[0] + self._total(rows))

    def _goes_left(
        self, node: NDArray[np.int32], value: NDArray[np.floating]
    ) -> NDArray[np.bool_]:
        goes_left = super()._goes_left(node, value)
        return np.where(np.isnan(value), self.missing_left[node] == 1, goes_left)
