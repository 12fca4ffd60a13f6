"""Gaps of a model that tells many classes apart: by hand, by chance, and errors."""

import numpy as np
import pytest

from fairdash.metrics import class_gaps, measure_gaps


def drawn(n=600, k=4, groups=("a", "b"), seed=0, unfair=0.0):
    """Return true and predicted classes and groups; one class is missed in group a."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(k, size=n), rng.choice(groups, n)
    wrong = rng.random(n) < 0.3 + unfair * ((y == 1) & (s == "a"))
    return y, np.where(wrong, (y + 1) % k, y), s


def test_every_number_is_what_its_formula_says():
    y, p, s = drawn(groups=("a", "b", "c"))
    found = class_gaps(y, p, sensitive_features=s)
    tpr = np.array(
        [[np.mean(p[(y == k) & (s == g)] == k) for g in "abc"] for k in range(4)]
    )
    gaps = tpr.max(1) - tpr.min(1)
    np.testing.assert_allclose(found.by_class["gap"], gaps)
    best, worst = (
        np.array(list("abc"))[f(tpr, axis=1)] for f in (np.argmax, np.argmin)
    )
    assert found.by_class["best"].tolist() == best.tolist()
    assert found.by_class["worst"].tolist() == worst.tolist()
    value = found.summary.set_index("measure")["value"]
    assert value["gap_rms"] == pytest.approx(np.sqrt(np.mean(gaps**2)))
    assert value["gap_abs"] == pytest.approx(gaps.mean())
    assert value["gap_max"] == pytest.approx(gaps.max())
    accuracy = np.array([np.mean(p[s == g] == y[s == g]) for g in "abc"])
    assert value["accuracy_sd"] == pytest.approx(accuracy.std())
    assert value["balanced_accuracy_sd"] == pytest.approx(tpr.mean(0).std())
    np.testing.assert_allclose(found.by_group["balanced_accuracy"], tpr.mean(0))
    # all 4 classes and 3 pairs at once
    one = y == 2
    pairs = measure_gaps(
        "selection_rate",
        None,
        (p == y)[one].astype(int),
        sensitive_features=s[one],
        confidence=1 - 0.05 / 12,
    ).set_index("group")
    row = found.by_class.loc[2]
    assert row["ci_low"] == pytest.approx(-pairs.loc[row["worst"], "ci_high"])
    assert row["ci_high"] == pytest.approx(-pairs.loc[row["worst"], "ci_low"])


def test_chance_is_that_of_shuffled_groups():
    y, p, s = drawn(n=400)
    found = class_gaps(y, p, sensitive_features=s, n_permutations=20_000)
    chance = found.summary.set_index("measure")["chance"]
    rng, drawn_rms, drawn_sd = np.random.default_rng(1), [], []
    for _ in range(600):
        mixed = s.copy()
        for k in range(4):
            mixed[y == k] = rng.permutation(s[y == k])
        tpr = [
            [np.mean(p[(y == k) & (mixed == g)] == k) for g in "ab"] for k in range(4)
        ]
        drawn_rms.append(np.sqrt(np.mean(np.ptp(tpr, axis=1) ** 2)))
        mixed = rng.permutation(s)
        drawn_sd.append(np.std([np.mean((p == y)[mixed == g]) for g in "ab"]))
    assert chance["gap_rms"] == pytest.approx(np.quantile(drawn_rms, 0.95), rel=0.08)
    assert chance["accuracy_sd"] == pytest.approx(np.quantile(drawn_sd, 0.95), rel=0.12)


def test_fair_models_are_beyond_chance_in_one_of_twenty_and_unfair_ones_are():
    beyond = []
    for seed in range(60):
        y, p, s = drawn(n=300, seed=seed)
        found = class_gaps(y, p, sensitive_features=s, n_permutations=200)
        table = found.summary.set_index("measure")
        beyond.append(table["value"]["gap_rms"] > table["chance"]["gap_rms"])
    assert 0 < np.mean(beyond) < 0.12
    y, p, s = drawn(unfair=0.5)
    found = class_gaps(y, p, sensitive_features=s)
    said = found.verdict()
    assert said.startswith("Class 1 is recognised least alike: a is below b by")
    assert "Beyond chance: RMS of gaps, " in said
    assert found.by_class.loc[1, "ci_low"] > 0


def test_a_class_that_a_group_lacks_is_named_and_not_counted():
    y, p, s = drawn()
    s = np.where(y == 3, "a", s)
    found = class_gaps(y, p, sensitive_features=s)
    assert found.left_out == ("3",)
    assert np.isnan(found.by_class.loc[3, "gap"])
    kept = found.by_class["gap"].iloc[:3]
    rms = found.summary.set_index("measure")["value"]["gap_rms"]
    assert rms == pytest.approx(np.sqrt(np.mean(kept**2)))
    assert "Not counted, as some group lacks it: 3." in found.verdict()
    apart = class_gaps(y, p, sensitive_features=np.where(y < 2, "a", "b"))
    assert apart.summary.set_index("measure")["value"].isna().tolist() == [
        True, True, True, False, True,
    ]  # fmt: skip
    assert apart.verdict().startswith("No class has rows in every group")


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1, None, 1], [0, 1, 1, 1], "`y_true` is missing in 1 rows"),
        ([1, 1, 1, 1], [0, 1, 1, 1], "has 1 classes; 2 to 100"),
        ([0, 1, 0, 1], ["x", "y", "x", "y"], "No label of `y_pred` is a class"),
        ([0, 1, 0], [0, 1, 1, 1], "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_compared_is_refused(y, p, message):
    with pytest.raises(ValueError, match=message):
        class_gaps(y, p, sensitive_features=["a", "b", "a", "b"])
