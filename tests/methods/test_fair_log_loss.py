"""Fair log-loss: certified cases, derivatives, random problems, prediction, errors."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from fairdash.methods import FairLogLoss, fair_log_loss_multiplier
from fairdash.methods.log_loss.truncation import TruncatedLogistic, play

CONSTRAINTS = ["demographic_parity", "equalized_odds", "true_positive_rate_parity"]
KINDS = [
    "plain", "separable", "tied", "imbalanced", "nearly empty cell", "collinear", "wide"
]  # fmt: skip

# one feature, x, outcome, group; the optimum is on the kink, where no row is truncated
KINK_X = [
    *(-1.2, -0.8, -0.5, -0.1, 0.2, 0.4, 0.9, 1.3, 1.8),
    *(-1.4, -0.7, -0.2, 0.3, 0.8, 1.2, 1.6),
]
KINK_Y = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0]
KINK_A = [1] * 9 + [0] * 7

E1 = [0.9, 0.7, 0.55, 0.3]
E0 = [0.6, 0.25, 0.2, 0.1, 0.05]


def problem(seed):
    """A random problem: features, outcomes, groups, penalty."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, d = (30, 60) if kind == "wide" else (rng.integers(20, 300), rng.integers(1, 8))
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    s = (rng.random(n) < (0.08 if kind == "imbalanced" else 0.5)).astype(int)
    if seed % 5 == 4:
        s = rng.integers(0, 3, n)
    s[:6] = [0, 0, 1, 1, 0, 1]
    X[:, 0] += 1.5 * s
    y = (X[:, 0] + rng.logistic(size=n) > 0.5).astype(int)
    if kind == "separable":
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[:4] = [0, 1, 0, 1]
    if kind == "tied":
        X = np.round(X)
    if kind == "collinear":
        X = np.column_stack([X, X, 2 * X[:, 0] + 1])
    if kind == "nearly empty cell":
        y[s == 1] = 0
        y[3] = 1
    if s.max() == 2:
        y[np.flatnonzero(s == 2)[:2]] = [0, 1]
    return X, y, s, 10 ** rng.uniform(-5, 0)


def test_the_multiplier_of_the_certified_case():
    multiplier = fair_log_loss_multiplier(E1, E0, 9)
    assert multiplier == pytest.approx(1400 / 1521, abs=1e-12)
    value = play(np.log(E1) - np.log1p(-np.array(E1)), np.full(4, multiplier * 9 / 4))
    two = play(np.log(E0) - np.log1p(-np.array(E0)), np.full(5, -multiplier * 9 / 5))
    level = 0.4828571428571429
    np.testing.assert_allclose(value.p, [level, level, level, 0.3], atol=1e-12)
    np.testing.assert_allclose(two.p, [0.6, *[0.3964285714285714] * 4], atol=1e-12)
    np.testing.assert_allclose(value.q, [1, 1, 1, 0.7349112426035503], atol=1e-12)
    np.testing.assert_allclose(two.q, [0.20236686390532543, 0, 0, 0, 0], atol=1e-12)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
    st.integers(0, 20),
)
def test_the_multiplier_makes_the_means_equal(e1, e0, others):
    n = len(e1) + len(e0) + others
    multiplier = fair_log_loss_multiplier(e1, e0, n)
    p1 = len(e1) / n
    p0 = len(e0) / n
    assert abs(multiplier) <= p1 + p0 + 1e-12
    first = np.array(e1)
    second = np.array(e0)
    one = p1
    zero = p0
    if multiplier < 0:
        first, second, one, zero = second, first, p0, p1
    if multiplier:
        first = np.minimum(first, one / abs(multiplier))
        second = np.maximum(second, 1 - zero / abs(multiplier))
    assert first.mean() == pytest.approx(second.mean(), abs=1e-9)


@pytest.mark.parametrize(
    "e1, e0, n, message",
    [
        ([], [0.5], 3, "`e1` is empty"),
        ([0.5], [1.5], 3, r"`e0` must be one row of probabilities in \[0, 1\]"),
        ([0.5], [np.nan], 3, "`e0` must be"),
        ([0.5], [0.5], 1, "`n` must be a whole number >= 2"),
    ],
)
def test_scores_that_are_not_probabilities_are_refused(e1, e0, n, message):
    with pytest.raises(ValueError, match=message):
        fair_log_loss_multiplier(e1, e0, n)


def test_the_certified_optimum_on_the_kink():
    model = FairLogLoss(alpha=0.02)
    model.fit(np.array(KINK_X)[:, None], KINK_Y, sensitive_features=KINK_A)
    assert model.coef_ == pytest.approx(0, abs=1e-8)
    assert model.intercept_ == pytest.approx(-0.23244534938802244, abs=1e-8)
    assert model.multiplier_ == pytest.approx(-0.3298075670154114, abs=1e-8)
    assert model.history_["loss"][0] == pytest.approx(0.6858983593766502, abs=1e-8)
    assert model.kkt_residual_ < 1e-11


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_random_problems_are_solved_or_a_warning_says_why(kind):
    for seed in range(kind, 70, len(KINDS)):  # every kind with three groups too
        X, y, s, alpha = problem(seed)
        for constraints in CONSTRAINTS:
            model = FairLogLoss(constraints, alpha=alpha)
            model.fit(X, y, sensitive_features=s)  # a warning would be an error
            assert model.kkt_residual_ < 1e-8, f"seed {seed}, {constraints}"


@pytest.mark.parametrize("constraints", CONSTRAINTS[::2])
@pytest.mark.parametrize("seed", [0, 5])
def test_the_optimum_is_that_of_a_search_written_from_the_definitions(
    seed, constraints
):
    X, y, s, _ = problem(seed)
    alpha = 0.05
    model = FairLogLoss(constraints, alpha=alpha).fit(X, y, sensitive_features=s)
    design = np.column_stack([X, np.ones(len(X))])
    cell = np.ones(len(y), bool) if constraints == "demographic_parity" else y == 1

    def reduced(theta):
        """max over lambda of L, with lambda from the level of the water."""
        score = expit(design @ theta)
        group_one = cell & (s == 1)
        zero = cell & (s == 0)
        lam = fair_log_loss_multiplier(score[group_one], score[zero], len(y))
        p = score.copy()
        q = score.copy()
        for rows, a in (
            (group_one, lam / group_one.mean()),
            (zero, -lam / zero.mean()),
        ):
            if a > 0:
                p[rows] = np.minimum(score[rows], 1 / a)
            elif a < 0:
                p[rows] = np.maximum(score[rows], 1 + 1 / a)
            q[rows] = p[rows] * (1 + a * (1 - p[rows]))
        # Eq. 10: expected log loss of P under Q, and what Q owes the data
        entropy = -q * np.log(p) - (1 - q) * np.log1p(-p)
        owed = (q - y) * (design @ theta)
        value = np.mean(entropy + owed) + alpha / 2 * theta @ theta
        return value, design.T @ (q - y) / len(y) + alpha * theta

    start = np.zeros(design.shape[1])
    rough = minimize(reduced, start, jac=True, method="L-BFGS-B")
    fine = minimize(
        lambda theta: reduced(theta)[0],
        rough.x,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 6000, "adaptive": True},
    )
    best = min(rough.fun, fine.fun)
    assert model.history_["loss"][0] <= best + 1e-9
    assert model.history_["loss"][0] >= best - 1e-5


@pytest.mark.parametrize(("seed", "n_groups"), [(0, 2), (14, 3)])
@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_the_constraint_holds_on_the_training_rows(constraints, seed, n_groups):
    X, y, s, _ = problem(seed)
    assert s.max() + 1 == n_groups
    model = FairLogLoss(constraints).fit(X, y, sensitive_features=s)
    truth = np.empty(len(y))
    for outcome in (0, 1):
        rows = y == outcome
        margin = model.network_.margins(X[rows], s[rows])
        truth[rows] = play(margin, model.network_.pulls[outcome][s[rows]]).p
    outcomes = {
        "demographic_parity": [(0, 1)],
        "equalized_odds": [(0,), (1,)],
        "true_positive_rate_parity": [(1,)],
    }[constraints]
    for given_outcome in outcomes:
        cell = np.isin(y, given_outcome)
        means = [truth[cell & (s == group)].mean() for group in range(n_groups)]
        assert np.ptp(means) < 1e-9


def test_a_path_over_alpha_equals_models_fitted_alone():
    X, y, s, _ = problem(0)
    points = [{"alpha": a} for a in (0.01, 0.5, 0.001)]
    points += [{"alpha": 0.01, "constraints": "equalized_odds"}]
    models = FairLogLoss().fit_many(points, X, y, sensitive_features=s)
    for point, model in zip(points, models, strict=True):
        alone = FairLogLoss(**point).fit(X, y, sensitive_features=s)
        np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-7)
        np.testing.assert_allclose(
            model.predict_proba(X, sensitive_features=s),
            alone.predict_proba(X, sensitive_features=s),
            atol=1e-7,
        )
        assert model.alpha == point["alpha"]


def test_where_both_answers_of_q_are_certain_the_plain_score_decides():
    pulls = np.array([[-3.0, 0.0], [3.0, 0.0]])  # Q(1|.,0) = 0 and Q(1|.,1) = 1
    rule = TruncatedLogistic(np.ones(1), 0.0, pulls, np.zeros(2))
    mixed = rule.positive(np.zeros((2, 1)), np.array([0, 1]))
    assert mixed[0] == pytest.approx(0.5 / 3 + 0.5 * 2 / 3)


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_the_group_as_a_feature_is_a_column_that_says_it(constraints):
    X, y, s, _ = problem(4)
    assert s.max() == 2
    points = [{"group_feature": "included"}, {"group_feature": "excluded"}]
    model, without = FairLogLoss(constraints).fit_many(
        points, X, y, sensitive_features=s
    )
    features = np.column_stack([X, s == 1, s == 2])
    column = FairLogLoss(constraints).fit(features, y, sensitive_features=s)
    np.testing.assert_allclose(model.coef_[0], column.coef_[0, :-2], atol=1e-7)
    np.testing.assert_allclose(
        model.group_offsets_, [0, *column.coef_[0, -2:]], atol=1e-7
    )
    expected = column.predict_proba(features, sensitive_features=s)
    probabilities = model.predict_proba(X, sensitive_features=s)
    np.testing.assert_allclose(probabilities, expected, atol=1e-7)
    again = TruncatedLogistic.from_arrays(model.network_.arrays())
    np.testing.assert_array_equal(again.positive(X, s), probabilities[:, 1])
    assert not without.group_offsets_.any()
    arrays = without.network_.arrays()
    del arrays["offsets"]  # as older versions stored it
    again = TruncatedLogistic.from_arrays(arrays)
    before = without.predict_proba(X, sensitive_features=s)[:, 1]
    np.testing.assert_array_equal(again.positive(X, s), before)


def test_an_unseen_group_is_named_and_one_group_alone_is_predicted():
    X, y, s, _ = problem(0)
    names = np.array(["f", "m"])[s]
    model = FairLogLoss().fit(X, y, sensitive_features=names)
    together = model.predict_proba(X, sensitive_features=names)[s == 1]
    alone = model.predict_proba(X[s == 1], sensitive_features=names[s == 1])
    np.testing.assert_array_equal(alone, together)
    names[3] = "x"
    with pytest.raises(ValueError, match="group x in 1 rows, first row 3"):
        model.predict(X, sensitive_features=names)


def test_an_empty_cell_names_group_and_outcome():
    X, y, s, _ = problem(0)
    y = np.where(s == 1, 0, y)
    message = "Group 1 has no rows with outcome class 1, so equalized_odds"
    with pytest.raises(ValueError, match=message):
        FairLogLoss("equalized_odds").fit(X, y, sensitive_features=s)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FairLogLoss().fit(X, y, sensitive_features=s)
