"""`fairdash.audit`: any model, by any measure, with sentences that name who."""

import os
from pathlib import Path

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pytest
from by_hand import local_measure, newcombe_interval
from peers import elsewhere, table

import fairdash
from fairdash.metrics import MEASURES, LocalMeasure, catalog, gap_ends, measure_by_group

DATA = os.environ.get("FAIRDASH_DATA")


def rows(n=1500):
    y, p, group, weight = table(n, groups=3, seed=4)
    part = np.random.default_rng(9).choice(["north", "south"], n)
    named = {"y": y, "p": p, "group": group, "weight": weight, "part": part}
    return pd.DataFrame(named)


def test_every_measure_is_that_of_fairlearn_by_names_of_columns():
    frame = rows()
    report = fairdash.audit(
        "y",
        scores="p",
        sensitive_features="group",
        frame=frame,
        sample_weight="weight",
        subgroups=["part"],
    )
    pred = (frame["p"] > 0.5).astype(int)
    for measure in MEASURES:
        theirs = fairlearn.MetricFrame(
            metrics=elsewhere(measure),
            y_true=frame["y"],
            y_pred=frame["p"] if measure in catalog.SCORE_MEASURES else pred,
            sensitive_features=frame["group"],
            sample_params={"sample_weight": frame["weight"]},
        )
        ours = report.table.loc[measure]
        assert ours[["g0", "g1", "g2"]].tolist() == pytest.approx(
            theirs.by_group.tolist()
        )
        assert abs(ours["gap"]) == pytest.approx(theirs.difference())
    assert report.n == 1500
    assert set(report.local["measure"]) == set(MEASURES)
    arguments = {
        "sensitive_features": frame["group"],
        "subgroups": frame["part"],
        "sample_weight": frame["weight"],
    }
    brier = report.local[report.local["measure"] == "brier"].reset_index(drop=True)
    expected = local_measure("brier", frame["y"], frame["p"], **arguments)
    pd.testing.assert_frame_equal(brier[expected.columns], expected)
    floor = LocalMeasure.of("brier", frame["y"], frame["p"], **arguments).noise_floor()
    assert (brier["chance"] == floor.quantile).all()


def test_gaps_are_signed_and_named_as_one_would_say_it():
    n = 500
    group = np.repeat(["Women", "men"], n)
    pred = np.r_[np.arange(n) < 130, np.arange(n) < 250].astype(int)
    report = fairdash.audit(
        None, pred, sensitive_features=group, decided="approved", outcome="repayment"
    )
    assert (
        report.verdict == "Women is approved 24 points less often than men (18 to 30)."
    )
    row = report.gaps.iloc[0]
    assert (row["group"], row["reference"], row["clear"]) == ("Women", "men", True)
    assert row["difference"] == pytest.approx(-0.24)
    assert row["ratio"] == pytest.approx(0.52)
    turned = fairdash.audit(None, pred, sensitive_features=group, favourable=False)
    assert turned.verdict.startswith("men is predicted positive 24 points more often")
    against_reference = fairdash.audit(
        None, pred, sensitive_features=group, reference="Women"
    )
    assert against_reference.gaps["sentence"].tolist() == [turned.verdict]


def test_without_a_gap_the_verdict_claims_none():
    group = np.tile(["a", "b"], 200)
    pred = np.repeat([0, 1], 200)
    report = fairdash.audit(None, pred, sensitive_features=group)
    assert report.verdict.startswith("No gap between groups is clear")
    assert (
        "b is predicted positive 0 points more or less often than a" in report.verdict
    )
    assert report.gaps["sentence"].str.contains("−").all()


def test_decisions_that_are_all_the_same_are_never_called_fair():
    frame = rows()
    arguments = {"sensitive_features": "group", "frame": frame}
    same = fairdash.audit("y", np.ones(len(frame), int), **arguments)
    text = "All rows get the same decision, so gaps in decisions say nothing."
    assert same.verdict == text
    scored = fairdash.audit(
        "y", scores="p", threshold=2.0, measures=["auc", "accuracy"], **arguments
    )
    assert scored.verdict.startswith(f"{text} No gap between groups is clear by AUC")


def test_the_verdict_is_of_the_measure_asked_first():
    """Women are decided positive less often, in part n only those with the outcome."""
    n = np.arange(400)
    frame = pd.concat(
        [
            pd.DataFrame({"sex": sex, "part": part, "y": n % 2, "d": n % 8 < many})
            for sex, part, many in (
                ("women", "n", 4),
                ("men", "n", 4),
                ("women", "s", 2),
                ("men", "s", 6),
            )
        ],
        ignore_index=True,
    ).astype({"d": int})
    wrong = (frame["sex"] == "women") & (frame["part"] == "n")
    frame.loc[wrong, "d"] = (n % 8 < 7).astype(int) & frame.loc[wrong, "y"]
    arguments = {"sensitive_features": "sex", "frame": frame, "subgroups": ["part"]}
    report = fairdash.audit("y", "d", **arguments)
    counts = frame[frame["part"] == "s"].groupby("sex")["d"].agg(["sum", "size"])
    low, high = newcombe_interval(
        *counts.loc["men"], *counts.loc["women"], confidence=0.975
    )
    ends = gap_ends("selection_rate", 1, float(low), float(high))
    assert (
        "A gap inside a subgroup is beyond chance: in part s, sex: women "
        "is predicted positive 50 points less often than sex: men "
        f"({ends})." in report.verdict
    )
    turned = fairdash.audit("y", "d", measures=["precision"], **arguments)
    assert turned.verdict.startswith("Among rows predicted positive, outcome 1 is")


def test_a_score_with_a_threshold_needs_no_probability():
    frame = rows()
    score = np.ceil(10 * frame["p"].clip(0.01)).to_numpy()
    report = fairdash.audit(
        frame["y"],
        scores=score,
        threshold=5,
        sensitive_features=frame["group"],
        favourable=False,
    )
    assert set(report.by_group["measure"]) == set(MEASURES)
    whole = report.by_group[report.by_group["measure"] == "calibration"]
    # isotonic probabilities are calibrated over all rows, but for their folds
    assert report.rows.endswith("each tenth of the rows by the others.")
    assert (whole["value"] * whole["n"]).sum() == pytest.approx(0, abs=5)
    expected = measure_by_group(
        "false_positive_rate",
        frame["y"],
        (score >= 5).astype(int),
        sensitive_features=frame["group"],
    )
    false_positives = report.by_group[
        report.by_group["measure"] == "false_positive_rate"
    ]
    assert false_positives["value"].tolist() == expected["value"].tolist()
    curve = report.calibration.set_index(["group", "bin"])
    inside = (frame["group"] == "g1") & (score == 7)
    assert curve.loc[("g1", "7"), "n"] == inside.sum()
    assert curve.loc[("g1", "7"), "rate"] == frame["y"][inside].mean()


class Reader:
    """A model of a column that the table lacks."""

    feature_names_in_ = np.array(["height"])

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_pred": None}, "Give decisions as `y_pred`, `scores` or a `model`"),
        ({"sensitive_features": "race"}, "`sensitive_features` must be one of"),
        ({"scores": [0.2, np.nan] * 750}, "the first is row 1 with nan"),
        ({"measures": ["fairness"]}, "`measures` must be one of"),
        ({"measures": ["auc"]}, "AUC needs `scores`"),
        ({"y_pred": [0, 1]}, "inconsistent numbers of samples"),
        ({"subgroups": ["part", "sex"]}, "`subgroups` must be one of"),
        ({"y_pred": None, "scores": [0.5, 7.0] * 750}, "no probabilities: 750 rows"),
        ({"sensitive_features": []}, "inconsistent numbers of samples"),
        ({"model": Reader()}, "reads a column 'height', which `frame` does not have"),
    ],
)
def test_what_cannot_be_audited_is_an_error(change, words):
    frame = rows().assign(d=lambda table: (table["p"] > 0.5).astype(int))
    arguments = {"y_true": "y", "y_pred": "d", "sensitive_features": "group"} | change
    with pytest.raises(ValueError, match=words):
        fairdash.audit(frame=frame, **arguments)


def test_several_columns_are_crossed():
    frame = rows()
    report = fairdash.audit(
        "y", scores="p", sensitive_features=["group", "part"], frame=frame
    )
    assert "g0 × north" in set(report.by_group["group"])
    assert report.by_group["group"].nunique() == 6


@pytest.mark.parametrize("columns", [[0, 1], ["a", "b"]])
def test_groups_of_rows_are_no_names_of_columns(columns):
    group = np.tile(columns, 300)
    pred = np.repeat([0, 1], [250, 350])
    frame = pd.DataFrame(np.ones((600, 2)), columns=columns)
    arguments = {"frame": frame, "measures": ["selection_rate"]}
    report = fairdash.audit(None, pred, sensitive_features=group.tolist(), **arguments)
    alone = fairdash.audit(None, pred, sensitive_features=group)
    assert report.verdict == alone.verdict


def test_intervals_are_told_with_the_confidence_asked_for():
    frame = rows()
    arguments = {"scores": "p", "sensitive_features": "group", "frame": frame}
    report = fairdash.audit("y", confidence=0.8, **arguments)
    assert str(report).endswith("1,500 rows, 80% intervals")
    assert report._repr_html_().startswith("<p>")
    assert "1,500 rows, 80% intervals" in fairdash.show(report).page


@pytest.mark.skipif(DATA is None, reason="real tables are not here")
def test_compas_has_the_error_rates_that_propublica_published():
    frame = pd.read_csv(Path(DATA) / "raw" / "compas-scores-two-years.csv")
    frame = frame[frame["race"].isin(["African-American", "Caucasian"])]
    report = fairdash.audit(
        "two_year_recid",
        scores="decile_score",
        threshold=5,
        sensitive_features="race",
        frame=frame,
        subgroups=["age_cat"],
        favourable=False,
    )
    rates = report.table[["African-American", "Caucasian"]].mul(100).round(2)
    # https://github.com/propublica/compas-analysis, "Compas Analysis.ipynb"
    assert rates.loc["false_positive_rate"].tolist() == [44.85, 23.45]
    assert rates.loc["false_negative_rate"].tolist() == [27.99, 47.72]
    # "PPV" there: 0.63 and 0.59, the answer of Northpointe
    assert rates.loc["precision"].tolist() == pytest.approx([63, 59], abs=0.5)


def test_subgroups_are_labels_or_a_table_whose_columns_are_crossed():
    rng = np.random.default_rng(3)
    y, d = rng.integers(0, 2, (2, 800))
    group, a, b = rng.choice(["x", "y"], (3, 800))
    arguments = {"sensitive_features": group, "measures": ["selection_rate"]}
    table = pd.DataFrame({"self": a, "n": b})
    crossed = fairdash.audit(y, d, subgroups=table, **arguments).local
    by_hand = fairdash.audit(y, d, subgroups=np.char.add(a, b), **arguments).local
    assert crossed["subgroup"].tolist()[:1] == ["x × x"]
    assert crossed["gap"].tolist() == by_hand["gap"].tolist()
    first = fairdash.audit(y, d, subgroups=table[["n"]], **arguments).local
    assert first["subgroup"].tolist() == ["x", "y"]


@pytest.mark.parametrize("pred", [[0.2, 0.7] * 50, ["low", "high"] * 50])
def test_what_is_no_decision_is_sent_to_the_audit_of_outcomes(pred):
    with pytest.raises(ValueError, match="audit_outcomes"):
        fairdash.audit([0, 1] * 50, pred, sensitive_features=["a", "b"] * 50)


@pytest.mark.parametrize(
    ("kind", "recalibrated"),
    [
        ({"of_scores": True}, True),
        ({"takes": "probability"}, True),
        ({"takes": "rank"}, False),
        ({}, False),
    ],
)
def test_a_measure_says_itself_whether_scores_become_probabilities_for_it(
    kind, recalibrated, monkeypatch
):
    seen = []

    def squared(y, given):
        seen.append(given)
        return (given - y) ** 2

    clause = "the distance is {decimals} {higher} for {group} than for {other}"
    toy = {"values": squared, "better": "low", "in_points": False, **kind}
    monkeypatch.setattr(catalog, "_CATALOG", dict(catalog._CATALOG))
    catalog.add(catalog.Measure("toy", "Distance", "(s − y)²", clause, **toy))
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    points = y + rng.integers(1, 9, 400)
    audit = fairdash.audit(
        y,
        scores=points,
        threshold=5,
        sensitive_features=rng.choice(["a", "b"], 400),
        measures="toy",
    )
    assert audit.recalibrated == recalibrated
    assert (catalog.RECALIBRATED in audit.rows) == recalibrated
    given = max(seen, key=len)  # others show how far the measure can go
    assert given.min() >= 0
    assert given.max() <= 1
    assert (len(set(given)) == 2) == (kind == {})  # decisions
