import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import intervals, local_di
from fairdash.postprocessing import (
    HardtThreshold,
    RampThreshold,
    ScoredRows,
    SplitScores,
    fit_baselines,
    trade_off_table,
)
from fairdash.postprocessing.comparison import BEFORE

PARITY = "Hardt, demographic parity"

N = 3000


@pytest.fixture
def table():
    """Scores with ties, two groups, three subgroups of unequal rates, one of none."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], N),
            "age": rng.choice(
                ["old", "young", "mid", None], N, p=[0.5, 0.3, 0.15, 0.05]
            ),
        }
    )
    lift = 0.3 * (frame["sex"] == "m") + 0.2 * (frame["age"] == "old")
    frame["p"] = np.clip(rng.normal(0.3, 0.2, N) + lift, 0.01, 0.99).round(2)
    frame["y"] = (rng.random(N) < frame["p"]).astype(np.int8)
    frame["age"] = pd.Categorical(frame["age"], ["old", "mid", "young"])
    return frame


def split_of(frame, **changes):
    rows = np.arange(len(frame))
    arguments = {
        "calibration": rows[rows % 3 > 0],
        "test": rows[rows % 3 == 0],
        "y": frame["y"].to_numpy(),
        "score_type": "probability",
    } | changes
    margins = 2 * frame["p"].to_numpy() - 1
    return SplitScores.of(margins, frame["sex"].to_numpy(object), **arguments)


def test_groups_are_named_in_the_order_given_and_checked(table):
    split = split_of(table, names=("m", "f"))
    assert split.test.names == ("m", "f")
    sexes = np.array(["m", "f"])[split.test.codes]
    assert (sexes == table["sex"].iloc[split.test_rows]).all()
    odd = table.assign(sex=table["sex"].where(table.index != 0, "x"))
    with pytest.raises(ValueError, match=r"1 test rows are in groups without.*'x'"):
        split_of(odd)
    with pytest.raises(ValueError, match=r"fewer than two rows: x \(1\); no"):
        split_of(table.assign(sex=table["sex"].where(table.index != 1, "x")))


def test_rows_without_a_split_are_dealt_alike_in_every_group(table):
    split = split_of(table, calibration=None, test=None)
    all_rows = np.sort(np.concatenate([split.test_rows, split.calibration_rows]))
    assert (all_rows == np.arange(N)).all()
    shares = (
        table.iloc[split.test_rows]["sex"].value_counts() / table["sex"].value_counts()
    )
    assert shares.tolist() == pytest.approx([0.2, 0.2], abs=0.01)


def test_scores_come_back_as_they_were_given(table):
    rows = split_of(table).test
    assert rows.scores == pytest.approx(table["p"].iloc[::3].to_numpy())
    assert rows.score_range == pytest.approx((rows.scores.min(), rows.scores.max()))
    assert ScoredRows.read([0.1, -0.4, 0.3, 0.2], sensitive_features=[0, 1, 0, 1]).names


def trade_off(split, gamma=0.2):
    ramp = RampThreshold(gamma, 0.4, score_type="probability")
    report = ramp.fit_rows(split.calibration).report(split.test)
    return trade_off_table(report, fit_baselines(split.calibration)), report


def test_every_line_is_the_method_fitted_anew_on_the_same_rows(table):
    split = split_of(table)
    learned, test = (
        table.iloc[rows] for rows in (split.calibration_rows, split.test_rows)
    )
    content, _ = trade_off(split)
    methods = content.set_index("method")
    assert len(methods) == 5
    expected = [
        (methods.loc[PARITY], HardtThreshold(score_type="probability")),
        (methods.iloc[0], RampThreshold(0.2, 0.4, score_type="probability")),
    ]
    for line, method in expected:
        method.fit(learned["p"], learned["y"], sensitive_features=learned["sex"])
        h = method.predict_proba(test["p"], sensitive_features=test["sex"])
        right = np.where(test["y"] == 1, h, 1 - h).sum()
        names = ["accuracy", "accuracy_low", "accuracy_high"]
        ends = intervals.wilson_interval(right, len(test))
        assert line[names].tolist() == pytest.approx(
            [right / len(test), *map(float, ends)]
        )
        gap = np.ptp(pd.Series(h).groupby(test["sex"].to_numpy()).mean())
        assert line["demographic_parity_difference"] == pytest.approx(gap)
    plain = (test["p"] > 0.5).astype(int)
    accuracy = (plain == test["y"]).mean()
    assert methods.loc[BEFORE, "accuracy"] == pytest.approx(accuracy)


def test_without_outcomes_one_baseline_is_left(table):
    split = split_of(table, y=None)
    assert [*fit_baselines(split.calibration)] == ["Reject option"]
    assert trade_off(split)[0]["accuracy"].isna().all()


def test_gaps_inside_subgroups_of_decisions_are_the_local_table(table):
    split = split_of(table)
    _, report = trade_off(split)
    inside = table["age"].iloc[split.test_rows]
    inside_table = report.inside(inside, min_size=20)
    arguments = {"sensitive_features": report.rows.labels, "subgroups": inside}
    expected = local_di(report.rows.before, **arguments, min_size=20)
    names = ["before", "before_low", "before_high"]
    np.testing.assert_allclose(
        inside_table[names], expected[["local_di", "ci_low", "ci_high"]], atol=1e-12
    )
    rates = pd.Series(report.h).groupby([inside.to_numpy(), report.rows.labels]).mean()
    gaps = [np.ptp(rates[subgroup]) for subgroup in inside_table["subgroup"]]
    assert inside_table["after"].tolist() == pytest.approx(gaps)


def test_a_row_of_weight_k_is_k_rows_to_every_threshold_and_number(table):
    weight = np.random.default_rng(1).integers(0, 4, N)
    weight[table["p"].between(0.4, 0.5) & (table["sex"] == "f")] *= 5
    again = np.repeat(np.arange(N), weight)
    parts = {"calibration": again % 3 > 0, "test": again % 3 == 0}
    repeated = table.iloc[again].reset_index(drop=True)
    once = split_of(table, weight=weight.astype(float))
    many = split_of(repeated, **{k: np.flatnonzero(v) for k, v in parts.items()})
    fitted = []
    for frame, split in ((table, once), (repeated, many)):
        ramp = RampThreshold(score_type="probability").fit_rows(split.calibration)
        content, report = trade_off(split)
        inside = report.inside(frame["age"].iloc[split.test_rows])
        fitted.append(
            [
                ramp.starts_,
                report.outcome[["value", "change"]],
                report.changed[["rate_before", "rate"]],
                report.by_measure("precision")[["before", "after"]],
                content[["accuracy", "demographic_parity_difference"]],
                inside[["before", "after"]],
                list(ramp.expected_rates_.values()),
            ]
        )
    for weighted, plain in zip(*fitted, strict=True):
        np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_weights_that_are_all_alike_change_no_interval(table):
    plain, _ = trade_off(split_of(table))
    weighted, _ = trade_off(split_of(table, weight=np.full(N, 2.0)))
    pd.testing.assert_frame_equal(plain, weighted)


def test_the_details_say_the_paired_changes(table):
    _, report = trade_off(split_of(table))
    gap = report.outcome.iloc[1]
    moved = f"narrows the gap between groups by {-100 * gap['change']:.1f}"
    assert gap["change_high"] < 0
    assert moved in report.details()
    share = report.changed["changed"].sum() / report.changed["n"].sum()
    assert f"It changes {share:.1%} of the decisions." in report.details()
    assert "accuracy" in report.details()
