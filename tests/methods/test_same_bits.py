"""The same setting is the same model, bit for bit, however a grid is cut."""

import numpy as np
import pytest
import torch
from cases import sampled

from fairdash.methods import ROAD, NoisyGroupsDRO, SenSeI

LAMBDA = (0, 0.5, 1, 2, 5, 9)
TAU = (0.05, 0.1, 0.3, 0.6, 1, 2)
POINTS = [
    {"fairness_weight": weight, "tau": tau, "fair_radius": tau, "slack": tau / 10}
    | {"tv_radius": tau / 4}
    for weight, tau in zip(LAMBDA, TAU, strict=True)
]
CUTS = {
    "alone": [[0], [5]],
    "reversed": [[5, 4, 3, 2, 1, 0]],
    "what is left of a run": [[1, 4]],
    "every other": [[0, 2, 4], [5, 3, 1]],
}
# A network with its adversary, one with a search, a game without a network. Rounding
# that differs with a stack's size shows after a long training: the first has one
CASES = [
    (ROAD, {"constraints": "equalized_odds", "n_epochs": 100}, "mixed", 3, "alone"),
    (SenSeI, {"n_epochs": 30}, "dense", 2, None),
    (NoisyGroupsDRO, {"max_iter": 300}, "mixed", 2, None),
]


def rows(columns, n_groups, n=160):
    """Return X, y and groups; with batches of 48 the last one has 16 rows."""
    rng = np.random.default_rng(0)
    group = rng.integers(n_groups, size=n)
    numbers = rng.normal(size=(n, 5)) + group[:, None]
    levels = np.hstack([np.eye(20)[rng.integers(20, size=n)] for _ in range(2)])
    X = {"dense": [numbers], "mixed": [numbers, levels]}[columns]
    y = numbers[:, 0] + rng.logistic(size=n) > numbers[:, 0].mean()
    return np.hstack(X).astype(np.float32), y.astype(int), group


def bits(model):
    """Return all that a fitted model holds, as bytes."""
    arrays = [*model.network_.arrays().values(), model.history_.to_numpy()]
    if model.ratio_ is not None:
        arrays += [model.ratio_, model.ratio_history_["ratio"]]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def fit(cls, settings, data, places):
    X, y, groups = data
    model = cls(random_state=0).set_params(**settings)
    if "batch_size" in model.get_params() and "batch_size" not in settings:
        model.set_params(batch_size=48)
    points = [
        {k: v for k, v in POINTS[i].items() if k in cls._stackable} for i in places
    ]
    return [bits(m) for m in model.fit_many(points, X, y, sensitive_features=groups)]


@pytest.mark.parametrize("cls, settings, columns, n_groups, cut", sampled(CASES, 2))
def test_a_model_has_the_same_bits_in_any_stack(
    cls, settings, columns, n_groups, cut, monkeypatch
):
    monkeypatch.setattr("fairdash.methods.network.classifier.CACHED_ROWS", 10**6)
    data = rows(columns, n_groups)
    together = fit(cls, settings, data, range(6))
    for name in [cut] if cut else CUTS:
        for places in CUTS[name]:
            for place, alone in zip(
                places, fit(cls, settings, data, places), strict=True
            ):
                assert alone == together[place], f"{name}, point {place}"


def test_a_model_has_the_same_bits_whatever_the_number_of_threads():
    data = rows("mixed", 2, n=3000)
    few = {"n_epochs": 2, "batch_size": 512}
    threads = torch.get_num_threads()
    try:
        models = []
        for n_threads in (1, 2):
            torch.set_num_threads(n_threads)
            models.append(fit(ROAD, few, data, [0, 3]))
            assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(threads)
    assert models[0] == models[1]
