import numpy as np
import pytest
from sklearn.base import clone

from fairdash.postprocessing import (
    HardtThreshold,
    RampThreshold,
    RejectOption,
    ScoredRows,
    Thresholds,
    covariance_threshold,
)

METHODS = [RampThreshold(), HardtThreshold(), RejectOption()]


def people(n=2000, n_groups=2, seed=0):
    """Return margins that are true on average, outcomes and groups of unequal rate."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    margins = np.clip(rng.normal(-0.4 + 0.5 * group / n_groups, 0.5, n), -0.99, 0.99)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return margins, y, np.array([f"g{k}" for k in group])


def rates(method, margins, groups):
    h = method.predict_proba(margins, sensitive_features=groups)
    return np.array([h[groups == name].mean() for name in np.unique(groups)])


@pytest.mark.parametrize("target", ["accuracy", "balanced", 0.3])
@pytest.mark.parametrize("n_groups, gamma", [(2, 1e-3), (5, 0.1), (20, 2.0)])
def test_the_ramp_gives_parity_on_the_fitting_sample(target, n_groups, gamma):
    margins, y, groups = people(n_groups=n_groups)
    ramp = RampThreshold(gamma, target).fit(margins, y, sensitive_features=groups)
    assert np.ptp(rates(ramp, margins, groups)) < 1e-10
    at_target = rates(ramp, margins, groups)[0]
    assert at_target == pytest.approx(ramp.target_rate_, abs=1e-10)


@pytest.mark.parametrize("center", [False, True])
def test_a_tolerance_is_the_largest_gap(center):
    margins, y, groups = people()
    ramp = RampThreshold(0.2, tolerance=0.05, center=center)
    ramp.fit(margins, y, sensitive_features=groups)
    assert np.ptp(rates(ramp, margins, groups)) == pytest.approx(0.05, abs=1e-10)


def test_the_balanced_rate_cancels_the_corrections():
    margins, _, groups = people()
    ramp = RampThreshold(0.2, "balanced").fit(margins, sensitive_features=groups)
    share = {name: np.mean(groups == name) for name in ramp.groups_}
    middles = [share[g] * (t + 0.1) for g, t in ramp.thresholds_.items()]
    assert sum(middles) == pytest.approx(0, abs=1e-9)


def test_probabilities_and_margins_give_the_same_decisions():
    margins, y, groups = people()
    probabilities = (margins + 1) / 2
    for method in METHODS:
        by_margins = clone(method).fit(margins, y=y, sensitive_features=groups)
        by_probabilities = clone(method).set_params(score_type="probability")
        by_probabilities.fit(probabilities, y=y, sensitive_features=groups)
        assert by_probabilities.predict_proba(
            probabilities, sensitive_features=groups
        ) == pytest.approx(
            by_margins.predict_proba(margins, sensitive_features=groups), abs=1e-6
        )


def test_what_is_learned_is_named_by_the_values_of_the_groups():
    margins, y, _ = people()
    numbers = np.random.default_rng(1).integers(0, 3, len(y))
    ramp = RampThreshold().fit(margins, y, sensitive_features=numbers)
    assert list(ramp.thresholds_) == list(ramp.expected_rates_) == [0, 1, 2]
    assert all(type(value) is int for value in ramp.groups_)
    assert list(ramp.rules_) == ["0", "1", "2"]
    again = Thresholds.from_json(ramp.thresholds().to_json())
    h = ramp.predict_proba(margins, sensitive_features=numbers)
    assert (again.predict_proba(margins, sensitive_features=numbers) == h).all()
    assert (again.predict_proba(margins, sensitive_features=numbers * 1.0) == h).all()
    texts = RampThreshold().fit(margins, y, sensitive_features=numbers.astype(str))
    assert list(texts.thresholds_) == ["0", "1", "2"]


def test_drawn_decisions_are_reproducible_and_near_their_expectation():
    margins, y, groups = people(20_000)
    ramp = RampThreshold(1.0).fit(margins, y, sensitive_features=groups)
    first, same, second = (
        ramp.predict(margins, sensitive_features=groups, random_state=seed)
        for seed in (3, 3, 4)
    )
    assert (first == same).all()
    assert (first != second).any()
    rows = ScoredRows.read(margins, sensitive_features=groups, y=y)
    h = ramp.chance(rows)
    flips = ramp.report(rows).changed
    drawn = [first[groups == name].sum() for name in ramp.groups_]
    expected = flips["rate"] * flips["n"]
    spread = [np.sqrt((h * (1 - h))[groups == name].sum()) for name in ramp.groups_]
    assert (np.abs(drawn - expected) < 4 * np.array(spread)).all()


def test_reject_option_closes_the_gap_and_flips_towards_the_lower_group():
    margins, _, groups = people(5000)
    before = margins > 0
    method = RejectOption().fit(margins, sensitive_features=groups)
    assert method.favoured_ == ("g0",)
    assert np.ptp(rates(method, margins, groups)) < 0.03
    h = method.predict_proba(margins, sensitive_features=groups)
    rows = ScoredRows.read(margins, sensitive_features=groups)
    flips = method.report(rows).changed.set_index("group")
    assert flips.loc["g0", "down"] == 0
    assert flips.loc["g1", "up"] == 0
    doubtful = np.abs(margins) <= method.width_
    assert ((h == 1) != before)[~doubtful].sum() == 0


def test_the_covariance_control_of_the_paper_is_a_ramp_in_each_subgroup():
    margins, _, groups = people(4000)
    subgroups = np.random.default_rng(2).choice(["young", "old"], len(margins))
    subgroups[groups == "g1"][:10] = "young"
    for name in ("young", "old"):
        rows = subgroups == name
        scores = margins[rows]
        members = groups[rows] == "g1"
        t = covariance_threshold(scores, members, 0.1)
        theirs = np.clip((scores - t * (members - members.mean())) / 0.1, 0, 1)
        ramp = RampThreshold(0.1, target_rate=float(theirs.mean()))
        ramp.fit(scores, sensitive_features=groups[rows])
        h = ramp.predict_proba(scores, sensitive_features=groups[rows])
        assert abs(h[members].mean() - h[~members].mean()) < 1e-10
        assert h == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
class TestEveryMethod:
    def fit(self, method, **changes):
        margins, y, groups = people()
        arguments = {"scores": margins, "y": y, "sensitive_features": groups} | changes
        return clone(method).fit(**arguments)

    def test_thresholds_survive_json(self, method):
        margins, _, groups = people()
        fitted = self.fit(method)
        again = Thresholds.from_json(fitted.thresholds().to_json())
        h = fitted.predict_proba(margins, sensitive_features=groups)
        assert (again.predict_proba(margins, sensitive_features=groups) == h).all()

    def test_h_never_falls_with_the_score(self, method):
        fitted = self.fit(method)
        grid = np.linspace(-1, 1, 501)
        for name in fitted.groups_:
            h = fitted.predict_proba(grid, sensitive_features=[name] * 501)
            assert (np.diff(h) >= 0).all()
            assert h.min() >= 0
            assert h.max() <= 1

    def test_an_unseen_group_is_named(self, method):
        fitted = self.fit(method)
        with pytest.raises(ValueError, match=r"'g9'.*1 rows, first row 1"):
            fitted.predict_proba([0.1, 0.2], sensitive_features=["g0", "g9"])

    def test_a_missing_group_is_refused_at_prediction(self, method):
        fitted = self.fit(method)
        with pytest.raises(ValueError, match=r"missing values.*first row 0"):
            fitted.predict([0.1, 0.2], sensitive_features=[None, "g0"])

    def test_bad_scores_are_refused(self, method):
        margins, y, _ = people()
        with pytest.raises(ValueError, match="labels or decisions"):
            self.fit(method, scores=2.0 * y - 1)
        with pytest.raises(ValueError, match="labels or decisions"):
            self.fit(method, scores=y)
        with pytest.raises(ValueError, match="constant"):
            self.fit(method, scores=np.full(len(y), 0.3))
        margins[7] = np.nan
        with pytest.raises(ValueError, match="row 7"):
            self.fit(method, scores=margins)
        margins[7] = 4
        with pytest.raises(ValueError, match="row 7"):
            self.fit(method, scores=margins)

    def test_a_group_of_one_row_is_refused(self, method):
        _, _, groups = people()
        groups = groups.astype(object)
        groups[0] = "alone"
        with pytest.raises(ValueError, match=r"alone \(1\)"):
            self.fit(method, sensitive_features=groups)

    def test_nothing_works_before_fit(self, method):
        with pytest.raises(ValueError, match="not fitted"):
            clone(method).predict_proba([0.1], sensitive_features=["g0"])


@pytest.mark.parametrize(
    "method, changes, message",
    [
        (RampThreshold(gamma=0), {}, "`gamma`"),
        (RampThreshold(target_rate="best"), {}, "`target_rate` must be one of"),
        (RampThreshold(target_rate=2.0), {}, r"`target_rate` must lie in \[0, 1\]"),
        (RampThreshold(), {"y": None}, "needs `y`"),
        (RejectOption(width=2.0), {}, "`width`"),
        (HardtThreshold("magic"), {}, "`constraints`"),
    ],
)
def test_parameters_out_of_range_are_refused(method, changes, message):
    margins, y, groups = people(200)
    arguments = {"y": y} | changes
    with pytest.raises(ValueError, match=message):
        method.fit(margins, sensitive_features=groups, **arguments)
