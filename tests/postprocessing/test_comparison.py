import numpy as np
import pandas as pd
import pytest

from fairdash.metrics import local_di
from fairdash.postprocessing import (
    COVARIANCE,
    RAMP,
    CovarianceRamp,
    FittedBaselines,
    HardtThreshold,
    LocalCorrections,
    RampThreshold,
    ScoredRows,
    SplitScores,
    cross,
    expected_outcome,
)
from fairdash.postprocessing.comparison import BEFORE, CROSSED
from fairdash.postprocessing.outcome import expected_local_di

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
    given = {
        "calibration": rows[rows % 3 > 0],
        "test": rows[rows % 3 == 0],
        "y": frame["y"].to_numpy(),
        "score_type": "probability",
    } | changes
    margins = 2 * frame["p"].to_numpy() - 1
    return SplitScores.of(margins, frame["sex"].to_numpy(object), **given)


def corrections(frame, split, **changes):
    subgroups = frame["age"]
    return LocalCorrections.of(
        split.calibration,
        split.test,
        learned_subgroups=subgroups.iloc[split.calibration_rows],
        reported_subgroups=subgroups.iloc[split.test_rows],
        min_size=20,
        **changes,
    )


def test_local_rates_are_those_of_the_estimators_fitted_anew(table):
    split = split_of(table)
    learned, test = (
        table.iloc[rows] for rows in (split.calibration_rows, split.test_rows)
    )
    ramp = RampThreshold(0.2, score_type="probability").fit_rows(split.calibration)
    found = corrections(table, split).compare(ramp.chance(split.test), 0.2)
    assert found.excluded == []

    by_sex = RampThreshold(0.2, score_type="probability").fit(
        learned["p"], learned["y"], sensitive_features=learned["sex"]
    )
    cells = [
        cross(part["age"].astype(object).fillna("none"), part["sex"])
        for part in (learned, test)
    ]
    crossed = RampThreshold(0.2, score_type="probability").fit(
        learned["p"], learned["y"], sensitive_features=cells[0]
    )
    control = CovarianceRamp(0.2, score_type="probability").fit(
        learned["p"], sensitive_features=learned["sex"], subgroups=learned["age"]
    )
    expected = {
        BEFORE: (test["p"] > 0.5).astype(float),
        RAMP: by_sex.predict_proba(test["p"], sensitive_features=test["sex"]),
        CROSSED: crossed.predict_proba(test["p"], sensitive_features=cells[1]),
        COVARIANCE: control.predict_proba(
            test["p"], sensitive_features=test["sex"], subgroups=test["age"]
        ),
    }
    overall = found.overall.set_index("label")["overall"]
    drawn = found.drawn()
    for label, h in expected.items():
        gaps, values = (
            table[table["label"] == label].drop(columns="label")
            for table in (drawn["cells"], drawn["values"])
        )
        own = gaps.set_index("subgroup")
        values = values.set_index(["subgroup", "group"])["value"]
        by_cell = test.assign(h=h).groupby(["age", "sex"], observed=True)["h"].mean()
        for age in ("old", "mid", "young"):
            rates = by_cell[age]
            assert values[age, "f"] == pytest.approx(rates["f"], abs=1e-9)
            assert own.loc[age, "gap"] == pytest.approx(np.ptp(rates), abs=1e-9)
        rates = test.assign(h=h).groupby("sex")["h"].mean()
        assert overall[label] == pytest.approx(np.ptp(rates), abs=1e-9)


def test_small_subgroups_share_one_crossed_ramp(table):
    few = [*table.index[table["age"] == "young"][24:]]
    few += [*table.index[table["age"] == "mid"][24:]]
    frame = table.drop(few).reset_index(drop=True)
    split = split_of(frame)
    h = np.full(len(split.test_rows), 0.5)
    found = corrections(frame, split).compare(h, 0.2)
    small = frame["age"].isin(["young", "mid"])
    merged = cross(
        frame["age"].astype(object).mask(small, "small").fillna("none"), frame["sex"]
    )
    learned, test = split.calibration_rows, split.test_rows
    ramp = RampThreshold(0.2, score_type="probability").fit(
        frame["p"].iloc[learned],
        frame["y"].iloc[learned],
        sensitive_features=merged[learned],
    )
    h = ramp.predict_proba(frame["p"].iloc[test], sensitive_features=merged[test])
    shown = found.overall.set_index("label")["overall"]
    rates = pd.Series(h).groupby(frame["sex"].iloc[test].to_numpy()).mean()
    assert shown[CROSSED] == pytest.approx(np.ptp(rates), abs=1e-9)


def test_cells_without_calibration_rows_exclude_the_crossed_ramp(table):
    outside = ~table["age"].isin(["old", "mid"]) & (table["sex"] == "f")
    frame = table[~outside | (table.index % 3 == 0)]
    part = frame.index.to_numpy() % 3
    split = split_of(
        frame, calibration=np.flatnonzero(part), test=np.flatnonzero(part == 0)
    )
    found = corrections(frame, split).compare(np.full(len(split.test_rows), 0.5), 0.2)
    assert found.excluded == [CROSSED]
    assert CROSSED not in set(found.estimates["model"])


def test_with_three_groups_the_first_is_held_against_the_others(table):
    rng = np.random.default_rng(1)
    frame = table.assign(sex=np.where(rng.random(N) < 0.2, "x", table["sex"]))
    split = split_of(frame)
    local = corrections(frame, split)
    control = CovarianceRamp(0.3, group="f", score_type="probability")
    control.fit_cells(local.learned)
    again = CovarianceRamp(0.3, group="f").fit(
        split.calibration.margins,
        sensitive_features=frame["sex"].iloc[split.calibration_rows],
        subgroups=frame["age"].iloc[split.calibration_rows],
    )
    for age in ("old", "mid", "young"):
        assert control.thresholds_[age] == pytest.approx(again.thresholds_[age])


def test_baselines_are_the_methods_on_the_same_rows(table):
    split = split_of(table)
    fitted = FittedBaselines.fit(split.calibration)
    found = fitted.table(split.test).set_index("label")
    learned, test = (
        table.iloc[rows] for rows in (split.calibration_rows, split.test_rows)
    )
    hardt = HardtThreshold(score_type="probability").fit(
        learned["p"], learned["y"], sensitive_features=learned["sex"]
    )
    assert fitted.hardt == list(hardt.rules_.values())
    h = hardt.predict_proba(test["p"], sensitive_features=test["sex"])
    outcome = expected_outcome(h, sensitive_features=test["sex"], y=test["y"])
    row = found.loc["Hardt, demographic parity"]
    for cell in outcome.to_dict("records"):
        name = cell["metric"]
        shown = row[[name, f"{name}_low", f"{name}_high"]].tolist()
        assert shown == pytest.approx([cell["value"], cell["low"], cell["high"]])
    plain = (test["p"] > 0.5).astype(int)
    assert found.loc[BEFORE, "accuracy"] == pytest.approx((plain == test["y"]).mean())
    assert len(found) == 5


def test_without_outcomes_two_baselines_are_left(table):
    rows = split_of(table, y=None).calibration
    fitted = FittedBaselines.fit(rows)
    assert [kind for kind, _ in fitted.methods] == ["reject", "shift"]
    assert fitted.hardt is None
    assert fitted.table(rows)["accuracy"].isna().all()


def test_expected_local_rates_of_decisions_are_the_local_table(table):
    decided = (table["p"] > 0.5).astype(int)
    given = {"sensitive_features": table["sex"], "subgroups": table["age"]}
    expected = local_di(decided, **given)
    found = expected_local_di(decided, **given)
    pd.testing.assert_frame_equal(
        found[expected.columns.intersection(found.columns)],
        expected[expected.columns.intersection(found.columns)],
        check_dtype=False,
    )


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
    both = np.sort(np.concatenate([split.test_rows, split.calibration_rows]))
    assert (both == np.arange(N)).all()
    shares = (
        table.iloc[split.test_rows]["sex"].value_counts() / table["sex"].value_counts()
    )
    assert shares.tolist() == pytest.approx([0.2, 0.2], abs=0.01)


def test_scores_come_back_as_they_were_given(table):
    rows = split_of(table).test
    assert rows.scores == pytest.approx(table["p"].iloc[::3].to_numpy())
    assert rows.score_range == pytest.approx((rows.scores.min(), rows.scores.max()))
    assert ScoredRows.read([0.1, -0.4, 0.3, 0.2], sensitive_features=[0, 1, 0, 1]).names


def test_rows_of_another_type_than_the_method_is_told_of_are_refused(table):
    rows = split_of(table).calibration
    for method in (RampThreshold(), HardtThreshold()):
        with pytest.raises(ValueError, match="Set `score_type` to 'probability'"):
            method.fit_rows(rows)
    with pytest.raises(ValueError, match="Set `score_type` to 'probability'"):
        CovarianceRamp().fit_cells(corrections(table, split_of(table)).learned)


def test_a_row_of_weight_k_is_k_rows_to_every_threshold_and_number(table):
    weight = np.random.default_rng(1).integers(0, 4, N)
    weight[table["p"].between(0.4, 0.5) & (table["sex"] == "f")] *= 5
    again = np.repeat(np.arange(N), weight)
    parts = {"calibration": again % 3 > 0, "test": again % 3 == 0}
    repeated = table.iloc[again].reset_index(drop=True)
    once = split_of(table, weight=weight.astype(float))
    many = split_of(repeated, **{k: np.flatnonzero(v) for k, v in parts.items()})
    ramp = RampThreshold(score_type="probability")
    values = ["value", "change"]
    fitted = []
    for frame, split in ((table, once), (repeated, many)):
        learned, test = split.calibration, split.test
        own = ramp.fit_rows(learned)
        report, curve = own.report(test), own.curve(test)
        local = corrections(frame, split).compare(report.h, 0.1)
        others = FittedBaselines.fit(learned)
        shown = ["tolerance", "accuracy", "demographic_parity_difference"]
        fitted.append(
            [
                own.starts_,
                report.outcome[values],
                report.changed[["rate_before", "rate"]],
                report.by_measure("precision")[["before", "after"]],
                curve[shown],
                local.estimates["value"],
                local.overall["overall"],
                others.table(test)[shown[1:]],
                list(own.expected_rates_.values()),
            ]
        )
        assert len(others.methods) == 4
    for weighted, plain in zip(*fitted, strict=True):
        np.testing.assert_allclose(weighted, plain, atol=1e-9)


def test_weights_that_are_all_alike_change_no_interval(table):
    ramp, found = RampThreshold(0.1, 0.4, score_type="probability"), []
    for rows in (split_of(table).test, split_of(table, weight=np.full(N, 2.0)).test):
        report = ramp.fit_rows(rows).report(rows)
        found.append([report.outcome, report.changed, ramp.curve(rows)])
    for plain, weighted in zip(*found, strict=True):
        pd.testing.assert_frame_equal(plain, weighted)
