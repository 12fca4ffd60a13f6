"""Many columns of scores at once."""

import numpy as np
import pandas as pd
import pytest

from fairdash.postprocessing import (
    HardtThreshold,
    RampThreshold,
    SplitScores,
    TableScores,
    compare_scores,
    expected_outcome,
    scores_with_outcomes,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    n = 1200
    sex = rng.choice(["f", "m", "x"], n)
    columns = {"sex": sex, "hair": rng.choice(["blond", "other"], n)}
    for i, name in enumerate(["Smiling", "Smiling_Big", "Young"]):
        p = np.clip(rng.normal(0.3 + 0.2 * (sex == "m"), 0.2 + 0.02 * i, n), 0.01, 0.99)
        columns[name] = 2 * (rng.uniform(size=n) < p) - 1
        columns[f"p_{name}"] = p
    columns["decided"] = 2 * (columns["p_Young"] > 0.5) - 1
    columns["flat"] = 0.25
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x", "0.5"], "must hold probabilities or margins.*first row 1 with"),
        (pd.array([0.5, None], dtype="Float64"), "first row 2 with"),
    ],
)
def test_a_score_that_cannot_be_read_is_named_with_its_row(column, words):
    frame = pd.DataFrame({"s": column, "g": ["a", "b"]})
    with pytest.raises(ValueError, match=words):
        TableScores.read(frame, "s", ["g"])


@pytest.mark.parametrize("groups", [(1, 2), (1.0, 2.0), (False, True), (0.5, "b")])
def test_groups_of_any_type_are_parted_alike(groups):
    rng = np.random.default_rng(3)
    place = rng.integers(0, 2, 400)
    labels = np.array(groups, object if "b" in groups else None)[place]
    split = SplitScores.of(rng.uniform(-1, 1, 400), labels)
    assert split.calibration.codes.tolist() == place[split.calibration_rows].tolist()
    assert split.test.codes.tolist() == place[split.test_rows].tolist()


def test_a_missing_outcome_is_no_outcome_0():
    frame = pd.DataFrame({"s": [0.2, 0.5], "g": ["a", "b"], "y": [None, "1"]})
    with pytest.raises(ValueError, match="column 'y', has no value in 1 rows"):
        TableScores.read(frame, "s", ["g"], "y", "1")


def test_every_column_is_corrected_as_on_its_own(table):
    scores = {"p_Smiling": "Smiling", "p_Young": "Young", "decided": "Young"}
    found = compare_scores(table, scores, ["sex"], gamma=0.2)
    assert found.refused == {}
    for score, outcome in scores.items():
        values = table[score].to_numpy(float)
        kind = "decision" if score == "decided" else "probability"
        margins = values if kind == "decision" else 2 * values - 1
        y = (table[outcome] == 1).to_numpy(np.int8)
        split = SplitScores.of(margins, table["sex"].to_numpy(), y=y, score_type=kind)
        own = found.table[found.table["score"] == score].set_index("method")
        assert (own["n"] == len(split.test_rows)).all()
        ramp = RampThreshold(0.2, score_type=kind).fit_rows(split.calibration)
        hardt = HardtThreshold(score_type=kind).fit_rows(split.calibration)
        h = {
            "No correction": split.test.before.astype(float),
            "Ramp": ramp.chance(split.test),
            "Hardt, demographic parity": hardt.chance(split.test),
        }
        for method, decided in h.items():
            outcome_table = expected_outcome(
                decided, sensitive_features=split.test.codes, y=split.test.y
            )
            shown = own.loc[method, ["accuracy", "demographic_parity_difference"]]
            assert shown.tolist() == pytest.approx(outcome_table["value"].tolist())
        assert own.loc["Ramp", "target_rate"] == ramp.target_rate_


def test_the_summary_is_of_all_columns_and_what_fails_is_said(table):
    scores = {"p_Smiling": "Smiling", "p_Young": "Young", "flat": "Young"}
    found = compare_scores(table, scores, ["sex"])
    assert list(found.refused) == ["flat"]
    assert "constant" in found.refused["flat"]
    ramps = found.table[found.table["method"] == "Ramp"]
    row = found.summary().set_index("method").loc["Ramp"]
    di = ramps["demographic_parity_difference"]
    assert row["scores"] == 2
    assert row["accuracy"] == pytest.approx(ramps["accuracy"].mean())
    assert row["demographic_parity_difference_sd"] == pytest.approx(di.std(ddof=1))
    assert row["largest_di"] == di.max()
    plain = found.table[found.table["method"] == "No correction"]
    before = plain["demographic_parity_difference"]
    said = found.verdict()
    assert f"from {before.mean():.3f} to {di.mean():.3f}" in said
    assert said.endswith("Not corrected: flat.")


def test_names_tell_the_outcome_of_scores(table):
    pairs = scores_with_outcomes(table, ["sex"])
    assert pairs == {
        "p_Smiling": "Smiling", "p_Smiling_Big": "Smiling_Big", "p_Young": "Young"
    }  # fmt: skip
    asked = scores_with_outcomes(table, ["sex"], "Young", ["flat", "p_Smiling"])
    assert asked == {"flat": "Young", "p_Smiling": "Smiling"}
    decisions = table[["sex", "hair", "decided", "Young"]]
    assert scores_with_outcomes(decisions, ["sex"], "Young") == {"decided": "Young"}


@pytest.mark.parametrize(
    "scores, message",
    [
        ({}, "These are 0 columns"),
        ({f"c{i}": None for i in range(41)}, "These are 41 columns"),
        ({"absent": None}, "no column 'absent'"),
        ({"p_Young": "sex"}, "'sex' must hold two values"),
        ({"flat": "Young"}, "None of the columns can be corrected. flat:"),
    ],
)
def test_what_cannot_be_corrected_is_refused(table, scores, message):
    with pytest.raises(ValueError, match=message):
        compare_scores(table, scores, ["sex"])
