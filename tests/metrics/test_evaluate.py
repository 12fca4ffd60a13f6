"""The flat row against scikit-learn and the single metrics."""

import fairlearn.metrics as fl
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as skm
from by_hand import gap_interval
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairdash._metric_names import METRIC_NAMES
from fairdash.metrics import (
    Measured,
    decision_status,
    demographic_parity_difference,
    equalized_odds_difference,
    evaluate,
    intervals,
    local_di,
    worst_k_di,
)
from fairdash.metrics.group.intervals import normal_quantile


def test_quality_of_every_model_equals_scikit_learn(rows):
    table = evaluate(rows.y, rows.scores, **rows.where)
    assert len(table) == len(rows.scores)
    for model, (scores, y_pred) in enumerate(
        zip(rows.scores, rows.y_pred, strict=True)
    ):
        row = table.iloc[model]
        assert row["accuracy"] == pytest.approx(skm.accuracy_score(rows.y, y_pred))
        assert row["balanced_accuracy"] == pytest.approx(
            skm.balanced_accuracy_score(rows.y, y_pred)
        )
        assert row["auc"] == pytest.approx(skm.roc_auc_score(rows.y, scores))
        clipped = np.clip(scores, 1.2e-7, 1 - 1.2e-7)
        assert row["log_loss"] == pytest.approx(skm.log_loss(rows.y, clipped), rel=1e-4)
        low, high = intervals.wilson_interval((rows.y == y_pred).sum(), len(rows.y))
        assert (row["accuracy_low"], row["accuracy_high"]) == (low, high)


@pytest.mark.parametrize("fixture", ["rows", "rows_of_three_groups"])
def test_fairness_of_every_model_equals_the_single_metrics(fixture, request):
    rows = request.getfixturevalue(fixture)
    table = evaluate(rows.y, rows.scores, **rows.where)
    group = {"sensitive_features": rows.group}
    for model, y_pred in enumerate(rows.y_pred):
        local = local_di(y_pred, **rows.where)
        expected = {
            "demographic_parity_difference": demographic_parity_difference(
                y_pred, **group
            ),
            "demographic_parity_ratio": fl.demographic_parity_ratio(
                rows.y, y_pred, **group
            ),
            "equalized_odds_difference": equalized_odds_difference(
                rows.y, y_pred, **group
            ),
            **{f"worst_{k}_di": worst_k_di(local, k) for k in (1, 2, 3)},
            "n_subgroups": 4,
            "n_estimable": 3,
        }
        assert table.loc[model, list(expected)].to_dict() == pytest.approx(expected)


def test_the_interval_of_worst_1_di_is_that_of_a_maximum(rows):
    row = evaluate(rows.y, rows.scores[0], **rows.where).iloc[0]
    use = local_di(rows.y_pred[0], **rows.where).query("estimable")
    n = use[["n_a", "n_b"]].to_numpy()
    low, high = gap_interval(use[["rate_a", "rate_b"]] * n, n, axes=2)
    assert row["worst_1_di_low"] == pytest.approx(float(low))
    assert row["worst_1_di_high"] == pytest.approx(float(high))
    assert row["worst_1_di_low"] <= row["worst_1_di"] <= row["worst_1_di_high"]
    assert row["worst_1_di_high"] == pytest.approx(use["ci_high"].max())


def test_every_metric_has_an_interval_that_holds_its_value(rows):
    table = evaluate(rows.y, rows.scores, **rows.where)
    metrics = [name for name in METRIC_NAMES if name in table]
    assert len(metrics) == 11
    for name in metrics:
        ends = table[[f"{name}_low", f"{name}_high"]]
        assert np.isfinite(ends).all(axis=None), name
        assert (ends.iloc[:, 0] <= table[name]).all(), name
        assert (table[name] <= ends.iloc[:, 1]).all(), name


def test_the_mean_of_the_largest_gaps_is_between_those_of_the_largest_ends(rows):
    row = evaluate(rows.y, rows.scores[0], **rows.where).iloc[0]
    use = local_di(rows.y_pred[0], **rows.where).query("estimable")
    n = use[["n_a", "n_b"]].to_numpy()
    # The lower ends hold at once for all three subgroups, by Bonferroni.
    low, _ = gap_interval(use[["rate_a", "rate_b"]] * n, n, confidence=1 - 0.05 / 3)
    _, high = gap_interval(use[["rate_a", "rate_b"]] * n, n)
    for k in (2, 3):
        expected = [np.sort(end)[-k:].mean() for end in (low, high)]
        ends = row[[f"worst_{k}_di_low", f"worst_{k}_di_high"]].astype(float)
        assert ends.tolist() == pytest.approx(expected)


def test_balanced_accuracy_has_the_interval_of_both_recalls(rows):
    row = evaluate(rows.y, rows.scores[0], **rows.where).iloc[0]
    value = []
    low = []
    high = []
    for outcome in (0, 1):
        right = rows.y_pred[0][rows.y == outcome] == outcome
        ends = intervals.wilson_interval(right.sum(), len(right))
        value.append(right.mean())
        low.append(right.mean() - ends[0])
        high.append(ends[1] - right.mean())
    middle = np.mean(value)
    ends = [middle - np.hypot(*low) / 2, middle + np.hypot(*high) / 2]
    result = row[["balanced_accuracy_low", "balanced_accuracy_high"]].astype(float)
    assert result.tolist() == pytest.approx(ends)


def test_what_is_undefined_has_no_interval():
    table = evaluate(
        [1, 1, 1, 1], [0.9, 0.2, 0.7, 0.4], sensitive_features=list("aabb")
    )
    row = table.iloc[0]
    for name in ("balanced_accuracy", "auc", "equalized_odds_difference", "worst_2_di"):
        assert np.isnan(row[[name, f"{name}_low", f"{name}_high"]].astype(float)).all()


@given(
    arrays(np.int64, 30, elements=st.integers(0, 1)).filter(lambda y: 0 < y.sum() < 30),
    arrays(np.float32, (2, 30), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
)
def test_auc_counts_ties_half_like_scikit_learn(y, scores):
    table = evaluate(y, scores, sensitive_features=["a", "b"] * 15)
    expected = [skm.roc_auc_score(y, row) for row in scores]
    assert np.allclose(table["auc"], expected)


def test_the_threshold_is_exceeded_not_met():
    scores = np.array([0.5, 0.51, 0.3, 0.8])
    kwargs = {"sensitive_features": ["a", "b", "a", "b"]}
    assert evaluate([0, 1, 0, 1], scores, **kwargs)["accuracy"].item() == 1
    higher = evaluate([0, 1, 0, 1], scores, **kwargs, threshold=0.6)
    assert higher["accuracy"].item() == 0.75


@pytest.mark.parametrize(
    "scores, message",
    [
        ([0.1, 1.2, 0.3, 0.4], "1 entries are not, the first is .*1.2.* in row 1"),
        ([0.1, np.nan, 0.3, 0.4], "in row 1"),
        (["0.1", "0", "1", "0"], "must be numbers"),
        ([0.1, 0.2, 0.3], "inconsistent numbers of samples"),
    ],
)
def test_scores_that_are_no_probabilities_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        evaluate([0, 1, 0, 1], scores, sensitive_features=["a", "b", "a", "b"])


def test_weights_count_as_rows_repeated_and_ones_as_none(rows):
    plain = evaluate(rows.y, rows.scores, **rows.where, min_size=1)
    ones = {"sample_weight": np.ones(len(rows.y))}
    same = evaluate(rows.y, rows.scores, **rows.where, min_size=1, **ones)
    pd.testing.assert_frame_equal(same, plain, check_dtype=False, rtol=1e-9)
    without = {"sensitive_features": rows.group}
    pd.testing.assert_frame_equal(
        evaluate(rows.y, rows.scores, **without, **ones),
        evaluate(rows.y, rows.scores, **without),
        check_dtype=False,
    )
    weight = np.random.default_rng(3).integers(0, 5, len(rows.y))
    again = np.repeat(np.arange(len(rows.y)), weight)
    evaluated = evaluate(
        rows.y, rows.scores, **rows.where, min_size=1, sample_weight=weight
    )
    repeated = evaluate(
        rows.y[again],
        rows.scores[:, again],
        sensitive_features=rows.group[again],
        subgroups=rows.subgroup.iloc[again],
        min_size=1,
    )
    ends = [name for name in plain if name.endswith(("_low", "_high"))]
    pd.testing.assert_frame_equal(
        evaluated.drop(columns=["n", *ends]),
        repeated.drop(columns=["n", *ends]),
        check_dtype=False,
    )
    everyone = np.zeros(len(rows.y), int)
    ends = [
        Measured.of("accuracy", rows.y, decided, weight)
        .estimate(everyone, (1,))
        .ends(normal_quantile(0.95))
        for decided in rows.y_pred
    ]
    values = evaluated[["accuracy_low", "accuracy_high"]]
    np.testing.assert_allclose(values, np.array(ends)[..., 0])
    assert (evaluated["n"] == len(rows.y)).all()


def test_weights_say_who_does_not_decide(rows):
    y = rows.y
    decided = rows.y_pred
    weight = np.random.default_rng(3).integers(0, 5, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    result = decision_status(y, decided, sample_weight=weight)
    repeated = decision_status(y[again], decided[:, again])
    for name in ("selection_rate", "balanced_accuracy"):
        np.testing.assert_allclose(result[name], repeated[name])
    pd.testing.assert_frame_equal(
        decision_status(y, decided, sample_weight=np.ones(len(y))),
        decision_status(y, decided),
    )
    # right beyond chance on 4,000 rows, and not on one that weighs as much as 2,000
    y = np.tile([0, 1], 2000)
    guess = np.where(np.arange(4000) % 10 < 4, 1 - y, y)
    heavy = np.where(np.arange(4000) < 2, 2000.0, 1.0)
    assert decision_status(y, guess)["status"].tolist() == [""]
    weighted = decision_status(y, guess, sample_weight=heavy)["status"].tolist()
    assert weighted == ["no better than chance"]
    only = np.where(guess == 1, 1.0, 0.0)
    status = decision_status(y, guess, sample_weight=only)["status"].tolist()
    assert status == ["accepts all"]
