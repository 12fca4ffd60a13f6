"""A fair metric learned from rows that somebody says are comparable."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_whole
from fairdash.metrics.individual import FairMetric, unit_vectors

N_DIRECTIONS = 10
_RANK = 1e-9  # of the largest variation: directions below it are rounding


def comparable_directions(
    X: ArrayLike,
    comparable: ArrayLike,
    feature_names: Sequence[str],
    *,
    columns: Iterable[str] = (),
    n_directions: int = N_DIRECTIONS,
) -> FairMetric:
    r"""Return the metric that ignores in what comparable rows differ.

    Rows with the same value of ``comparable`` are said to differ in nothing that should
    count: a pair of people, or one sentence with another name in it. With
    :math:`\bar x_g` the mean of the rows of a value, the directions are the first right
    singular vectors of the rows :math:`x_i - \bar x_{g(i)}`.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
    comparable : array-like of shape (n_rows,)
        Which rows are comparable: those of one value. Missing values are comparable
        with nothing.
    feature_names : sequence of str
    columns : iterable of str
        Ignored as well, and no part of the decomposition.
    n_directions : int, default=10
        Most directions, those of most variation first. With fewer that comparable rows
        differ in, all of them.

    Raises
    ------
    ValueError
        When no two rows have the same value, those that do are the same, a column is
        not a feature, or the directions leave nothing in which people differ.

    References
    ----------
    Mukherjee, Yurochkin, Banerjee and Sun, Two simple ways to learn individual fairness
    metrics from data (ICML 2020), Algorithm 1 (FACE).

    Examples
    --------
    >>> import numpy as np
    >>> from fairdash.metrics import comparable_directions
    >>> X = np.array([[1.0, 0.0], [1.0, 2.0], [5.0, 1.0], [5.0, 4.0]])
    >>> metric = comparable_directions(X, ["a", "a", "b", "b"], ["skill", "name"])
    >>> metric.distance(X[0], X[1]).item()  # they differ in the name only
    0.0
    """
    check_whole("n_directions", n_directions, at_least=1)
    rows = np.asarray(X, np.float64)
    codes = pd.factorize(np.asarray(comparable, dtype=object))[0]
    check_lengths(rows, codes)
    named = unit_vectors(columns, feature_names)
    unnamed = ~named.any(axis=1)
    centred = _centred(rows[:, unnamed], codes)
    variation, vectors = np.linalg.eigh(centred.T @ centred)
    largest = float(variation[-1]) if len(variation) else 0.0
    if largest <= 0:
        raise ValueError(
            "Comparable rows are the same in every column, so they say nothing about "
            "what should not count. Choose another column, or more features."
        )
    n_known = int((variation > _RANK * largest).sum())
    n_used = min(n_directions, n_known)
    if n_used == unnamed.sum():
        raise ValueError(
            f"Comparable rows differ in all {n_used} directions that there are. So any "
            f"two people would be alike. Set `n_directions` below {n_used}."
        )
    learned = np.zeros((rows.shape[1], n_used))
    learned[unnamed] = vectors[:, ::-1][:, :n_used]
    return FairMetric.ignoring(feature_names, np.hstack([named, learned]))


def _centred(
    rows: NDArray[np.float64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the rows that have a comparable one, less the mean of these."""
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    paired = (codes >= 0) & (sizes[codes] > 1)
    if not paired.any():
        raise ValueError(
            "No two of these rows have one value in the column of comparable rows. "
            "It must repeat: the number of a pair, or of a text."
        )
    codes = np.unique(codes[paired], return_inverse=True)[1]
    means = np.zeros((codes.max() + 1, rows.shape[1]))
    np.add.at(means, codes, rows[paired])
    means /= np.bincount(codes)[:, None]
    centred: NDArray[np.float64] = rows[paired] - means[codes]
    return centred
