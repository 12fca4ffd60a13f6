"""Training on a GPU, where there is one: the same models to within its rounding."""

import numpy as np
import pytest
import torch
from toys import people

from fairdash.methods import FAD, ROAD, AdversarialDebiasing

QUICK = {"n_epochs": 3, "batch_size": 128, "random_state": 0}
METHODS = {
    "road": [ROAD(fairness_weight=2.0, tau=tau, **QUICK) for tau in (0.2, 0.6)],
    "adversarial": [
        AdversarialDebiasing(fairness_weight=weight, **QUICK) for weight in (0.5, 2.0)
    ],
    "fad": [FAD(fairness_weight=weight, **QUICK) for weight in (0.5, 2.0)],
}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("method", METHODS)
def test_a_stack_trains_on_a_gpu_as_on_a_cpu(method):
    table = people(600)
    X = table[["age", "skill"]].to_numpy(float)
    y = (table["hired"] == "yes").to_numpy(int)
    first, *_ = METHODS[method]
    points = [each.get_params() for each in METHODS[method]]
    scores = {}
    for device in ("cpu", "cuda"):
        models = type(first)().fit_many(
            [{**point, "device": device} for point in points],
            X,
            y,
            sensitive_features=table["origin"],
        )
        scores[device] = np.stack([model.predict_proba(X)[:, 1] for model in models])
    assert np.isfinite(scores["cuda"]).all()
    assert np.ptp(scores["cuda"], axis=1).min() > 0.05  # they have learned
    np.testing.assert_allclose(scores["cuda"], scores["cpu"], atol=0.02)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_said_what_to_do():
    model = ROAD(device="cuda", **QUICK)
    table = people(100)
    with pytest.raises(ValueError, match="torch finds no GPU; use 'auto'"):
        model.fit(
            table[["age"]],
            (table["hired"] == "yes").astype(int),
            sensitive_features=table["origin"],
        )
