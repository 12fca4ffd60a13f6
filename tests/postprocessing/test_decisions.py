import numpy as np
import pytest

from fairdash.postprocessing import RampThreshold, SplitScores, Thresholds
from fairdash.postprocessing.inputs import guess_score_type

N = 2000


@pytest.fixture
def decided():
    """Decisions 0 and 1 of two groups, the second accepted more often."""
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b"], N)
    return (rng.random(N) < np.where(groups == "b", 0.6, 0.3)).astype(int), groups


@pytest.mark.parametrize("gamma", [0.05, 2.0])
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.9])
def test_decisions_are_randomised_to_the_common_rate(decided, gamma, rate):
    decisions, groups = decided
    ramp = RampThreshold(gamma, rate, score_type="decision")
    ramp.fit(decisions, sensitive_features=groups)
    h = ramp.predict_proba(decisions, sensitive_features=groups)
    for name in ("a", "b"):
        of_group = groups == name
        assert h[of_group].mean() == pytest.approx(rate, abs=1e-10)
        yes = h[of_group & (decisions == 1)]
        no = h[of_group & (decisions == 0)]
        assert np.ptp(yes) == np.ptp(no) == 0
        share = decisions[of_group].mean()
        if gamma <= 2 and rate <= share:  # who was refused stays so
            assert no[0] == pytest.approx(0, abs=1e-12)
            assert yes[0] == pytest.approx(rate / share)
    file = Thresholds.from_json(ramp.thresholds().to_json())
    assert file.score_type == "decision"
    assert (file.predict_proba(decisions, sensitive_features=groups) == h).all()


def test_decisions_are_refused_as_scores_unless_it_is_said(decided):
    decisions, groups = decided
    with pytest.raises(ValueError, match="score_type='decision'"):
        RampThreshold(target_rate=0.4).fit(decisions, sensitive_features=groups)
    rule = RampThreshold(target_rate=0.4, score_type="decision")
    with pytest.raises(ValueError, match=r"1 rows are not, .*0\.5.* row 3"):
        rule.fit(np.where(np.arange(N) == 3, 0.5, decisions), sensitive_features=groups)
    with pytest.raises(ValueError, match="constant"):
        rule.fit(np.ones(N), sensitive_features=groups)


def test_what_a_column_holds_is_told_by_its_values():
    assert guess_score_type([0, 1, 1]) == "decision"
    assert guess_score_type([0, 0.5, 1]) == "probability"
    assert guess_score_type([-1, 1]) == "margin"
    rng = np.random.default_rng(0)
    split = SplitScores.of(
        2.0 * rng.integers(0, 2, 100) - 1,
        rng.choice(["a", "b"], 100),
        score_type="decision",
    )
    assert set(split.test.scores) == {0, 1}


@pytest.mark.parametrize("n", [20, 21])
def test_more_groups_than_can_be_compared_are_refused_with_the_way_out(n):
    margins = np.random.default_rng(0).uniform(-1, 1, 50 * n)
    groups = np.array([f"group {i % n}" for i in range(50 * n)], dtype=object)
    if n == 20:
        assert len(SplitScores.of(margins, groups).calibration.names) == n
        return
    with pytest.raises(ValueError, match=r"21 groups; at most 20 .* cross fewer"):
        SplitScores.of(margins, groups)
