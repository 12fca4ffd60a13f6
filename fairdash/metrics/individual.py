"""Fair metrics, and predictions for people changed in columns that should not count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression

from fairdash._arrays import FloatArray
from fairdash._columns import in_one_order, with_columns
from fairdash._validation import as_written, encode_groups

_RANK = 1e-8  # of a direction's length: what is left of a repeat is below it
_MOST_VARIANTS = 500
_VARIES = 1e-6  # of the length of the rows: below it, nothing is left to differ in


@dataclass(frozen=True, eq=False, repr=False)
class FairMetric:
    r"""The squared distance :math:`d(x, x')^2 = (x-x')^T \Sigma (x-x')`.

    Made by `ignore_columns`, `group_directions` and `comparable_directions`.

    Attributes
    ----------
    feature_names : tuple of str
        Encoded columns, d of them.
    basis : ndarray of shape (d, k)
        Orthonormal basis A of the directions along which people may differ for free.
    sigma : ndarray of shape (d, d)
        :math:`\Sigma = I - A A^T`, a projector.
    """

    feature_names: tuple[str, ...]
    basis: FloatArray

    @classmethod
    def ignoring(cls, feature_names: Sequence[str], directions: ArrayLike) -> Self:
        r"""Return the metric that ignores ``directions``, of shape (d, k).

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
        nonzero = lengths > 0
        basis = _orthonormal(vectors[:, nonzero] / lengths[nonzero])
        if not basis.shape[1]:
            raise ValueError(
                "A fair metric needs at least one sensitive direction that is not "
                "zero; name a column to ignore."
            )
        if basis.shape[1] == len(names):
            raise ValueError(
                f"The directions that should not count span all {len(names)} columns, "
                "so that any two people would be alike. Name fewer columns."
            )
        return cls(names, basis)

    @cached_property
    def sigma(self) -> FloatArray:
        """The projector ``I - AA'`` (d, d) on what counts."""
        return np.eye(len(self.feature_names)) - self.basis @ self.basis.T

    def distance(self, X: ArrayLike, X_other: ArrayLike) -> FloatArray:
        """Return the squared distance of each row of ``X`` to that of ``X_other``."""
        difference = np.asarray(X, np.float64) - np.asarray(X_other, np.float64)
        if difference.shape[-1] != len(self.sigma):
            message = f"Rows have {difference.shape[-1]} columns and the metric"
            raise ValueError(f"{message} {len(self.sigma)}; encode them alike.")
        squared: FloatArray = ((difference @ self.sigma) * difference).sum(-1)
        return np.maximum(squared, 0.0)

    def __sklearn_clone__(self) -> "FairMetric":
        """Return itself: it never changes, so models of a stack may share it."""
        return self


def fair_distance(
    X: ArrayLike, X_other: ArrayLike, metric: FairMetric | ArrayLike
) -> FloatArray:
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
        metric = FairMetric.ignoring(names, directions)
    return metric.distance(X, X_other)


def columns_of(column: str, feature_names: Sequence[str]) -> list[int]:
    """Return where a table's column is among encoded ones: itself, or its levels.

    "race" is at "race=White" and "race=Black" as well as at "race".

    Raises ValueError when it is none of the features.
    """
    places = [
        i
        for i, name in enumerate(feature_names)
        if name == column or name.startswith(f"{column}=")
    ]
    if not places:
        names = list(dict.fromkeys(name.split("=")[0] for name in feature_names))
        raise ValueError(
            f"{column!r} is not a feature of the model, so it can neither be ignored "
            f"nor flipped; the features are {', '.join(names)}."
        )
    return places


def ignore_columns(columns: Iterable[str], feature_names: Sequence[str]) -> FairMetric:
    """Return the metric in which the values of ``columns`` do not count.

    These are columns of the table, or encoded columns. Raises ValueError when none is
    named or one is not a feature.
    """
    return FairMetric.ignoring(feature_names, unit_vectors(columns, feature_names))


def group_directions(
    X: ArrayLike,
    sensitive_features: ArrayLike,
    feature_names: Sequence[str],
    *,
    columns: Iterable[str] = (),
    alpha: float = 1e-3,
) -> FairMetric:
    """Return the metric that ignores ``columns`` and what predicts the group.

    The direction is the vector of coefficients of a logistic regression of the group on
    the remaining columns; more than two groups give one direction each, as in the Adult
    experiments of SenSR and SenSeI.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
    feature_names : sequence of str
    columns : iterable of str
        Ignored as well, and no part of the regression.
    alpha : float, default=1e-3
        Ridge penalty of the mean loss, which keeps the coefficients finite.

    Raises
    ------
    ValueError
        When there are fewer than two groups, or a column is not a feature.
    """
    rows = np.asarray(X, np.float64)
    groups, codes = encode_groups(sensitive_features, rows)
    named = unit_vectors(columns, feature_names)
    if named.shape[1]:
        FairMetric.ignoring(feature_names, named)  # refuses all columns
    remaining = ~named.any(axis=1)
    features = rows[:, remaining]
    solver = LogisticRegression(C=1 / (alpha * len(rows)), max_iter=1000)
    solver.fit(features, codes)
    centred = features - features.mean(0)
    span = _orthonormal(solver.coef_.T)
    outside_span = centred - centred @ span @ span.T
    if np.linalg.norm(outside_span) <= _VARIES * np.linalg.norm(centred):
        # scikit-learn's checks ask for "1 feature(s)"
        raise ValueError(
            f"The directions that predict {len(groups)} groups span all that the "
            f"{remaining.sum()} feature(s) left vary in. So any two people would be "
            "alike. Merge groups, or choose columns that should not count "
            "instead."
        )
    learned = np.zeros((rows.shape[1], len(solver.coef_)))
    learned[remaining] = solver.coef_.T
    return FairMetric.ignoring(feature_names, np.hstack([named, learned]))


def flip_columns(
    frame: pd.DataFrame,
    values: Mapping[str, Sequence[Any]],
    *,
    table: pd.DataFrame | None = None,
) -> list[pd.DataFrame]:
    """Return rows with every combination of values in some columns.

    Parameters
    ----------
    values : mapping of str to sequence
        What each column is set to: ``{"relationship": ["Husband", "Wife"]}``.
    table : DataFrame, optional
        Where the values must occur, by default in ``frame``.

    Raises
    ------
    ValueError
        When there is no such column, a value does not occur, or there are more than 500
        combinations.
    """
    everyone = frame if table is None else table
    for name, wanted in values.items():
        if name not in frame:
            columns = ", ".join(map(str, frame))
            raise ValueError(f"{name!r} cannot be flipped: the columns are {columns}.")
        present = everyone[name].dropna().unique().tolist()
        for value in wanted:
            if value not in present:
                raise ValueError(
                    f"{name!r} has no value {as_written(value)}; its values are "
                    f"{present[:10]}."
                )
    total = prod(map(len, values.values()))
    if not 0 < total <= _MOST_VARIANTS:
        raise ValueError(
            f"Flipping {list(values)} gives {total:,} variants of every row; 1 to "
            f"{_MOST_VARIANTS} are allowed."
        )
    return [
        with_columns(frame, dict(zip(values, setting, strict=True)))
        for setting in product(*values.values())
    ]


@in_one_order
def prediction_consistency(y_pred: ArrayLike) -> float:
    """Return the share of rows whose prediction is the same in every variant.

    ``y_pred`` are labels of shape (n_variants, n_rows), see `flip_columns`; 1 is fair,
    NaN without rows.

    Raises ValueError for fewer than two variants, or a missing prediction.
    """
    variants = np.asarray(y_pred)
    if variants.ndim != 2 or len(variants) < 2:
        raise ValueError(
            "`y_pred` must be (variants, rows) with at least two variants, got shape "
            f"{variants.shape}."
        )
    missing = pd.isna(variants).any(0)
    if missing.any():
        raise ValueError(
            f"`y_pred` is missing in {int(missing.sum())} rows, the first is row "
            f"{int(missing.argmax())}; leave these rows out."
        )
    same = (variants == variants[0]).all(0)
    return float(same.mean()) if len(same) else float("nan")


def unit_vectors(columns: Iterable[str], feature_names: Sequence[str]) -> FloatArray:
    """Return the directions (d, k) of columns of the table, or of encoded ones.

    Raises ValueError when one is not a feature.
    """
    places = [i for name in columns for i in columns_of(name, feature_names)]
    return np.eye(len(feature_names))[:, list(dict.fromkeys(places))]


def _orthonormal(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of vectors by Gram and Schmidt, in their order.

    The search for counterparts starts at random along this basis, so its order and
    signs are part of what a setting trains.
    """
    basis = np.empty((len(vectors), 0))
    for vector in vectors.T:
        rest = vector
        for _ in range(2):  # twice is enough for orthogonality to rounding
            rest = rest - basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > _RANK * max(1.0, float(np.linalg.norm(vector))):
            basis = np.column_stack([basis, rest / length])
    return basis
