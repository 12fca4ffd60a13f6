"""Classes, numbers and rankings of a real table, against MetricFrame and by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from reading import check_schema
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, precision_score, recall_score
from toys import people
from typer.testing import CliRunner

from fairdash.audits import gaps, search_model, tables, trials
from fairdash.cli import app
from fairdash.datasets import ScoreColumn, Subgroups, guessing
from fairdash.metrics.group.catalog import MEASURE_NAMES, exposure
from fairdash.reports import score_report
from fairdash.store import Store


@pytest.fixture(scope="module")
def patients():
    """442 patients, their progression and a prediction by body mass index."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    frame = X.assign(sex=X["sex"].astype(int).astype(str), y=y)
    frame["predicted"] = 10 * X["bmi"] - 110 + 12 * (frame["sex"] == "2")
    frame["band"] = pd.cut(X["age"], [0, 45, 60, 90]).astype(str)
    cuts = [0, 100, 180, 400]
    frame["grade"] = pd.cut(y, cuts, labels=["low", "middle", "high"]).astype(str)
    frame["predicted_grade"] = pd.cut(
        frame["predicted"], cuts, labels=["low", "middle", "high"]
    ).astype(str)
    return frame


@pytest.fixture(scope="module")
def grades(patients):
    """Each class of the patients' progression against the rest."""
    return tables.audit_outcomes(
        "grade",
        "predicted_grade",
        kind="classes",
        sensitive_features="sex",
        frame=patients,
    )


def value(found, measure, group, outcome=""):
    rows = found.by_group
    rows = rows[(rows["measure"] == measure) & (rows["outcome"] == outcome)]
    return rows.set_index("group").loc[group, "value"]


def test_numbers_are_those_of_metric_frame(patients):
    report = tables.audit_outcomes(
        "y", "predicted", kind="numbers", sensitive_features="sex", frame=patients,
        subgroups=patients["band"], min_size=20,
    )  # fmt: skip
    y = patients["y"]
    predicted = patients["predicted"]
    expected = MetricFrame(
        metrics={
            "mean_prediction": lambda y, p: p.mean(),
            "mean_error": lambda y, p: (p - y).mean(),
            "mean_absolute_error": mean_absolute_error,
        },
        y_true=y,
        y_pred=predicted,
        sensitive_features=patients["sex"],
    )
    for measure, by_group in expected.by_group.items():
        for group in "12":
            assert value(report, measure, group) == pytest.approx(by_group[group])
        gaps = report.gaps.set_index("measure").loc[measure]
        assert abs(gaps["difference"]) == pytest.approx(expected.difference()[measure])
    inside = patients.pivot_table("predicted", "band", "sex")
    local = report.local[report.local["measure"] == "mean_prediction"]
    local = local.set_index("subgroup")["gap"]
    for band, row in inside.iterrows():
        assert local[band] == pytest.approx(abs(row["1"] - row["2"]))
    first_group, two = (predicted[patients["sex"] == group] for group in "12")
    z = norm.ppf(1 - 0.05 / 6)  # three measures at once
    half = z * np.hypot(
        first_group.std() / np.sqrt(len(first_group)), two.std() / np.sqrt(len(two))
    )
    gap = report.gaps.iloc[0]
    assert (gap["ci_high"] - gap["ci_low"]) / 2 == pytest.approx(half, rel=0.03)
    assert report.verdict.startswith("The mean prediction is ")


def test_classes_are_each_held_against_the_rest(patients, grades):
    for name in ("low", "middle", "high"):
        y = patients["grade"] == name
        decided = patients["predicted_grade"] == name
        frame = MetricFrame(
            metrics={"true_positive_rate": recall_score, "precision": precision_score},
            y_true=y,
            y_pred=decided,
            sensitive_features=patients["sex"],
        ).by_group
        share = decided.groupby(patients["sex"]).mean()
        for group in "12":
            assert value(grades, "selection_rate", group, name) == share[group]
            for measure in frame:
                assert value(grades, measure, group, name) == pytest.approx(
                    frame.loc[group, measure]
                )
    low = np.where(patients["predicted_grade"] == "low", "yes", "no")
    two = tables.audit_outcomes(
        None, low, kind="classes", sensitive_features=patients["sex"]
    ).gaps
    three = grades.gaps[grades.gaps["measure"] == "selection_rate"]
    three = three[three["outcome"] == "low"].iloc[0]
    two = two[two["outcome"] == "yes"].iloc[0]
    width = [row["ci_high"] - row["ci_low"] for row in (two, three)]
    assert width[0] < width[1], "more classes are held at once"


def test_a_ranking_has_the_share_at_its_top_and_exposure(patients):
    report = tables.audit_outcomes(
        None, "predicted", kind="ranking", sensitive_features="sex", frame=patients
    )
    order = patients.sort_values("predicted", ascending=False)
    first = order.index[: round(0.1 * len(order))]
    cut = patients.loc[first[-1], "predicted"]
    above = patients["predicted"] > cut
    tied = patients["predicted"] == cut
    places = above + tied * (len(first) - above.sum()) / tied.sum()
    share = places.groupby(patients["sex"]).mean()
    assert places.mean() == pytest.approx(len(first) / len(order))
    rank = patients["predicted"].rank(ascending=False, method="first")
    discount = 1 / np.log2(1 + rank)
    tied = discount.groupby(patients["predicted"]).transform("mean")
    attention = (tied / tied.mean()).groupby(patients["sex"]).mean()
    for group in "12":
        top = value(report, "selection_rate", group, "top 10%")
        assert top == pytest.approx(share[group])
        assert value(report, "exposure", group) == pytest.approx(attention[group])
    assert exposure(np.array([3.0, 1.0, 2.0])).mean() == pytest.approx(1)


@pytest.fixture(scope="module")
def kept(patients, tmp_path_factory):
    """The patients in a store, with both predictions, and a data set for each."""
    store = Store(tmp_path_factory.mktemp("home"))
    digest = store.add_table(patients.to_csv(index=False).encode(), "patients.csv")
    frame = store.table(digest)
    inside = Subgroups(columns=("band",), min_size=20)
    ids = [
        store.add_dataset(
            digest, guessing.guess_rest(frame, target, "sex"), target, inside
        )
        for target in ("y", "grade")
    ]
    return store, inside, *ids


def test_pages_measure_numbers_and_ranks_inside_subgroups(patients, kept):
    store, inside, data, _ = kept
    (model,) = trials.own_models(store, data)
    assert gaps.opening_measure(store, model, data) == "mean_error"
    whole = gaps.every_measure(store, model, data).set_index("measure")
    options = {"sensitive_features": "sex", "frame": patients, "subgroups": inside}
    for kind in ("numbers", "ranking"):
        y = "y" if kind == "numbers" else None
        expected = tables.audit_outcomes(y, "predicted", kind=kind, **options)
        for measure in set(expected.gaps["measure"]) - {"selection_rate"}:
            local = gaps.local_by_measure(store, [model], data, inside, measure)
            wanted = expected.local[expected.local["measure"] == measure]
            wanted = wanted.set_index("subgroup")["gap"]
            gaps_by_subgroup = local.model_gaps.set_index("subgroup")["gap"]
            assert gaps_by_subgroup.to_dict() == pytest.approx(
                wanted.to_dict(), nan_ok=True
            )
            assert np.isfinite(local.chance)
            name = MEASURE_NAMES[measure]
            assert list(whole.loc[name, "values"]) == pytest.approx(
                [value(expected, measure, group) for group in "12"]
            )
    subgroups = search_model(store, model, data, "mean_error", min_size=60)
    assert {"Its mean", "Adjusted p"} <= set(subgroups.ranked())


def test_a_column_of_predicted_classes_is_decisions_on_pages(grades, kept):
    store, _, _, data = kept
    roles = store.dataset_record(data).roles
    model = trials.own_models(store, data)[-1]
    assert roles.scores[-1].positive == roles.positive
    by_class = gaps.every_class(store, model, data)
    names = ["group", "reference"]  # a data set calls group 1 "sex 1"
    pd.testing.assert_frame_equal(
        by_class.gaps.drop(columns=names), grades.gaps.drop(columns=names)
    )
    assert by_class.verdict in score_report(store, data).to_html()
    column = ScoreColumn(column="said", kind="decision", positive=("low",))
    with pytest.raises(ValueError, match="a decision; 1 rows do not, first row 2"):
        column.values(pd.DataFrame({"said": ["low", None]}))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"y_pred": "x", "kind": "numbers"},
            "`y_pred` must be finite numbers; 600 rows",
        ),
        ({"y_pred": "skill", "kind": "classes"}, "Classes must be 2 to 20, got"),
        ({"y_pred": "skill", "kind": "ranking", "top": 0}, "`top` must be a share"),
        ({"y_pred": "skill", "kind": "trees"}, "`kind` must be"),
        ({"y_pred": "skil", "kind": "numbers"}, "`y_pred`"),
    ],
)
def test_what_cannot_be_audited_is_refused_with_the_way_out(asked, message):
    frame = people(600).assign(x="text")
    with pytest.raises(ValueError, match=message):
        tables.audit_outcomes(None, sensitive_features="origin", frame=frame, **asked)


def test_the_shell_audits_numbers_and_counts_what_it_leaves_out(patients, tmp_path):
    frame = patients.copy()
    frame.loc[:4, "y"] = np.nan
    frame.to_csv(tmp_path / "patients.csv", index=False)
    command = [
        "audit",
        tmp_path / "patients.csv",
        "--kind",
        "numbers",
        "--group",
        "sex",
    ]
    command += ["--score", "predicted", "--outcome", "y", "--subgroup", "band"]
    command += ["--out", tmp_path / "a.json", "--report", tmp_path / "a.html"]
    done = CliRunner().invoke(app, [*map(str, command)])
    assert done.exit_code == 0, done.output
    assert "5 rows excluded: 5 with no value in y" in done.output
    file = json.loads((tmp_path / "a.json").read_text())
    check_schema(file, "audit_outcomes")
    assert file["excluded"] == [{"reason": "no value in y", "column": "y", "rows": 5}]
    assert (file["rows"], file["verdict"] in done.output) == (437, True)
    assert "Mean absolute error" in (tmp_path / "a.html").read_text()
