"""Random mixtures: what is promised of chances holds for decisions that are drawn."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from fairdash.methods import CATALOG, is_mixture, scorer_of
from fairdash.metrics import Drawn, evaluate

SETTINGS = {
    "reductions": {"tolerance": 0.02},
    "hardt": {},
    "noisy_ideal": {
        "n_rounds": 40,
        "noise_level": 0.01,
        "slack": 0.02,
        "constraints": "demographic_parity",
    },
}
MIXTURES = [key for key, method in CATALOG.items() if method.mixture]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=1500)
    X = rng.normal(size=(1500, 4)).astype(np.float32)
    X[:, 0] += 1.5 * group
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=1500) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[group]


@pytest.fixture(scope="module")
def fitted(rows):
    X, y, groups = rows
    models = {}
    for key in MIXTURES:
        cls = CATALOG[key].estimator_class()
        model = cls(**SETTINGS[key], random_state=0)
        models[key] = model.fit(X, y, sensitive_features=groups)
    return models


def routed(key, groups):
    return {"sensitive_features": groups} if CATALOG[key].needs_groups else {}


def gap(decided, groups):
    return abs(
        decided[..., groups == "a"].mean(-1) - decided[..., groups == "b"].mean(-1)
    )


def test_each_mixture_of_the_catalog_is_tested_here():
    assert set(SETTINGS) == set(MIXTURES)


@pytest.mark.parametrize("key", MIXTURES)
def test_class_tag_catalog_and_stored_form_say_that_it_is_one(key, fitted):
    model = fitted[key]
    assert get_tags(model).mixture
    assert is_mixture(model.network_)
    assert is_mixture(scorer_of(model.network_.arrays()))


@pytest.mark.parametrize("key", ["grid_reductions", "noisy_soft", "logistic"])
def test_one_model_chosen_among_several_is_none(key, rows):
    X, y, groups = rows
    short = {"max_iter": 20} if key == "noisy_soft" else {}
    model = CATALOG[key].estimator_class()(**short)
    model.fit(X, y, sensitive_features=groups)
    assert not CATALOG[key].mixture
    assert not get_tags(model).mixture
    assert not is_mixture(model.network_)
    likelier = model.classes_[(model.predict_proba(X)[:, 1] > 0.5).astype(int)]
    np.testing.assert_array_equal(model.predict(X), likelier)


@pytest.mark.parametrize("key", MIXTURES)
def test_drawn_decisions_have_the_expected_gap_and_error(key, rows, fitted):
    X, y, groups = rows
    model = fitted[key]
    arguments = routed(key, groups)
    h = model.predict_proba(X, **arguments)[:, 1]
    assert ((h > 0.05) & (h < 0.95)).any(), "nothing is drawn"
    draws = np.stack(
        [model.predict(X, random_state=k, **arguments) for k in range(300)]
    )
    rates = np.array([draws[:, groups == name].mean() for name in "ab"])
    signed = draws[:, groups == "a"].mean(1) - draws[:, groups == "b"].mean(1)
    row = evaluate(y, Drawn(h), sensitive_features=groups).iloc[0]
    expected = h[groups == "a"].mean() - h[groups == "b"].mean()
    error = 4 * signed.std() / np.sqrt(len(draws))
    assert abs(signed.mean() - expected) < error
    assert row["demographic_parity_difference"] == pytest.approx(abs(expected))
    np.testing.assert_allclose(
        rates, [h[groups == name].mean() for name in "ab"], atol=0.01
    )
    accuracy = np.mean(y * h + (1 - y) * (1 - h))
    assert row["accuracy"] == pytest.approx(accuracy)
    assert model.score(X, y, **arguments) == pytest.approx(accuracy)
    right = (draws == y).mean(1)
    assert abs(right.mean() - accuracy) < 4 * right.std() / np.sqrt(len(draws))
    weight = np.arange(len(y))
    assert model.score(X, y, sample_weight=weight, **arguments) == pytest.approx(
        np.average(y * h + (1 - y) * (1 - h), weights=weight)
    )


@pytest.mark.parametrize("key", MIXTURES)
def test_the_constraint_holds_in_expectation_over_draws(key, rows, fitted):
    X, y, groups = rows
    arguments = routed(key, groups)
    h = fitted[key].predict_proba(X, **arguments)[:, 1]
    plain = gap(LogisticRegression().fit(X, y).predict(X), groups)
    promised = {"reductions": 0.05, "hardt": 0.005, "noisy_ideal": plain / 2}[key]
    assert gap(h, groups) < promised
    draws = np.stack(
        [fitted[key].predict(X, random_state=k, **arguments) for k in range(100)]
    )
    assert gap(draws.mean(0), groups) < promised + 0.01


@pytest.mark.parametrize("key", MIXTURES)
def test_repeated_calls_agree_whatever_the_batch_and_the_seed_decides(
    key, rows, fitted
):
    X, _, groups = rows
    model = fitted[key]
    whole = model.predict(X, **routed(key, groups))
    np.testing.assert_array_equal(whole, model.predict(X, **routed(key, groups)))
    some = np.random.default_rng(0).permutation(len(X))[:400]
    np.testing.assert_array_equal(
        model.predict(X[some], **routed(key, groups[some])), whole[some]
    )
    other_draw = model.predict(X, random_state=1, **routed(key, groups))
    assert (other_draw != whole).any()
    anew = [model.predict(X, random_state=None, **routed(key, groups)) for _ in "ab"]
    assert (anew[0] != anew[1]).any()


def test_a_pipeline_hands_the_seed_on(rows):
    X, y, groups = rows
    with sklearn.config_context(enable_metadata_routing=True):
        model = CATALOG["reductions"].estimator_class()()
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(X, y, sensitive_features=groups)
        first, second = (pipeline.predict(X, random_state=k) for k in (0, 1))
    assert (first != second).any()


def test_chances_and_drawn_decisions_are_those_of_fairlearn(rows):
    reductions = pytest.importorskip("fairlearn.reductions")
    X, y, groups = rows
    base = LogisticRegression(C=1 / (0.005 * len(y)), max_iter=1000, tol=1e-6)
    theirs = reductions.ExponentiatedGradient(
        base, reductions.DemographicParity(difference_bound=0.02), eps=0.02
    )
    with warnings.catch_warnings():  # fairlearn calls what pandas 4 will not have
        warnings.simplefilter("ignore", DeprecationWarning)
        theirs.fit(X, y, sensitive_features=groups)
    ours = CATALOG["reductions"].estimator_class()(tolerance=0.02, alpha=0.005)
    ours.fit(X, y, sensitive_features=groups)
    np.testing.assert_allclose(
        ours.predict_proba(X)[:, 1], theirs._pmf_predict(X)[:, 1], atol=1e-3
    )
    draws = [
        np.stack([model.predict(X, random_state=k) for k in range(200)])
        for model in (ours, theirs)
    ]
    gaps, wrong = (
        [figure(each) for each in draws]
        for figure in (
            lambda each: gap(each, groups).mean(),
            lambda each: (each != y).mean(),
        )
    )
    assert gaps[0] == pytest.approx(gaps[1], abs=0.005)
    assert wrong[0] == pytest.approx(wrong[1], abs=0.005)
