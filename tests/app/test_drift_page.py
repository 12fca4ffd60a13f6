"""The Drift page on first visit, with a table, and when it fails."""

import gzip

import pytest
from reading import button, drawn, figures, numbers, widget, words
from toys import people

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import drift
from fairdash.datasets import SAMPLES, Roles, Subgroups, read_table
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

BRANCH = Subgroups(columns=("branch",), min_size=20)


@pytest.fixture
def run_id(trained):
    return trained("logistic")


def send(page, frame, name="later_rows.csv"):
    (box,) = page.get("file_uploader")
    return box.upload(name, frame.to_csv(index=False).encode(), "text/csv").run()


def test_an_uploaded_table_is_compared_and_stays_over_a_reload(
    visit, run_id, dataset_id
):
    page = visit("Drift", run=run_id, opened=["columns", "table"])
    assert "No other table yet" in words(page)
    frame = people(700, seed=4)
    page = send(page, frame)
    assert not page.exception
    models = ui.known_models(dataset_id, run_id)
    chosen = widget(page, "button_group", "Model").value
    result = drift(
        ui.store(),
        models,
        dataset_id,
        main=next(model for model in models if model.label == chosen),
        subgroups=BRANCH,
        other=("later rows", frame),
    )
    assert result.details() in words(page).replace("\\", "")
    assert {k.label: k.value for k in result.kpis()} == numbers(page)
    assert figures(page) == 1
    again = visit("Drift", **dict(page.query_params.items()))
    assert numbers(again) == numbers(page)
    assert plain("later_rows.csv is in use") in words(again)
    widget(again, "selectbox", "Measure").select("brier").run()
    assert not again.exception
    assert "Brier" in drawn(again)["layout"]["xaxis"]["title"]["text"] + words(again)


def test_predicted_numbers_are_compared_without_a_trained_model(visit, inline):
    frame = people(700).assign(predicted=lambda rows: rows["skill"] + 1)
    digest = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    score = {"column": "predicted", "kind": "score", "threshold": 1}
    about = {"target": "skill", "positive": {"sign": ">", "value": 0}, "features": ()}
    roles = Roles(**about, sensitive_feature="origin", scores=(score,))
    page = visit("Drift", data=ui.store().add_dataset(digest, roles, "People", BRANCH))
    page = send(page, frame.assign(predicted=lambda rows: rows["predicted"] + 1))
    assert "Mean prediction rises by 1.000" in words(page)
    widget(page, "selectbox", "Measure").select("mean_absolute_error").run()
    assert not page.exception
    assert numbers(page)["origin: there"] == "2.000"


def test_a_table_with_a_missing_column_is_refused_by_name(visit, run_id):
    page = send(visit("Drift", run=run_id), people(700, seed=4).drop(columns="skill"))
    assert not page.exception
    assert "The tables were not compared" in words(page)
    assert "has no column 'skill'" in words(page)


def test_one_click_opens_the_drifted_companion_of_loans(visit, inline):
    sample = SAMPLES["loans"]
    rows = read_table(sample.path).head(2000).to_csv(index=False).encode()
    table = ui.store().add_table(gzip.compress(rows), sample.path.name)
    loans = ui.store().add_dataset(table, sample.roles, "Loans", sample.subgroups)
    run = start_training(loans, MethodGrid(method="logistic"), 1)
    page = visit("Drift", run=run)
    button(page, "Open the drifted sample").click().run()
    assert not page.exception
    assert "loans later: 10,000 rows" in words(page)
