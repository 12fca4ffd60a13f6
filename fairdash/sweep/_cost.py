"""How much work a model is, in multiply-adds: what decides where time goes."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from itertools import pairwise
from typing import Any

PREDICTOR, ADVERSARY = (64, 32, 1), (1, 64, 32, 16, 1)
EXACT_PASSES = 100  # over the rows, of a method that has no epochs


def work(params: Mapping[str, Any], *, n_rows: int, n_features: int) -> float:
    """Return about how many multiply-adds training one model takes.

    Counts forward and backward passes of the usual layers: predictor, adversary and
    ratio network, each with its number of steps. It ranks models and, with a speed
    measured on a machine, foretells their time.

    Parameters
    ----------
    params : mapping
        All parameters of a method, as of a trial.
    n_rows : int
        Training rows.
    n_features : int
        Columns after encoding that are multiplied: `n_multiplied_columns`.
    """
    predictor = _products(n_features, *PREDICTOR)
    if "n_epochs" not in params:
        return float(EXACT_PASSES * n_rows * n_features)
    per_row = 3 * predictor
    per_row += 3 * params.get("n_adversary_steps", 0) * _products(*ADVERSARY)
    per_row += 3 * params.get("n_ratio_steps", 0) * (predictor + PREDICTOR[0])
    search = params.get("n_subspace_steps", 0) + params.get("n_full_steps", 0)
    per_row += 2 * search * predictor
    return float(params["n_epochs"] * n_rows * per_row)


def makespan(seconds: Sequence[float], n_workers: int) -> float:
    """Return how long tasks take that free workers take up in their order.

    Parameters
    ----------
    seconds : sequence of float
        Of each task; `plan` puts the longest first.
    n_workers : int
    """
    busy = [0.0] * max(1, n_workers)
    heapify(busy)
    for task in seconds:
        heapreplace(busy, busy[0] + task)
    return max(busy)


def _products(*sizes: int) -> int:
    return sum(n_in * n_out for n_in, n_out in pairwise(sizes))
