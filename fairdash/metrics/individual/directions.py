"""Fair metrics of named columns, and learned from rows, groups, or pairs of people."""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from fairdash._validation import (
    check_lengths,
    check_positive,
    check_whole,
    encode_groups,
    value_label,
)
from fairdash.metrics.individual.fair_metric import FairMetric, Float, free_of

_TINY = 1e-12
_CUT_SHORT = 1  # status of L-BFGS that has used all its steps


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
        known = list(dict.fromkeys(name.split("=")[0] for name in feature_names))
        raise ValueError(
            f"{column!r} is not a feature of the model, so it can neither be ignored "
            f"nor flipped; the features are {', '.join(known)}."
        )
    return places


def ignore_columns(columns: Iterable[str], feature_names: Sequence[str]) -> FairMetric:
    """Return the metric in which the values of ``columns`` do not count.

    These are columns of the table, or encoded columns. Raises ValueError when none is
    named or one is not a feature.
    """
    places = list(
        dict.fromkeys(i for name in columns for i in columns_of(name, feature_names))
    )
    identity = np.eye(len(feature_names))
    labels = [feature_names[i] for i in places]
    return FairMetric.ignoring(feature_names, identity[:, places], labels)


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
    chosen = list(columns)
    named = ignore_columns(chosen, feature_names) if chosen else None
    free = named.directions if named else np.zeros((rows.shape[1], 1))
    ignored = np.any(free, axis=1)
    solver = LogisticRegression(C=1 / (alpha * len(rows)), max_iter=1000)
    solver.fit(rows[:, ~ignored], codes)
    directions = np.zeros((rows.shape[1], len(solver.coef_)))
    directions[~ignored] = solver.coef_.T
    left = rows[:, ~ignored] - rows[:, ~ignored].mean(0)
    span, sizes, _ = np.linalg.svd(solver.coef_.T, full_matrices=False)
    span = span[:, sizes > _TINY * max(sizes[0], _TINY)]
    if np.linalg.norm(left - left @ span @ span.T) <= 1e-6 * np.linalg.norm(left):
        # scikit-learn's checks ask for "1 feature(s)"
        raise ValueError(
            f"The directions that predict {len(groups)} groups span all that the "
            f"{left.shape[1]} feature(s) left vary in, so that any two people "
            "would be alike. Merge groups, or choose columns that should not count "
            "instead."
        )
    shown = [value_label(group) for group in groups]
    labels = shown if len(solver.coef_) > 1 else [shown[1]]
    labels = [f"predicts {label}" for label in labels]
    learned = FairMetric.ignoring(feature_names, directions, labels)
    return named | learned if named else learned


def comparable_directions(
    X: ArrayLike,
    comparable: ArrayLike,
    feature_names: Sequence[str],
    *,
    n_directions: int = 25,
) -> FairMetric:
    """Return the metric that ignores how comparable rows differ.

    Rows with one value of ``comparable`` should be treated alike: a sentence and the
    same one about somebody else. Each such set is centred; the main singular vectors of
    what remains are free, as in Mukherjee et al. (2020), Algorithm 1. Two aligned
    tables are sets of two: `pair_tables`.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
    comparable : array-like of shape (n_rows,)
        Which set a row belongs to; a row alone, or without a set, is excluded.
    n_directions : int, default=25
        Most directions; fewer when the rows differ in fewer.

    Returns
    -------
    FairMetric
        Its ``explained`` are shares of the variation within sets.

    Raises
    ------
    ValueError
        When no two rows are comparable, or comparable rows are the same.
    """
    check_whole("n_directions", n_directions, at_least=1)
    rows = np.asarray(X, np.float64)
    sets = pd.Series(np.asarray(comparable))
    check_lengths(rows, sets)
    codes, _ = pd.factorize(sets)
    sizes = np.bincount(codes[codes >= 0])
    together = (codes >= 0) & (np.append(sizes, 0)[codes] > 1)
    if not together.any():
        raise ValueError(
            "No two rows are comparable: every value of the pair id occurs once. Name "
            "the column that counterfactual rows share."
        )
    centred = pd.DataFrame(rows[together])
    centred = centred - centred.groupby(codes[together]).transform("mean")
    values = centred.to_numpy()
    total = float((values**2).sum())
    if total == 0:
        raise ValueError(
            "Comparable rows are equal in every feature: there is no sensitive "
            "direction to learn."
        )
    vectors = np.linalg.svd(values, full_matrices=False)[2].T
    shares = ((values @ vectors) ** 2).sum(0) / total
    kept = np.flatnonzero(shares > 1e-10)[:n_directions]
    labels = [f"pairs {i + 1}" for i in range(len(kept))]
    return FairMetric.ignoring(feature_names, vectors[:, kept], labels, shares[kept])


def pair_tables(
    X: ArrayLike, X_counterfactual: ArrayLike
) -> tuple[Float, NDArray[np.int64]]:
    """Return two aligned tables as one, and the pair of every row.

    Raises ValueError when they have not the same rows and columns.
    """
    first = np.asarray(X, np.float64)
    second = np.asarray(X_counterfactual, np.float64)
    if first.shape != second.shape or first.ndim != 2:
        message = "Counterfactual pairs do not align: the tables have shapes"
        raise ValueError(
            f"{message} {first.shape} and {second.shape}. Row i of one must be the "
            "counterfactual of row i of the other, in the same columns."
        )
    pairs = np.arange(len(first))
    return np.vstack([first, second]), np.concatenate([pairs, pairs])


def explore(
    X: ArrayLike,
    X_other: ArrayLike,
    comparable: ArrayLike,
    feature_names: Sequence[str],
    *,
    alpha: float = 1e-3,
    max_iter: int = 500,
) -> FairMetric:
    r"""Learn a positive semidefinite matrix from labelled pairs.

    Maximises the likelihood of

    .. math:: P(\text{comparable} \mid x, x') = \frac{2}{1 + e^{d}}, \quad
        d = (x - x')^T \Sigma (x - x'), \quad \Sigma = L L^T

    less :math:`\frac{\alpha}{2} \lVert L \rVert^2`, by L-BFGS on L.

    Parameters
    ----------
    X, X_other : array-like of shape (n_pairs, d)
        Row i of one and row i of the other are a pair.
    comparable : array-like of shape (n_pairs,)
        1 where a pair should be treated alike, 0 where not.
    feature_names : sequence of str
    alpha : float, default=1e-3
        Ridge penalty; without one, separable labels have no solution.

    Returns
    -------
    FairMetric
        Its ``sigma`` is learned; ``directions`` are the eigenvectors whose eigenvalue
        is below a thousandth of the largest.

    Raises
    ------
    ValueError
        When pairs do not align or all have the same label.

    Warns
    -----
    ConvergenceWarning
        When ``max_iter`` steps do not end at the optimum.

    References
    ----------
    Mukherjee et al., *Two simple ways to learn individual fairness metrics from data*
    (ICML 2020), section 2.2.
    """
    check_positive("alpha", alpha)
    first, second = np.asarray(X, np.float64), np.asarray(X_other, np.float64)
    labels = np.asarray(comparable, np.float64)
    if first.shape != second.shape:
        message = f"Pairs do not align: shapes {first.shape} and {second.shape}"
        raise ValueError(f"{message}; row i of both tables must be one pair.")
    check_lengths(first, labels)
    if set(np.unique(labels)) != {0.0, 1.0}:
        raise ValueError(
            "`comparable` must be 0 and 1, with pairs of both kinds, got "
            f"{np.unique(labels).tolist()}."
        )
    difference = first - second
    d = difference.shape[1]

    def loss(flat: Float) -> tuple[float, Float]:
        factor = flat.reshape(d, d)
        moved = difference @ factor
        distance = (moved**2).sum(1)
        value, slope = _negative_log_likelihood(distance, labels)
        gradient = 2 * (difference * slope[:, None]).T @ moved / len(labels)
        ridge = 0.5 * alpha * (flat @ flat)
        return float(value.mean() + ridge), (gradient + alpha * factor).ravel()

    scale = np.sqrt(max(_TINY, np.median((difference**2).sum(1))))
    start = (np.eye(d) / scale).ravel()
    solved = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}
    )
    if solved.status == _CUT_SHORT:
        message = f"Pairs were learned from for {max_iter} steps without an end"
        warnings.warn(f"{message}; raise `max_iter`.", ConvergenceWarning, stacklevel=2)
    factor = solved.x.reshape(d, d)
    sigma = factor @ factor.T
    free = free_of(sigma)
    named = [f"learned {k + 1}" for k in range(free.shape[1])]
    names = tuple(map(str, feature_names))
    shares = (np.nan,) * len(named)
    return FairMetric(names, free, tuple(named), shares, sigma)


def _negative_log_likelihood(distance: Float, labels: Float) -> tuple[Float, Float]:
    """Return the loss of every pair and its slope in the distance."""
    # comparable: log(1 + e^d) - log 2; not: -log(1 - 2 / (1 + e^d)) = -log tanh(d/2)
    d = np.maximum(distance, _TINY)
    alike = np.logaddexp(0, d) - np.log(2)
    unlike = -np.log(np.tanh(d / 2))
    alike_slope = 1 / (1 + np.exp(-d))
    unlike_slope = -1 / np.sinh(np.minimum(d, 700.0))
    loss = np.where(labels == 1, alike, unlike)
    slope = np.where(labels == 1, alike_slope, unlike_slope)
    return loss, slope
