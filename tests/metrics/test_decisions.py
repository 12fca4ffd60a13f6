import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from sklearn.metrics import balanced_accuracy_score

from fairdash.metrics import decision_status


def test_constant_decisions_are_named():
    y = np.tile([0, 1], 50)
    constant = np.array([np.ones(100), np.zeros(100), y, 1 - y], dtype=int)
    status = decision_status(y, constant)
    assert status["status"].tolist() == [
        "accepts all", "accepts none", "", "no better than chance",
    ]  # fmt: skip
    assert status["selection_rate"].tolist() == [1, 0, 0.5, 0.5]


def test_a_model_decides_when_its_decisions_go_with_the_outcome():
    y = np.repeat([0, 1], 500)
    chance, few = np.zeros((2, 1000), dtype=int)
    chance[np.r_[0:50, 500:550]] = 1
    few[np.r_[480:500, 960:1000]] = 1  # 40 right, 20 wrong: by chance in .006 of tables
    result = decision_status(y, np.stack([chance, few]))["status"]
    assert result.tolist() == ["no better than chance", ""]
    exact = fisher_exact([[40, 460], [20, 480]], alternative="greater").pvalue
    for level, status in ((0.9 * exact, ""), (1.1 * exact, "no better than chance")):
        message = decision_status(y, few, confidence=1 - 2 * level)["status"].item()
        assert (message == "") == (level > exact) == (status != "")


def test_on_an_imbalanced_table_a_model_that_ranks_decides():
    """At a base rate of 83 % the decisions of a plain model are nearly all alike."""
    rng = np.random.default_rng(4)
    y = (rng.random(3000) < 0.83).astype(int)
    scores = np.clip(0.83 + 0.08 * (y - 0.83) + rng.normal(0, 0.08, 3000), 0, 1)
    decided = np.r_[np.zeros(2), np.ones(2998)].astype(int)
    assert decision_status(y, decided)["status"].item() == "accepts nearly all"
    assert decision_status(y, decided, scores=scores)["status"].item() == ""


@given(st.integers(1, 499), st.integers(0, 1000), st.booleans())
def test_nearly_alike_is_a_tenth_of_the_rarer_outcome(n_rare, n_few, mostly):
    """However right the few decisions are: nearly everybody gets the same one."""
    y, few = np.zeros((2, 1000), dtype=int)
    y[:n_rare], few[:n_few] = 1, 1
    if mostly:
        y = 1 - y
        few = 1 - few
    status = decision_status(y, few)["status"].item()
    rarer = min(n_few, 1000 - n_few)
    nearly = 0 < 10 * rarer < n_rare
    share = few.mean()
    expected = "accepts nearly all" if share > 0.5 else "accepts nearly none"
    assert (status == expected) == nearly
    assert ("all" in status or "none" in status) == (nearly or share in (0, 1))


@given(st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_balanced_accuracy_is_that_of_scikit_learn(seed, rate):
    rng = np.random.default_rng(seed)
    y, predicted = (rng.random((2, 60)) < [[0.5], [rate]]).astype(int)
    if np.ptp(y):
        (balanced,) = decision_status(y, predicted)["balanced_accuracy"]
        assert balanced == pytest.approx(balanced_accuracy_score(y, predicted))


def test_decisions_by_chance_are_told_from_deciding_in_the_share_stated():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    status = decision_status(y, rng.integers(2, size=(2000, 400)))["status"]
    assert 0.005 < (status == "").mean() < 0.035
