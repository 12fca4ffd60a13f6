"""The same setting is the same model, bit for bit, however a grid is cut."""

import numpy as np
import pytest
import torch

from fairdash.methods import (
    BROAD,
    CLP,
    CUMA,
    FAD,
    GLIF,
    ROAD,
    AdversarialDebiasing,
    NoisyGroupsDRO,
    NoisyGroupsNaive,
    NoisyGroupsSoft,
    SenSeI,
    SenSR,
)
from fairdash.methods import Unconstrained as Plain

LAMBDA, TAU = (0, 0.5, 1, 2, 5, 9), (0.05, 0.1, 0.3, 0.6, 1, 2)
POINTS = [
    {"fairness_weight": weight, "tau": tau, "fair_radius": tau, "slack": tau / 10}
    | {"tv_radius": tau / 4, "noise_level": tau / 8}
    for weight, tau in zip(LAMBDA, TAU, strict=True)
]
CUTS = {
    "alone": [[0], [5]],
    "reversed": [[5, 4, 3, 2, 1, 0]],
    "shared out": [[0, 1], [2, 3, 4, 5]],
    "what is left of a run": [[1, 4]],
    "every other": [[0, 2, 4], [5, 3, 1]],
}
CASES = [
    (Plain, {}, "dense", 2),
    (Plain, {}, "one-hot", 2),
    (AdversarialDebiasing, {}, "dense", 2),
    (AdversarialDebiasing, {"constraints": "equalized_odds"}, "mixed", 3),
    (FAD, {}, "mixed", 2),
    (FAD, {"constraints": "equalized_odds"}, "dense", 3),
    (CUMA, {}, "mixed", 2),
    (CUMA, {"constraints": "equalized_odds"}, "dense", 3),
    (ROAD, {}, "dense", 2),
    (ROAD, {"constraints": "equalized_odds"}, "mixed", 3),
    (ROAD, {"normalisation": "global"}, "one-hot", 5),
    (ROAD, {"predictor_layers": "simple", "ratio_layers": (10, 7)}, "mixed", 2),
    (BROAD, {}, "mixed", 2),
    (BROAD, {"constraints": "equalized_odds"}, "dense", 4),
    (SenSeI, {}, "dense", 2),
    (SenSeI, {}, "mixed", 3),
    (SenSR, {}, "mixed", 2),
    (CLP, {}, "dense", 3),
    (GLIF, {}, "mixed", 3),
    (NoisyGroupsNaive, {"constraints": "equalized_odds"}, "dense", 2),
    (NoisyGroupsDRO, {}, "dense", 3),
    (NoisyGroupsDRO, {"mode": "exact"}, "mixed", 2),
    (NoisyGroupsSoft, {"constraints": "demographic_parity"}, "dense", 3),
    (NoisyGroupsSoft, {"mode": "exact"}, "dense", 2),
]


def rows(columns, n_groups, n=160):
    """Return X, y and groups; with batches of 48 the last one has 16 rows."""
    rng = np.random.default_rng(0)
    group = rng.integers(n_groups, size=n)
    numbers = rng.normal(size=(n, 5)) + group[:, None]
    levels = np.hstack([np.eye(20)[rng.integers(20, size=n)] for _ in range(2)])
    X = {"dense": [numbers], "mixed": [numbers, levels], "one-hot": [levels]}[columns]
    y = numbers[:, 0] + rng.logistic(size=n) > numbers[:, 0].mean()
    return np.hstack(X).astype(np.float32), y.astype(int), group


def bits(model):
    """Return all that a fitted model holds, as bytes."""
    arrays = [*model.network_.arrays().values(), model.history_.to_numpy()]
    if model.ratio_ is not None:
        arrays += [model.ratio_, model.ratio_history_["ratio"]]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def fit(cls, settings, data, places, **more):
    X, y, groups = data
    model = cls(random_state=0).set_params(**settings)
    full = {"n_epochs": 40, "batch_size": 48, "max_iter": 750} | more
    model.set_params(**{k: v for k, v in full.items() if k in model.get_params()})
    points = [
        {k: v for k, v in POINTS[i].items() if k in cls._stackable} for i in places
    ]
    return [bits(m) for m in model.fit_many(points, X, y, sensitive_features=groups)]


@pytest.mark.parametrize("cls, settings, columns, n_groups", CASES)
def test_a_model_has_the_same_bits_in_any_stack(
    cls, settings, columns, n_groups, monkeypatch
):
    monkeypatch.setattr("fairdash.methods.network.classifier.CACHED_ROWS", 10**6)
    data = rows(columns, n_groups)
    together = fit(cls, settings, data, range(6))
    for name, parts in CUTS.items():
        for places in parts:
            for place, alone in zip(
                places, fit(cls, settings, data, places), strict=True
            ):
                assert alone == together[place], f"{name}, point {place}"


@pytest.mark.parametrize("cls", [ROAD, SenSeI])
def test_a_model_has_the_same_bits_whatever_the_number_of_threads(cls):
    data = rows("mixed", 2, n=3000)
    threads = torch.get_num_threads()
    try:
        found = []
        for n_threads in (1, 2):
            torch.set_num_threads(n_threads)
            found.append(fit(cls, {}, data, [0, 3], n_epochs=2, batch_size=512))
            assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(threads)
    assert found[0] == found[1]
