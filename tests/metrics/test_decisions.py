import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from sklearn.metrics import balanced_accuracy_score

from fairdash.metrics import decision_status


def test_constant_decisions_are_named():
    y = np.tile([0, 1], 50)
    alike = np.array([np.ones(100), np.zeros(100), y, 1 - y], dtype=int)
    found = decision_status(y, alike)
    assert found["status"].tolist() == [
        "accepts all", "accepts none", "", "no better than chance",
    ]  # fmt: skip
    assert found["selection_rate"].tolist() == [1, 0, 0.5, 0.5]


def test_a_model_decides_when_its_decisions_go_with_the_outcome():
    y = np.repeat([0, 1], 500)
    chance, few = np.zeros((2, 1000), dtype=int)
    chance[[10, 20, 600, 700]] = 1
    few[-8:] = 1  # all right: balanced accuracy .508, and by chance in .004 of tables
    found = decision_status(y, np.stack([chance, few]))["status"]
    assert found.tolist() == ["no better than chance", ""]
    exact = fisher_exact([[8, 492], [0, 500]], alternative="greater").pvalue
    for level, status in ((0.9 * exact, ""), (1.1 * exact, "no better than chance")):
        told = decision_status(y, few, confidence=1 - 2 * level)["status"].item()
        assert (told == "") == (level > exact) == (status != "")


def test_on_an_imbalanced_table_a_model_that_ranks_decides():
    """At a base rate of 83 % the decisions of a plain model are nearly all alike."""
    rng = np.random.default_rng(4)
    y = (rng.random(3000) < 0.83).astype(int)
    scores = np.clip(0.83 + 0.08 * (y - 0.83) + rng.normal(0, 0.08, 3000), 0, 1)
    decided = np.r_[np.zeros(2), np.ones(2998)].astype(int)
    assert decision_status(y, decided)["status"].item() == "no better than chance"
    assert decision_status(y, decided, scores=scores)["status"].item() == ""


@given(st.integers(0, 10_000), st.floats(0.05, 0.95))
def test_balanced_accuracy_is_that_of_scikit_learn(seed, rate):
    rng = np.random.default_rng(seed)
    y, predicted = (rng.random((2, 60)) < [[0.5], [rate]]).astype(int)
    if np.ptp(y):
        (found,) = decision_status(y, predicted)["balanced_accuracy"]
        assert found == pytest.approx(balanced_accuracy_score(y, predicted))


def test_decisions_by_chance_are_told_from_deciding_in_the_share_stated():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    status = decision_status(y, rng.integers(2, size=(2000, 400)))["status"]
    assert 0.005 < (status == "").mean() < 0.035
