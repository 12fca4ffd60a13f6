"""Fair metrics: how far apart two people are once some directions do not count."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
_FREE = 1e-3  # of the largest eigenvalue: below it, a learned direction is free
_RANK = 1e-8  # of the largest singular value: below it, a direction is a repeat


@dataclass(frozen=True, eq=False, repr=False)
class FairMetric:
    r"""The squared distance :math:`d(x, x')^2 = (x-x')^T \Sigma (x-x')`.

    Made by `ignore_columns`, `group_directions`, `comparable_directions` and
    `explore`; metrics of free directions are joined with ``|``.

    Attributes
    ----------
    feature_names : tuple of str
        Encoded columns, d of them.
    directions : ndarray of shape (d, k)
        Unit vectors along which people may differ for free, as they were named or
        learned; they need not be orthogonal.
    labels : tuple of str
        What each direction is.
    explained : tuple of float
        Share of the variation it was learned from that lies along a direction, beyond
        those before it; NaN for a direction that was not learned.
    sigma : ndarray of shape (d, d)
        Positive semidefinite; ``I - P`` with the projector P on the free directions
        unless it was learned as a whole.
    """

    feature_names: tuple[str, ...]
    directions: Float
    labels: tuple[str, ...]
    explained: tuple[float, ...]
    sigma: Float

    @classmethod
    def ignoring(
        cls,
        feature_names: Sequence[str],
        directions: ArrayLike,
        labels: Sequence[str],
        explained: Sequence[float] | None = None,
    ) -> Self:
        r"""Return the metric :math:`\Sigma = I - P` that ignores ``directions``.

        Raises ValueError when there is none, one is not finite, all are zero, or
        together they leave nothing in which people differ.
        """
        vectors = np.asarray(directions, dtype=np.float64)
        names = tuple(map(str, feature_names))
        if vectors.ndim != 2 or vectors.shape[0] != len(names):
            message = f"`directions` must be ({len(names)}, k): a row for each feature"
            raise ValueError(f"{message}; got shape {vectors.shape}.")
        if not np.isfinite(vectors).all():
            raise ValueError("`directions` must be finite numbers.")
        lengths = np.linalg.norm(vectors, axis=0)
        kept = lengths > 0
        if not kept.any():
            raise ValueError(
                "A fair metric needs at least one sensitive direction that is not "
                "zero; name a column to ignore, or learn a direction."
            )
        shares = [np.nan] * len(labels) if explained is None else list(explained)
        unit = vectors[:, kept] / lengths[kept]
        span = _orthonormal(unit)
        if span.shape[1] == len(names):
            raise ValueError(
                f"The {unit.shape[1]} directions that should not count span all "
                f"{len(names)} columns, so that any two people would be alike. Name "
                "fewer columns, or learn fewer directions."
            )
        return cls(
            names,
            unit,
            tuple(str(label) for label, keep in zip(labels, kept, strict=True) if keep),
            tuple(float(s) for s, keep in zip(shares, kept, strict=True) if keep),
            np.eye(len(names)) - span @ span.T,
        )

    @cached_property
    def basis(self) -> Float:
        """Orthonormal basis (d, k) of the free directions, in their order."""
        return _orthonormal(self.directions)

    @property
    def projection(self) -> Float:
        """The projector ``I - P`` (d, d) on what counts."""
        return np.eye(len(self.sigma)) - self.basis @ self.basis.T

    @cached_property
    def root(self) -> Float:
        """R (d, r) with ``sigma = R R'``: distances are those of rows times R."""
        values, vectors = np.linalg.eigh(self.sigma)
        kept = values > 1e-12 * max(float(values[-1]), 1e-300)
        return vectors[:, kept] * np.sqrt(values[kept])

    def distance(self, X: ArrayLike, X_other: ArrayLike) -> Float:
        """Return the squared distance of each row of ``X`` to that of ``X_other``."""
        difference = np.asarray(X, np.float64) - np.asarray(X_other, np.float64)
        if difference.shape[-1] != len(self.sigma):
            message = f"Rows have {difference.shape[-1]} columns and the metric"
            raise ValueError(f"{message} {len(self.sigma)}; encode them alike.")
        squared: Float = ((difference @ self.sigma) * difference).sum(-1)
        return np.maximum(squared, 0.0)

    def table(self, X: ArrayLike) -> pd.DataFrame:
        """Return what is free, for a picture.

        One row per direction: ``direction``, ``explained``, ``variance``, the share of
        the variance of ``X`` along it beyond those before it (NaN if X does not vary),
        and ``columns``, its largest loadings.
        """
        rows = np.asarray(X, np.float64)
        centred = rows - rows.mean(0)
        total = (centred**2).sum()
        shares = []
        for k in range(len(self.labels)):
            fresh = _beyond(self.directions[:, :k], self.directions[:, k])
            along = ((centred @ fresh) ** 2).sum()
            shares.append(along / total if total > 0 else np.nan)
        return pd.DataFrame(
            {
                "direction": self.labels,
                "explained": self.explained,
                "variance": shares,
                "columns": [self._loadings(k) for k in range(len(self.labels))],
            }
        )

    @property
    def is_learned(self) -> bool:
        """Whether ``sigma`` was learned as a whole and weighs every column."""
        return not np.allclose(self.sigma, self.projection, atol=1e-8)

    def __or__(self, other: "FairMetric") -> "FairMetric":
        """Return the metric that ignores the directions of both.

        Raises ValueError when features differ, or one metric is learned as a whole.
        """
        if self.feature_names != other.feature_names:
            raise ValueError("Two fair metrics are joined only over the same features.")
        if self.is_learned or other.is_learned:
            raise ValueError(
                "A fair metric that was learned as a whole cannot be joined with "
                "another; learn one from pairs that differ in those columns as well."
            )
        return FairMetric.ignoring(
            self.feature_names,
            np.hstack([self.directions, other.directions]),
            (*self.labels, *other.labels),
            (*self.explained, *other.explained),
        )

    def __sklearn_clone__(self) -> "FairMetric":
        """Return itself: it never changes, so models of a stack may share it."""
        return self

    def _loadings(self, k: int, most: int = 3) -> str:
        values = self.directions[:, k]
        order = np.argsort(-np.abs(values), kind="stable")[:most]
        shown = [i for i in order if abs(values[i]) > _RANK]
        return ", ".join(f"{self.feature_names[i]} {values[i]:+.2f}" for i in shown)


def fair_distance(
    X: ArrayLike, X_other: ArrayLike, metric: FairMetric | ArrayLike
) -> Float:
    r"""Return the squared fair distance of rows, :math:`(x-x')^T \Sigma (x-x')`.

    Parameters
    ----------
    X, X_other : array-like of shape (n_rows, d) or (d,)
    metric : FairMetric or array-like of shape (d, k)
        A metric, or the sensitive directions A of :math:`\Sigma = I - P_A`.

    Returns
    -------
    ndarray of shape (n_rows,), or a scalar array for vectors
    """
    if not isinstance(metric, FairMetric):
        directions = np.asarray(metric, np.float64)
        names = [f"x{i}" for i in range(len(directions))]
        labels = [f"direction {k + 1}" for k in range(directions.shape[-1])]
        metric = FairMetric.ignoring(names, directions, labels)
    return metric.distance(X, X_other)


def free_of(sigma: Float) -> Float:
    """Return the directions (d, k) that a learned matrix gives next to no weight."""
    values, vectors = np.linalg.eigh(sigma)
    return vectors[:, values <= _FREE * values[-1]]


def _orthonormal(vectors: Float) -> Float:
    """Return an orthonormal basis in the order of ``vectors``, without repeats."""
    basis = np.empty((len(vectors), 0))
    for k in range(vectors.shape[1]):
        fresh = _beyond(basis, vectors[:, k])
        if np.linalg.norm(fresh) > 0:
            basis = np.column_stack([basis, fresh])
    return basis


def _beyond(before: Float, vector: Float) -> Float:
    """Return the unit part of ``vector`` outside the span of ``before``, or zero."""
    rest = vector
    if before.shape[1]:
        left, singular, _ = np.linalg.svd(before, full_matrices=False)
        span = left[:, singular > _RANK * singular[0]]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            rest = rest - span @ (span.T @ rest)
    length = float(np.linalg.norm(rest))
    if length <= _RANK * max(1.0, float(np.linalg.norm(vector))):
        return np.zeros_like(vector)
    return rest / length
