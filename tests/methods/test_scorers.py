"""What a trial keeps scores rows as the estimator did."""

import numpy as np
import pytest
from safetensors import numpy as safetensors

from fairdash.methods import CATALOG, scorer_of

QUICK = {
    "n_epochs": 1,
    "batch_size": 64,
    "max_iter": 25,
    "n_rounds": 2,
    "n_responses": 2,
    "n_estimators": 7,
    "grid_size": 3,
    "cv": 2,
    "n_settings": 2,
}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3)).astype(np.float32)
    group = rng.choice(["a", "b"], 240)
    y = (X[:, 0] + 0.7 * (group == "a") + rng.logistic(size=240) > 0).astype(int)
    return X, y, group


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("key", CATALOG)
def test_stored_arrays_score_as_the_estimator(key, people):
    X, y, group = people
    method = CATALOG[key]
    known = {param.name for param in method.params}
    settings = method.settings({n: v for n, v in QUICK.items() if n in known})
    model = method.estimator(settings, random_state=0)
    if method.needs_names:
        model.set_params(feature_names=["x1", "x2", "x3"])
    model.fit(X[:160], y[:160], sensitive_features=group[:160])
    told = {"sensitive_features": group} if method.needs_groups else {}
    expected = model.predict_proba(X, **told)[:, 1]
    stored = safetensors.load(
        safetensors.save(
            {n: np.ascontiguousarray(a) for n, a in model.network_.arrays().items()}
        )
    )
    scored = scorer_of(stored).positive(X, np.unique(group, return_inverse=True)[1])
    np.testing.assert_allclose(scored, expected, atol=1e-6)
    assert np.ptp(scored) > 0


def test_scores_alone_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="Delete its runs and train it again"):
        scorer_of({})
