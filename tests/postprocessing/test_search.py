"""A post-processor's parameters can be searched as those of any estimator."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from fairdash.postprocessing import HardtThreshold, RampThreshold


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    groups = np.where(rng.random(600) < 0.4, "b", "a")
    y = (rng.random(600) < np.where(groups == "a", 0.6, 0.4)).astype(int)
    scores = np.clip(0.5 * y + 0.5 * rng.random(600), 0, 1)
    weight = rng.integers(1, 4, 600).astype(float)
    return scores, y, groups, weight


@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_is_the_expected_accuracy_of_draws(rows, weighted):
    scores, y, groups, weight = rows
    weight = weight if weighted else None
    ramp = RampThreshold(gamma=0.4).fit(scores, y, sensitive_features=groups)
    score = ramp.score(scores, y, sensitive_features=groups, sample_weight=weight)
    drawn = [
        np.average(
            ramp.predict(scores, sensitive_features=groups, random_state=seed) == y,
            weights=weight,
        )
        for seed in range(300)
    ]
    assert score == pytest.approx(np.mean(drawn), abs=0.005)


@pytest.mark.parametrize(
    "model, grid",
    [
        (RampThreshold(gamma=0.1), {"gamma": [0.01, 0.2, 0.9]}),
        (HardtThreshold("true_positive_rate_parity"), {"tolerance": [0.0, 0.2]}),
    ],
)
def test_a_search_finds_the_setting_of_best_expected_accuracy(rows, model, grid):
    scores, y, groups, weight = rows
    folds = [(np.arange(300), np.arange(300, 600))]
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(model, grid, cv=folds, error_score="raise")
        search.fit(scores, y, sensitive_features=groups, sample_weight=weight)
    ((name, values),) = grid.items()
    expected = []
    for value in values:
        fitted = type(model)(**{**model.get_params(), name: value}).fit(
            scores[:300],
            y[:300],
            sensitive_features=groups[:300],
            sample_weight=weight[:300],
        )
        h = fitted.predict_proba(scores[300:], sensitive_features=groups[300:])
        right = np.where(y[300:] == 1, h, 1 - h)
        expected.append((right * weight[300:]).sum() / weight[300:].sum())
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)


def test_outcomes_that_are_not_0_and_1_are_refused(rows):
    scores, y, groups, _ = rows
    ramp = RampThreshold(gamma=0.4).fit(scores, y, sensitive_features=groups)
    with pytest.raises(ValueError, match="`y`"):
        ramp.score(scores, y + 1, sensitive_features=groups)
