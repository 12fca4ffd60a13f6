"""Any classifier under every remedy; weights, labels, groups, routing."""

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from fairdash.methods import CATALOG, ROAD, FairLogLoss, scorer_of
from fairdash.methods.classical.hardt import HardtLogistic
from fairdash.methods.classical.linear import Logistic, Reweighing
from fairdash.methods.classical.plain import GradientBoosting
from fairdash.methods.classical.reductions import GridReductions, Reductions

FEW = {Reductions: {"max_iter": 3}, GridReductions: {"grid_size": 5}, HardtLogistic: {}}
SMALL = HistGradientBoostingClassifier(max_iter=10, random_state=0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=900)
    X = rng.normal(size=(900, 4))
    X[:, 0] += group
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=900) > 0.5).astype(int)
    return X, y, np.array(["a", "b"])[group]


def gap(decided, groups):
    return abs(decided[groups == "a"].mean() - decided[groups == "b"].mean())


def known(cls, groups):
    return {"sensitive_features": groups} if cls is HardtLogistic else {}


@pytest.mark.parametrize(
    "cls, name", [*zip(FEW, ["logistic", "gradient_boosting", "forest"], strict=True)]
)
def test_a_named_base_model_is_stored_as_arrays_that_predict_the_same(cls, name, rows):
    X, y, groups = rows
    model = cls(estimator=name, random_state=0, **FEW[cls])
    model.fit(X, y, sensitive_features=groups)
    positive = model.predict_proba(X, **known(cls, groups))[:, 1]
    arrays = {n: np.ascontiguousarray(a) for n, a in model.network_.arrays().items()}
    assert all(array.dtype.kind in "fi" for array in arrays.values())
    stored = scorer_of(arrays).positive(X, (groups == "b").astype(int))
    np.testing.assert_allclose(stored, positive, atol=1e-6)
    assert np.mean((positive > 0.5) == y) > 0.6


@pytest.mark.parametrize("cls", sampled([HardtLogistic, Reductions], 2))
def test_a_pipeline_gets_the_table_as_it_is_with_text_and_missing_values(cls, rows):
    X, y, groups = rows
    frame = pd.DataFrame(X, columns=list("abcd")).mask(X > 1.5)
    frame["words"] = np.where(X[:, 3] > 0, "u", None)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["words"]), remainder="passthrough"
    )
    model = cls(estimator=make_pipeline(encode, SMALL), **FEW[cls])
    model.fit(frame, y, sensitive_features=groups)
    arguments = known(cls, groups)
    plain = make_pipeline(encode, SMALL).fit(frame, y).predict(frame)
    decided = model.predict(frame, **arguments)
    assert np.mean(decided == y) > 0.65
    assert gap(decided, groups) < gap(plain, groups)
    assert model.network_.arrays() == {}  # a program is never stored


@pytest.mark.parametrize(
    "estimator, message",
    [
        ("boosting", "`estimator` must be one of .*'gradient_boosting'"),
        (StandardScaler(), "`estimator` must have `fit` and `predict_proba`"),
        (KNeighborsClassifier(), "KNeighborsClassifier takes no `sample_weight`"),
    ],
)
def test_what_no_remedy_can_carry_is_named(estimator, message, rows):
    X, y, groups = rows
    with pytest.raises(ValueError, match=message):
        Reweighing(estimator=estimator).fit(X, y, sensitive_features=groups)


EXACT = {  # by key: settings that make it short
    "logistic": {},
    "hinge": {"max_iter": 50},
    "fair_log_loss": {"constraints": "equalized_odds"},
    "reductions": {"max_iter": 3},
    "grid_reductions": {"constraints": "true_positive_rate_parity", "grid_size": 5},
    "reweighing": {"estimator": GaussianNB()},
    "covariance": {"covariance_bound": 0.05},
    "hardt": {"constraints": "equalized_odds"},
    "noisy_naive": {"max_iter": 50},
    "noisy_dro": {"max_iter": 50, "random_state": 0},
    "noisy_soft": {"max_iter": 50},
    "noisy_ideal": {"n_rounds": 2, "n_responses": 2},
}


@pytest.mark.parametrize("key", EXACT)
def test_whole_weights_are_rows_that_often(key, rows):
    X, y, groups = rows
    model = CATALOG[key].estimator_class()(**EXACT[key])
    arguments = {"sensitive_features": groups} if CATALOG[key].needs_groups else {}
    weight = np.arange(900) % 3
    often = np.repeat(np.arange(900), weight)

    def positive(rows, **more):
        model.fit(X[rows], y[rows], sensitive_features=groups[rows], **more)
        return model.predict_proba(X, **arguments)[:, 1]

    weighted = positive(slice(None), sample_weight=weight)
    np.testing.assert_allclose(weighted, positive(often), atol=1e-6)
    assert np.abs(weighted - positive(slice(None))).max() > 0.01


def test_a_network_sees_rows_as_often_as_they_weigh(rows):
    X, y, groups = rows
    heavy = np.where(y == 1, 9.0, 1.0)
    short = ROAD(
        n_epochs=10,
        batch_size=64,
        fairness_weight=0.0,
        n_adversary_steps=1,
        n_ratio_steps=1,
        random_state=0,
    )
    light = short.fit(X, y, sensitive_features=groups).predict(X).mean()
    weighted = short.fit(X, y, sensitive_features=groups, sample_weight=heavy)
    assert weighted.predict(X).mean() > light + 0.2
    alone = short.fit(X, y, sensitive_features=groups, sample_weight=(y == 1) * 1.0)
    assert alone.predict(X).mean() > 0.99  # rows of no weight are not seen


def test_every_method_but_one_counts_weights():
    refusing = [key for key, method in CATALOG.items() if method.no_weights]
    assert refusing == ["rule_list"]  # its search counts rows; the catalog says so


def test_labels_of_any_two_values_have_the_positive_one_that_is_named(rows):
    X, y, groups = rows
    words = np.where(y == 1, "grant", "refuse")
    usual = Logistic().fit(X, y, sensitive_features=groups).predict_proba(X)[:, 1]
    named = Logistic(pos_label="grant").fit(X, words)
    assert named.classes_.tolist() == ["refuse", "grant"]
    np.testing.assert_allclose(named.predict_proba(X)[:, 1], usual, atol=1e-6)
    assert named.score(X, words) == np.mean((usual > 0.5) == y)
    with pytest.raises(ValueError, match="`pos_label` must be one of 'grant', 'ref"):
        Logistic(pos_label="yes").fit(X, words)


def test_groups_of_several_columns_are_crossed(rows):
    X, y, groups = rows
    young = np.where(X[:, 2] > 0, "young", "old")
    frame = pd.DataFrame({"who": groups, "age": young})
    crossed = np.char.add(np.char.add(groups, " × "), young)
    usual = Reweighing().fit(X, y, sensitive_features=crossed)
    for features in (frame, frame.to_numpy(), frame[["who", "age"]]):
        model = Reweighing().fit(X, y, sensitive_features=features)
        assert model.groups_.tolist() == usual.groups_.tolist()
        np.testing.assert_array_equal(model.predict_proba(X), usual.predict_proba(X))
    reweighing = Reweighing().fit(X, y, sensitive_features=frame[["who"]])
    assert reweighing.groups_.tolist() == ["a", "b"]


def test_groups_reach_a_search_that_predicts_with_them(rows):
    X, y, groups = rows
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), FairLogLoss())
        grid = {"fairlogloss__alpha": [0.001, 0.4]}
        search = GridSearchCV(pipeline, grid, cv=3, error_score="raise")
        search.fit(X, y, sensitive_features=groups)
        scores = cross_validate(
            HardtLogistic(), X, y, cv=3, params={"sensitive_features": groups}
        )
    assert search.best_score_ > 0.6
    assert (scores["test_score"] > 0.6).all()
    for method in CATALOG.values():
        model = method.estimator_class()()
        routing = model.get_metadata_routing()
        assert get_tags(model).needs_groups == (not model._ignores_groups)
        assert routing.fit.requests["sensitive_features"]
        assert ("sensitive_features" in routing.score.requests) == method.needs_groups


def test_weights_reach_a_model_in_a_pipeline_whose_other_steps_take_none(rows):
    X, y, groups = rows
    weight = np.linspace(0.5, 2, len(y))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QuantileTransformer(n_quantiles=50), FairLogLoss())
        pipeline.fit(X, y, sensitive_features=groups, sample_weight=weight)
    encoded = pipeline[0].transform(X)
    alone = FairLogLoss().fit(
        encoded, y, sensitive_features=groups, sample_weight=weight
    )
    plain = FairLogLoss().fit(encoded, y, sensitive_features=groups)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
    assert not np.allclose(pipeline[-1].coef_, plain.coef_)


def test_methods_that_ignore_groups_pass_scikit_learns_checks_as_they_come():
    for model in (Logistic(), GradientBoosting(max_iter=20)):
        check_estimator(model, on_fail="raise", on_skip=None)
    with pytest.raises(ValueError, match="Reductions needs `sensitive_features`"):
        Reductions().fit([[0.0], [1.0]], [0, 1])
