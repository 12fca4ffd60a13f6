"""A model that exists already: a column of scores, from upload to who is worse off."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import button, figures, labels, numbers, sent, widget, words
from toys import ROLES, people, pipeline, pipeline_as_onnx, prisoners, train_sweep

from fairdash import ui
from fairdash._escaping import plain
from fairdash._wording import percent
from fairdash.audits import choices, trials
from fairdash.audits.sweeps import finished_sweep
from fairdash.datasets import Subgroups, guessing, split
from fairdash.sweep import MethodGrid
from fairdash.ui.widgets.scores import own_margins

DATA = os.environ.get("FAIRDASH_DATA")


def table_of(page):
    (table,) = (d.value for d in page.dataframe if "Four fifths" in d.value)
    return table.set_index("Measure")


def test_a_table_of_decisions_alone_is_audited_and_not_trained(visit):
    frame = people()[["hired", "origin"]]
    rows_here = np.flatnonzero(frame["origin"] == "here")
    frame = frame.assign(
        predicted=np.isin(np.arange(600), rows_here[rows_here % 3 > 0]) * 1
    )
    page = visit("Data")
    content = frame.to_csv(index=False).encode()
    page.file_uploader[0].upload("decided.csv", content, "text/csv").run()
    assert not page.exception
    assert "Audit a plain model" not in labels(page)
    button(page, "Audit predicted").click().run()
    assert not page.exception
    address = dict(page.query_params)
    page = visit("Local fairness", **address)
    assert not page.exception
    text = words(page)
    points = round(100 * frame.groupby("origin")["predicted"].mean()["here"])
    expected = f"origin: there is predicted “hired” {points} points less often"
    assert f"{expected} than origin: here" in text
    assert "). By predicted = 1, all rows." in text
    assert "Over all rows" not in text
    for name in ("Train", "Sweep"):
        page = visit(name, **address)
        assert not page.exception
        assert "Nothing to train from" in words(page)
        assert "Choose features" in labels(page)
    with pytest.raises(ValueError, match="No column of 'decided' is a feature"):
        ui.start_training(address["data"], MethodGrid(method="unconstrained"), 1)


def test_from_upload_to_error_rates_in_three_clicks(visit):
    frame = prisoners()
    page = visit("Data")
    content = frame.to_csv(index=False).encode()
    page.file_uploader[0].upload("rated.csv", content, "text/csv").run()
    assert not page.exception
    (record,) = ui.store().datasets()
    (score,) = record.roles.scores
    assert (score.column, score.kind, score.threshold) == ("decile_score", "score", 5)
    assert "decile_score" not in record.roles.features
    button(page, plain("Audit decile_score")).click().run()
    assert not page.exception
    assert "Where is the model unfair?" in words(page)
    assert not ui.store().runs()
    page = visit("Local fairness", **page.query_params)
    assert not page.exception
    table = table_of(page)
    feature = record.roles.sensitive_feature
    dataset = ui.store().dataset(record.id)
    high = (dataset.frame["decile_score"] >= 5).to_numpy()
    for measure, outcome, decided in (
        ("False positive rate", 0, True),
        ("False negative rate", 1, False),
    ):
        for group in dataset.group_names:
            inside = (dataset.sensitive_features == group) & (dataset.y == outcome)
            share = (high[inside] == decided).mean()
            assert table.loc[measure, f"{feature}: {group}"] == pytest.approx(share)
    assert figures(page) == 2  # gaps by subgroup, and calibration by group
    assert "1,200 rows" in words(page)
    exports = [first.proto.label for first in page.get("download_button")]
    assert "Report (HTML)" in exports


def test_what_the_form_says_of_scores_is_kept_and_they_are_no_features(visit):
    frame = prisoners(600).rename(columns={"decile_score": "points"})
    page = visit("Data")
    content = frame.to_csv(index=False).encode()
    page.file_uploader[0].upload("rated.csv", content, "text/csv").run()
    (record,) = ui.store().datasets()
    assert record.roles.scores == ()
    assert "points" in record.roles.features
    scores = next(
        box
        for box in page.multiselect
        if box.label == "Scores or decisions of an existing model"
    )
    scores.set_value(["points"]).run()
    assert not page.exception
    assert not page.error
    start = next(box for box in page.number_input if "positive from" in box.label)
    start.set_value(8.0).run()
    widget(page, "selectbox", "Sampling weight").set_value("priors_count").run()
    assert not page.exception
    button(page, "Use these roles").click().run()
    assert not page.exception
    roles_kept = [
        wanted.roles for wanted in ui.store().datasets() if wanted.roles.scores
    ]
    assert [score.words() for score in roles_kept[0].scores] == ["points ≥ 8"]
    assert roles_kept[0].sample_weight == "priors_count"
    assert not {"points", "priors_count"} & {*roles_kept[0].features}
    assert "Audit points" in labels(page)


def test_a_score_with_a_threshold_is_corrected_and_certified(visit):
    frame = prisoners()
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "rated.csv")
    roles = guessing.rank_roles(ui.store().table(table)).roles
    data = ui.store().add_dataset(table, roles, "Rated", Subgroups())
    page = visit("Post-process", data=data, opened="measure")
    assert not page.exception
    dataset = ui.store().dataset(data)
    picked = (dataset.frame["decile_score"] >= 5).to_numpy()
    margins, _ = own_margins(dataset, roles.scores[0])
    assert ((margins > 0) == picked).all()
    assert np.abs(margins).max() == 1
    changes = next(d.value for d in page.dataframe if "Before" in d.value)
    test = split(dataset, 0).test
    rates = pd.Series(picked[test]).groupby(dataset.sensitive_features[test])
    expected = rates.mean()[changes["Group"].str.removeprefix("race: ")].tolist()
    assert changes["Before"].tolist() == pytest.approx(expected)
    page = visit("Noisy groups", data=data)
    assert not page.exception
    assert plain(trials.own_models(ui.store(), data)[0].label) in words(page)


@pytest.mark.skipif(DATA is None, reason="real tables are not here")
def test_compas_has_propublicas_error_rates_and_northpointes_answer(visit):
    file = Path(DATA) / "raw" / "compas-scores-two-years.csv"
    table = ui.store().add_table(file.read_bytes(), file.name)
    roles = guessing.rank_roles(ui.store().table(table)).roles
    assert roles.scores[0].words() == "decile_score ≥ 5"
    subgroups = Subgroups(columns=("age_cat",))
    data = ui.store().add_dataset(table, roles, "COMPAS", subgroups)
    page = visit("Data", data=data)
    button(page, plain("Audit decile_score")).click().run()
    address = page.query_params
    assert address["measure"] == "false_positive_rate"
    assert address["reference"] == "Caucasian"
    page = visit("Local fairness", **address)
    assert not page.exception
    races = ["race: African-American", "race: Caucasian"]
    percentages = table_of(page)[races].mul(100).round(2)
    assert percentages.loc["False positive rate"].tolist() == [44.85, 23.45]
    assert percentages.loc["False negative rate"].tolist() == [27.99, 47.72]
    assert table_of(page).loc["Calibration", "Gap"] == pytest.approx(0, abs=0.05)
    row = table_of(page).loc["False positive rate"]
    assert row["Gap of"] == "race: African-American − race: Caucasian"
    assert row["Gap"] == pytest.approx(0.214, abs=5e-4)
    assert row["Ratio"] == pytest.approx(44.85 / 23.45, abs=5e-3)
    whom = next(box for box in page.selectbox if box.label == "Compared with")
    whom.set_value("All others").run()
    assert not page.exception
    assert table_of(page).loc["False positive rate", "Gap"] == pytest.approx(0.26, 0.01)


@pytest.fixture
def run(inline):
    """A sweep on two seeds, then deciles of a vendor for the same applicants."""
    run = train_sweep(ui.store(), people(), "People")
    frame = people()
    seen = frame["skill"] - (frame["origin"] == "there")
    deciles = pd.qcut(seen, 10, labels=False) + 1
    data = ui.store().run(run).dataset_id
    ui.store().log_scores(data, deciles, name="vendor", kind="score", threshold=6)
    return run


def accuracy(data):
    """Accuracy of the deciles, mean over both test sets."""
    dataset = ui.store().dataset(data)
    frame = people()
    seen = frame["skill"] - (frame["origin"] == "there")
    right = (pd.qcut(seen, 10, labels=False) + 1 >= 6).to_numpy() == (dataset.y == 1)
    return np.mean([right[split(dataset, seed).test].mean() for seed in (0, 1)])


def test_own_scores_stand_on_the_front_and_beside_models_on_the_same_rows(visit, run):
    data = ui.store().run(run).dataset_id
    (mark,) = marks(run)
    assert mark["y"] == pytest.approx(accuracy(data))
    address = {"scores": "column vendor", "opened": "apply"}
    page = visit("Post-process", run=run, data=data, **address)
    assert not page.exception
    assert widget(page, "selectbox", "Scores of").value == "column vendor"
    (vendor_model,) = trials.own_models(ui.store(), data)
    key = f"{vendor_model.trials[0].key} decided by 0 top 20"
    keyed = visit("Post-process", run=run, data=data, scores=key)
    assert widget(keyed, "selectbox", "Scores of").value == "column vendor"
    assert "(vendor − 5.5) / 4.5: above 0 from 6 on" in words(page)
    page = visit("Sweep", run=run, data=data)
    assert not page.exception
    (drawn,) = sent(page, "linked")["own"]
    assert drawn["label"] == "vendor ≥ 6"
    assert drawn["metrics"]["accuracy"] == pytest.approx(accuracy(data), abs=1e-6)
    for name in ("accuracy", "demographic_parity_difference", "worst_1_di"):
        low, high = drawn["intervals"][name]
        assert low <= drawn["metrics"][name] <= high
    ui.store().delete_scores(data, "vendor")
    assert marks(run) == []
    page.run()
    assert sent(page, "linked")["own"] == []


def marks(run):
    """Return the marks of the deciles on the front."""
    sweep = finished_sweep(ui.store(), run)
    points = choices.own_points(sweep, ("worst_1_di", "accuracy"))
    return [
        point for point in points.to_dict("records") if point["label"] == "vendor ≥ 6"
    ]


def test_an_onnx_file_is_audited_wherever_a_model_is(visit):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    frame = people()
    features = ["age", "skill", "branch", "origin"]
    p = pipeline().predict_proba(frame[features])[:, 1]
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = ui.store().add_dataset(table, ROLES, "People")

    def sent(content):
        page = visit("Data", data=data)
        field = next(f for f in page.file_uploader if f.label == "ONNX file")
        field.upload("hire 2.onnx", content, "application/octet-stream").run()
        button(page, "Audit this model").click().run()
        return page

    page = sent(b"nothing")
    assert not page.exception
    assert "hire 2.onnx cannot be used: it is no ONNX file" in words(page)
    page = sent(pipeline_as_onnx())
    assert not page.exception
    assert "Where is the model unfair?" in words(page)
    page = visit("Local fairness", **page.query_params)
    rates = table_of(page).loc["Selection rate"]
    for group in ("here", "there"):
        share = (p[frame["origin"] == group] > 0.5).mean()
        assert rates[f"origin: {group}"] == pytest.approx(share)
    # flips of the sensitive column, which no model trained here may read
    page = visit("Individual fairness", data=data)
    assert not page.exception
    assert widget(page, "multiselect", "Should not count").value == ["origin"]
    test = split(ui.store().dataset(data), 0).test
    swapped = frame["origin"].map({"here": "there", "there": "here"})
    swapped_rows = frame.assign(origin=swapped).iloc[test]
    q = pipeline().predict_proba(swapped_rows[features])[:, 1]
    changed = ((q > 0.5) != (p[test] > 0.5)).mean()
    assert numbers(page)["Decisions changed"] == percent(changed)
    for name in ("Post-process", "Noisy groups"):
        page = visit(name, data=data)
        assert not page.exception
        assert "hire 2" in " ".join([words(page), *labels(page)])
    page = visit("Runs")
    assert "Own scores of People" in words(page)
    button(page, "Delete").click().run()
    assert "leave every page" in words(page)
    assert len(ui.store().own_scores(data)) == 1


@pytest.fixture
def applicants(inline):
    frame = people()
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People")


def test_a_page_that_needs_a_model_it_can_ask_says_so(visit, applicants):
    ui.store().log_scores(applicants, np.linspace(0, 1, 600), name="vendor")
    for name in ("Individual fairness", "Weights", "Drift"):
        page = visit(name, data=applicants)
        assert not page.exception
        assert "vendor: without a model, scores say nothing" in words(page)
