"""The most differently treated counterparts of a model without slopes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairdash._validation import check_non_negative, check_whole
from fairdash.metrics._fair_metric import FairMetric, Float
from fairdash.metrics._worst_case import FreeRange, Reach, WorstCase


def random_worst_case(
    score: Callable[[Float], ArrayLike],
    X: ArrayLike,
    metric: FairMetric,
    *,
    radius: float = 0.0,
    free: FreeRange | None = None,
    n_tries: int = 60,
    random_state: int = 0,
) -> WorstCase:
    r"""Try counterparts of each row, and keep the one scored most differently.

    For models that have no slope to follow, such as forests. The first half of the
    tries is spread over what `worst_case` may reach: free coordinates at their ends or
    between, other moves at the full distance; the second half changes parts of the best
    so far.

    Parameters
    ----------
    score : callable
        Returns P(1) of encoded rows, in their order.
    X : array-like of shape (n_rows, d)
    metric : FairMetric
    radius : float, default=0
        Largest squared fair distance.
    free : FreeRange, optional
        By default that of ``X``.
    n_tries : int, default=60
        Counterparts scored for each row.
    random_state : int, default=0

    Returns
    -------
    WorstCase
        ``value`` is :math:`\lvert P(x') - P(x) \rvert`; a search, so from below, and
        weaker than one along slopes.
    """
    check_non_negative("radius", radius)
    check_whole("n_tries", n_tries, at_least=1)
    rows = np.asarray(X, np.float64)
    reach = Reach(
        rows, metric, free or FreeRange.of(rows, metric), float(np.sqrt(radius))
    )
    rng = np.random.default_rng(random_state)
    before = np.asarray(score(rows), np.float64)
    u, delta = np.zeros_like(reach.coordinates), np.zeros_like(rows)
    best = np.zeros(len(rows))
    for attempt in range(n_tries):
        next_u, next_delta = _anywhere(reach, rng)
        if attempt >= n_tries // 2:
            next_u = np.where(rng.random(u.shape) < 0.5, u, next_u)
            next_delta = reach.within(delta + rng.random((len(rows), 1)) * next_delta)
        scored = np.asarray(score(reach.at(next_u, next_delta)), np.float64)
        value = np.abs(scored - before)
        better = (value > best)[:, None]
        u, delta = np.where(better, next_u, u), np.where(better, next_delta, delta)
        best = np.maximum(best, value)
    there = reach.at(u, delta)
    return WorstCase(there, best, metric.distance(rows, there))


def _anywhere(reach: Reach, rng: np.random.Generator) -> tuple[Float, Float]:
    """Draw moves: free ones mostly to an end, others as far as is allowed."""
    inside = rng.uniform(reach.low, reach.high)
    end = np.where(rng.random(inside.shape) < 0.5, reach.low, reach.high)
    u = np.where(rng.random(inside.shape) < 0.7, end, inside)
    _, delta = reach.towards(rng.normal(size=reach.rows.shape))
    return u, delta
