import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from cases import examples, paired
from hypothesis import given
from hypothesis import strategies as st
from peers import elsewhere, table
from sklearn.isotonic import IsotonicRegression

from fairdash import metrics


@pytest.mark.parametrize(
    ("measure", "groups", "weighted"),
    paired(metrics.MEASURES, [2, 4], [False, True], together=1),
)
def test_values_are_those_of_fairlearn_and_scikit_learn(measure, groups, weighted):
    y, p, group, weight = table(groups=groups, seed=groups, ties=measure == "auc")
    decided = p if measure in metrics.catalog.SCORE_MEASURES else (p > 0.5).astype(int)
    extra = {"sample_params": {"sample_weight": weight}} if weighted else {}
    frame = fairlearn.MetricFrame(
        metrics=elsewhere(measure),
        y_true=y,
        y_pred=decided,
        sensitive_features=group,
        **extra,
    )
    ours = metrics.measure_by_group(
        measure,
        y,
        decided,
        sensitive_features=group,
        sample_weight=weight if weighted else None,
    )
    assert ours["group"].tolist() == frame.by_group.index.tolist()
    np.testing.assert_allclose(ours["value"], frame.by_group, atol=1e-12)
    assert ((ours["ci_low"] < ours["value"]) & (ours["value"] < ours["ci_high"])).all()


@given(st.data())
@examples(60)
def test_rates_count_what_they_are_about(data):
    n = data.draw(st.integers(4, 30))
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n).map(np.array)
    y = data.draw(bits)
    d = data.draw(bits)
    group = np.arange(n) % 2
    measured = metrics.measure_by_group(
        "true_positive_rate", y, d, sensitive_features=group
    )
    for _, row in measured.iterrows():
        in_group = (group == int(row["group"])) & (y == 1)
        assert row["n"] == in_group.sum()
        if not in_group.any():
            assert np.isnan([row["value"], row["ci_low"], row["ci_high"]]).all()
            continue
        assert row["value"] == pytest.approx(d[in_group].mean())
        low, high = metrics.intervals.wilson_interval(d[in_group].sum(), in_group.sum())
        assert row["ci_low"] == pytest.approx(float(low))
        assert row["ci_high"] == pytest.approx(float(high))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measure": "fairness"}, "`measure` must be one of"),
        ({"y_true": None}, "`y_true` is needed"),
        ({"sample_weight": [1.0, 1.0, -1.0, 1.0]}, "row 2"),
        ({"sample_weight": [1.0]}, "one number per row"),
        ({"y_pred": [0, 1, 2, 1]}, "`y_pred` must hold 0 and 1"),
        ({"measure": "auc", "y_pred": [0.1, 1.2, 0, 1]}, "probabilities"),
    ],
)
def test_what_cannot_be_measured_is_an_error(change, words):
    arguments = {
        "measure": "accuracy",
        "y_true": [0, 1, 0, 1],
        "y_pred": [0, 1, 1, 1],
        "sensitive_features": ["a", "a", "b", "b"],
    } | change
    with pytest.raises(ValueError, match=words):
        metrics.measure_by_group(**arguments)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["", " 1:1", " 3:1", " 1:4", " 0:1"]),
    st.booleans(),
)
@examples(40)
def test_the_cost_of_errors_is_the_mean_of_what_each_costs(seed, ratio, weighted):
    rng = np.random.default_rng(seed)
    y, d = rng.integers(0, 2, (2, 90))
    groups = np.tile(["a", "b", "b"], 30)
    weight = rng.random(90) + 0.1 if weighted else None
    measured = metrics.measure_by_group(
        f"error_cost{ratio}", y, d, sensitive_features=groups, sample_weight=weight
    ).set_index("group")
    first, other_cost = map(float, (ratio or "1:1").split(":"))
    for name in "ab":
        in_group = groups == name
        w = np.ones(90) if weight is None else weight
        wrong = [
            (w * (d == v) * (y == 1 - v))[in_group].sum() / w[in_group].sum()
            for v in (1, 0)
        ]
        cost = 2 * (first * wrong[0] + other_cost * wrong[1]) / (first + other_cost)
        assert measured.loc[name, "value"] == pytest.approx(cost)
        assert (
            0 <= measured.loc[name, "ci_low"] <= cost <= measured.loc[name, "ci_high"]
        )
    if first == other_cost:
        right = metrics.measure_by_group(
            "accuracy", y, d, sensitive_features=groups, sample_weight=weight
        )
        np.testing.assert_allclose(measured["value"], 1 - right["value"])


@pytest.mark.parametrize(
    ("group", "measure", "opening"),
    [
        ("the", "brier", "The Brier score is 0.100 higher for the than for men"),
        ("among", "true_positive_rate", "Among rows with outcome 1, among is"),
        ("women", "selection_rate", "women is predicted positive 10 points more often"),
    ],
)
def test_a_group_keeps_its_letters_and_a_sentence_of_ours_begins_with_a_capital(
    group, measure, opening
):
    gap = metrics.Finding(measure, None, group, "men", 0.1, 0.05, 0.15)
    assert metrics.sentence(gap).startswith(opening)
    assert metrics.sentence(gap, with_ends=False).startswith(opening)
    assert "(" not in metrics.sentence(gap, with_ends=False)


@pytest.mark.parametrize(
    ("favourable", "words"),
    [(True, "wrongly rejected"), (False, "missed"), (None, "missed")],
)
def test_a_false_negative_is_said_as_what_happens_to_people(favourable, words):
    gap = metrics.Finding("false_negative_rate", None, "b", "a", 0.01, -0.02, 0.04)
    speech = metrics.Speech("decided hired=yes", "good=yes", "", favourable)
    assert metrics.sentence(gap, speech) == (
        f"Among rows with good=yes, b is {words} 1 point more often than a (−2 to 4)."
    )


def test_an_end_near_zero_keeps_its_sign_and_zero_has_none():
    def said(low, high):
        return metrics.sentence(
            metrics.Finding("accuracy", None, "a", "b", 0.02, low, high)
        )

    assert "(−0.03 to 3.10)" in said(-0.0003, 0.031)
    assert "(0 to 3)" in said(-0.0, 0.031)
    assert "(0 to 9)" in said(0.00003, 0.088)
    assert "(−0.4 to 3.1)" in said(-0.004, 0.031)
    assert "(1.98 to 2.02)" in said(0.0198, 0.0202)


def test_a_missing_label_is_no_negative_one():
    y = np.array(["good", None, "good", np.nan, "good", "good"], object)
    arguments = {"sensitive_features": list("ababab")}
    with pytest.raises(ValueError, match="`y_true` is missing in 2 rows, the first is"):
        metrics.measure_by_group(
            "accuracy", y, ["good"] * 6, pos_label="good", **arguments
        )
    unknown = pd.array([True, None] * 3, dtype="boolean")
    with pytest.raises(ValueError, match="`y_pred` is missing in 3 rows"):
        metrics.measure_by_group("selection_rate", None, unknown, **arguments)


@pytest.mark.parametrize("weighted", [False, True])
def test_six_rows_without_an_error_are_as_unsure_as_their_accuracy(weighted):
    group = np.repeat(["few", "many"], [6, 1000])
    y = np.zeros(1006, int)
    pred = (np.arange(1006) >= 946).astype(int)
    arguments = {"sensitive_features": group, "sample_weight": None}
    if weighted:
        arguments["sample_weight"] = np.where(
            group == "few", 0.1, np.linspace(1, 2, 1006)
        )
    right = metrics.measure_by_group("accuracy", y, pred, **arguments).iloc[0]
    even = metrics.measure_by_group("error_cost", y, pred, **arguments).iloc[0]
    assert even["ci_high"] == pytest.approx(1 - right["ci_low"])
    for measure, most in (("error_cost", 1), ("error_cost 3:1", 1.5), ("brier", 1)):
        wrong = metrics.measure_by_group(measure, y, pred, **arguments).iloc[0]
        assert wrong["value"] == wrong["ci_low"] == 0
        # an outcome that none of the six had may have any mean
        assert most * (1 - right["ci_low"]) - 1e-9 <= wrong["ci_high"] < most
    for measure in ("error_cost", "error_cost 1:3", "brier", "calibration"):
        gap = metrics.measure_gaps(measure, y, pred, reference="few", **arguments).iloc[
            0
        ]
        assert gap["ci_low"] < 0 < gap["difference"] < gap["ci_high"]


def test_few_rows_of_one_score_do_not_say_what_their_area_is():
    """Six tied scores have an area of 1/2 by chance; six thousand are sure of it."""
    group = np.repeat(["few", "many"], [6, 6000])
    y = np.tile([0, 1], 3003)
    p = np.r_[np.full(6, 0.3), np.full(6000, 0.6)]
    measured = metrics.measure_by_group("auc", y, p, sensitive_features=group)
    assert measured["value"].tolist() == [0.5, 0.5]
    assert (measured["ci_low"] < [0.1, 0.49]).all()
    assert (measured["ci_high"] > [0.9, 0.51]).all()
    assert measured["ci_high"].iloc[1] < 0.52


@pytest.mark.parametrize(("sign", "area"), [(1, 1.0), (-1, 0.0)])
def test_outcomes_that_scores_part_have_an_area_without_an_interval(sign, area):
    """Sums of weights may or may not add up to 1: the answer does not depend on it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(60) % 2)
        p = 0.5 + sign * (y - 0.5) * rng.uniform(0.1, 1, 60)
        for sampling in ({}, {"cluster": np.arange(60) // 3}):
            found = metrics.measure_by_group(
                "auc",
                y,
                p,
                sensitive_features=np.arange(60) // 30,
                sample_weight=rng.lognormal(0, 2, 60),
                **sampling,
            )
            assert found["value"].tolist() == [area, area]
            assert found[["ci_low", "ci_high"]].isna().all(axis=None)


def test_probabilities_of_scores_are_of_other_rows_and_whole_units():
    """Scores that say nothing: fitted to their own rows they look as if they did."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = rng.normal(size=400)
    assert np.mean((metrics.as_probabilities(y, scores) - y) ** 2) > 0.25
    fitted = IsotonicRegression(out_of_bounds="clip").fit(scores, y).predict(scores)
    assert np.mean((fitted - y) ** 2) < 0.25
    unit = np.repeat(np.arange(100), 4)
    y = np.repeat(rng.integers(0, 2, 100), 4)
    scores = np.repeat(rng.normal(size=100), 4)
    by_unit = metrics.as_probabilities(y, scores, cluster=unit)
    assert np.mean((by_unit - y) ** 2) > 0.25
    assert np.mean((metrics.as_probabilities(y, scores) - y) ** 2) < 0.25  # twins tell


def test_probabilities_of_a_fold_are_those_of_scikit_learn_on_the_others():
    rng = np.random.default_rng(1)
    scores = rng.random(200)
    weight = rng.uniform(1, 3, 200)
    y = (rng.random(200) < scores).astype(int)
    probabilities = metrics.as_probabilities(y, scores, weight)
    fold = np.random.default_rng(0).permutation(200) % 10
    for at in range(10):
        isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        rest = fold != at
        isotonic.fit(scores[rest], y[rest], weight[rest])
        assert probabilities[~rest] == pytest.approx(isotonic.predict(scores[~rest]))
