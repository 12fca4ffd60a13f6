import numpy as np
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin

from fairdash.postprocessing import HardtThreshold


class GivenScores(ClassifierMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def decision_function(self, X):
        return X[:, 0]

    def __sklearn_is_fitted__(self):
        return True


def people(n, n_groups, seed, *, ties=False):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    margins = np.clip(rng.normal(-0.4 + 0.5 * group / n_groups, 0.5, n), -0.99, 0.99)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return margins.round(1) if ties else margins, y, group


def conditions(constraints, y):
    if constraints == "demographic_parity":
        return [np.ones(len(y), dtype=bool)]
    if constraints == "true_positive_rate_parity":
        return [y == 1]
    return [y == 0, y == 1]


def gap(h, groups, rows):
    return np.ptp([h[rows & (groups == k)].mean() for k in np.unique(groups)])


def accuracy(h, y):
    return float(np.mean(y * h + (1 - y) * (1 - h)))


@pytest.mark.parametrize("n_groups, ties", [(2, False), (5, True)])
@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_it_is_fair_and_as_accurate_as_fairlearn_at_least(constraints, n_groups, ties):
    margins, y, groups = people(2500, n_groups, n_groups, ties=ties)
    ours = HardtThreshold(constraints).fit(margins, y, sensitive_features=groups)
    h = ours.predict_proba(margins, sensitive_features=groups)
    for rows in conditions(constraints, y):
        assert gap(h, groups, rows) < 1e-10
    theirs = ThresholdOptimizer(
        estimator=GivenScores(),
        constraints=constraints,
        objective="accuracy_score",
        prefit=True,
        predict_method="decision_function",
    ).fit(margins[:, None], y, sensitive_features=groups)
    pmf = theirs._pmf_predict(margins[:, None], sensitive_features=groups)
    assert accuracy(h, y) >= accuracy(pmf[:, 1], y) - 1e-12
    assert accuracy(h, y) <= accuracy(pmf[:, 1], y) + 1e-3  # their grid of rates


@pytest.mark.parametrize("tolerance", [0.0, 0.06])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "constraints", ["demographic_parity", "true_positive_rate_parity", "equalized_odds"]
)
def test_no_mixture_of_thresholds_and_coins_is_more_accurate(
    constraints, seed, tolerance
):
    margins, y, groups = people(80, 2 + seed % 2, seed, ties=seed % 3 == 0)
    ours = HardtThreshold(constraints, tolerance=tolerance)
    ours.fit(margins, y, sensitive_features=groups)
    h = ours.predict_proba(margins, sensitive_features=groups)
    for rows in conditions(constraints, y):
        assert gap(h, groups, rows) <= tolerance + 1e-9
    # a linear program over the mixtures of every group: all thresholds, always, never
    names = np.unique(groups)
    cuts = np.append(np.unique(margins), 2.0)
    decided = margins[None] >= cuts[:, None]
    columns = [(k, decision & (groups == k)) for k in names for decision in decided]
    gain = [np.sum(d * (2 * y - 1)) for _, d in columns]
    indicator = [
        [float(column_group == k) for column_group, _ in columns] for k in names
    ]
    least = []
    for rows in conditions(constraints, y):
        for low in names:
            for high in names:
                n_low = np.sum(rows & (groups == low))
                n_high = np.sum(rows & (groups == high))
                # The rate of one group less that of the other, by columns.
                difference = [
                    ((k == low) / n_low - (k == high) / n_high) * np.sum(d & rows)
                    for k, d in columns
                ]
                least.append(difference)
    most = np.full(len(least), tolerance)
    best = linprog(
        -np.array(gain),
        A_ub=least,
        b_ub=most,
        A_eq=indicator,
        b_eq=[1] * len(indicator),
    )
    value = np.sum(h * (2 * y - 1))
    assert value == pytest.approx(-best.fun, abs=1e-7)


def test_a_wide_tolerance_changes_nothing_and_a_wrong_one_is_refused():
    margins, y, groups = people(400, 3, 9)
    for constraints in ("demographic_parity", "equalized_odds"):
        free = HardtThreshold(constraints, tolerance=1.0)
        h = free.fit(margins, y, sensitive_features=groups).predict_proba(
            margins, sensitive_features=groups
        )
        rates = [
            max(
                np.sum((margins[mask] >= cut) * (2 * y[mask] - 1))
                for cut in [*margins, 2]
            )
            for mask in (groups == k for k in range(3))
        ]
        assert np.sum(h * (2 * y - 1)) == pytest.approx(sum(rates))
    with pytest.raises(ValueError, match=r"`tolerance` must be in \[0, 1\], got 2"):
        HardtThreshold(tolerance=2).fit(margins, y, sensitive_features=groups)
