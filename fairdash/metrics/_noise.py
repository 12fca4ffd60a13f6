"""What Worst-k-DI shows by chance alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole
from fairdash.metrics._cells import Counts, divide, spread
from fairdash.metrics._inputs import binary_vector
from fairdash.metrics._intervals import check_confidence
from fairdash.metrics._local import local_cells, mean_of_largest


class NoiseFloor(NamedTuple):
    """Worst-k-DI of a model that is fair inside every subgroup.

    Attributes
    ----------
    mean : float
        What to expect of it: the upward bias of the maximum.
    quantile : float
        What it stays below in, by default, 95 % of samples of this size.
    samples : ndarray of shape (n_permutations,)
    """

    mean: float
    quantile: float
    samples: NDArray[np.float64]


def noise_floor(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    k: int = 1,
    n_permutations: int = 1000,
    quantile: float = 0.95,
    random_state: int | None = 0,
) -> NoiseFloor:
    """Worst-k-DI after shuffling the group of the rows within every subgroup.

    Shuffling leaves the number of rows and of positive predictions of a subgroup as
    they are and hands out the positives to its groups without replacement. So the
    counts are drawn from the multivariate hypergeometric distribution, all
    permutations at once, and no row is moved.

    Parameters
    ----------
    y_pred, sensitive_features, subgroups, min_size
        As in :func:`local_di`, of one model.
    k : int, default=1
    n_permutations : int, default=1000
    quantile : float, default=0.95
    random_state : int or None, default=0

    Returns
    -------
    NoiseFloor; NaN if fewer than ``k`` subgroups are estimable
    """
    check_whole("n_permutations", n_permutations, at_least=1)
    check_confidence(quantile)
    predictions = binary_vector("y_pred", y_pred)
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    rows = local.cells.rows[local.estimable]
    positives = local.cells.count(predictions[None])[0][local.estimable].sum(axis=1)
    rng = np.random.default_rng(random_state)
    drawn = _hand_out(positives, rows, n_permutations, rng)
    samples = mean_of_largest(spread(divide(drawn, rows)), k)
    return NoiseFloor(
        float(samples.mean()), float(np.quantile(samples, quantile)), samples
    )


def _hand_out(
    positives: Counts, rows: Counts, times: int, rng: np.random.Generator
) -> Counts:
    """Draw (times, subgroups, groups) positives, one group after the other."""
    left = np.broadcast_to(positives.astype(np.int64), (times, len(positives)))
    sizes: NDArray[np.int64] = rows.astype(np.int64)
    drawn = []
    for group in range(sizes.shape[1] - 1):
        remaining = sizes[:, group:].sum(axis=1)
        drawn.append(rng.hypergeometric(left, remaining - left, sizes[:, group]))
        left = left - drawn[-1]
    return np.stack([*drawn, left], axis=-1).astype(np.float64)
