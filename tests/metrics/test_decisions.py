import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from fairdash.metrics import decision_status


def test_constant_decisions_are_named():
    y = np.tile([0, 1], 50)
    alike = np.array([np.ones(100), np.zeros(100), y, 1 - y], dtype=int)
    found = decision_status(y, alike)
    assert found["status"].tolist() == [
        "accepts all", "accepts none", "", "not told from chance",
    ]  # fmt: skip
    assert found["selection_rate"].tolist() == [1, 0, 0.5, 0.5]


def test_few_accepted_are_not_told_from_chance_unless_a_coin_would_not_do_as_well():
    y = np.repeat([0, 1], 500)
    chance, few, more = np.zeros((3, 1000), dtype=int)
    chance[[10, 20, 600, 700]] = 1
    few[-15:] = 1  # all right, and still of no use: balanced accuracy .515
    more[-40:] = 1
    assert decision_status(y, np.stack([chance, few, more]))["status"].tolist() == [
        "not told from chance", "not told from chance", "",
    ]  # fmt: skip


def test_one_outcome_alone_leaves_balanced_accuracy_undefined():
    found = decision_status(np.ones(10, dtype=int), [0, 1] * 5)
    assert np.isnan(found["balanced_accuracy"]).all()
    assert found["status"].tolist() == [""]


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
    assert (status == "").mean() == pytest.approx(0.025, abs=0.012)
