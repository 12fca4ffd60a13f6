"""The Drift page on first visit, with a table, with parts, and when it fails."""

import pytest
from reading import button, drawn, figures, labels, numbers, widget, words
from toys import people

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import drift
from fairdash.datasets import Subgroups
from fairdash.sweep import MethodGrid
from fairdash.ui import data, start_training

BRANCH = Subgroups(columns=("branch",), min_size=20)


@pytest.fixture
def run_id(trained):
    return trained("logistic")


def later(n=700):
    frame = people(n, seed=4)
    worse = (frame["origin"] == "there") & (frame["branch"] == "works")
    return frame.assign(skill=frame["skill"] - 2.0 * worse)


def send(page, frame, name="later_rows.csv"):
    (box,) = page.get("file_uploader")
    return box.upload(name, frame.to_csv(index=False).encode(), "text/csv").run()


def test_without_another_table_it_says_what_is_missing(visit, run_id):
    page = visit("Drift", run=run_id)
    assert not page.exception
    assert "No other table yet" in words(page)
    assert "Open the drifted sample" not in labels(page)  # there is none of this table
    assert not page.session_state["drift other table"]
    button(page, "Choose the other table").click().run()
    assert not page.exception
    assert page.session_state["drift other table"], "its controls are open"


def test_an_uploaded_table_is_compared_and_kept_over_a_reload(
    visit, run_id, dataset_id
):
    frame = later()
    page = send(visit("Drift", run=run_id, opened=["gaps", "columns"]), frame)
    assert not page.exception
    models = ui.known_models(dataset_id, run_id)
    chosen = widget(page, "button_group", "Model").value
    shown = next(model for model in models if model.label == chosen)
    found = drift(
        ui.store(),
        models,
        dataset_id,
        main=shown,
        subgroups=BRANCH,
        other=("later rows", frame),
    )
    assert found.verdict() in words(page).replace("\\", "").replace("**", "")
    assert {k.label: k.value for k in found.kpis()[:4]} == numbers(page)
    assert figures(page) == 2
    again = visit("Drift", **dict(page.query_params.items()))
    assert numbers(again) == numbers(page)
    assert plain("later_rows.csv is in use") in words(again)
    widget(again, "selectbox", "Measure").select("brier").run()
    assert not again.exception
    title = drawn(again)["layout"]["xaxis"]["title"]["text"]
    assert title.startswith("Brier")
    button(again, "Take it away").click().run()
    assert "No other table yet" in words(again)


def test_a_table_with_a_missing_column_is_refused_by_name_with_a_way_out(visit, run_id):
    page = send(visit("Drift", run=run_id), later().drop(columns="skill"))
    assert not page.exception
    assert "The tables were not compared" in words(page)
    assert "has no column 'skill'" in words(page)
    again = visit("Drift", **dict(page.query_params.items()))
    for shown in (page, again):  # also while the field still holds the file
        button(shown, "Choose another table").click().run()
        assert not shown.exception
        assert "No other table yet" in words(shown)
        assert shown.session_state["drift other table"], "its controls are open"


def test_without_an_outcome_the_page_shows_rates(visit, run_id):
    page = send(visit("Drift", run=run_id), later().drop(columns="hired"))
    assert not page.exception
    assert "accuracy is not known" in words(page)
    assert "Selection rate" in numbers(page)
    assert drawn(page)["layout"]["yaxis"]["title"]["text"] == "selection rate"
    widget(page, "selectbox", "Measure").select("true_positive_rate").run()
    assert "needs the outcome, column 'hired'" in words(page)


def test_one_click_opens_the_drifted_companion_of_loans(visit, inline):
    loans = data.add_sample("loans")
    run = start_training(loans, MethodGrid(method="logistic"), 1)
    page = visit("Drift", run=run)
    button(page, "Open the drifted sample").click().run()
    assert not page.exception
    assert "loans later: 10,000 rows" in words(page)
    assert numbers(page)["Unseen categories"] == "10.3%"


def test_where_no_subgroup_is_estimable_it_says_so_instead_of_an_empty_figure(
    visit, run_id
):
    page = send(visit("Drift", run=run_id), later())
    address = dict(page.query_params.items()) | {"opened": "gaps"}
    strict = Subgroups(columns=("branch",), min_size=10_000).model_dump_json()
    page = visit("Drift", **{**address, "subgroups": strict})
    assert not page.exception
    assert figures(page) == 1
    assert "No subgroup is estimable on both tables" in words(page)
    assert "2 too small: choose wider ones" in words(page)


def test_the_figure_shows_means_over_seeds_where_a_model_has_several(visit, dataset_id):
    run = start_training(dataset_id, MethodGrid(method="logistic"), 2)
    page = send(visit("Drift", run=run), later())
    (toggle,) = [one for one in page.toggle if one.label == "Means over 2 seeds"]
    assert "Wilson of accuracy" in words(page)
    one_seed = drawn(page)["data"]
    toggle.set_value(True).run()
    assert not page.exception
    assert "Student's, over the means of 2 seeds" in words(page)
    assert [d["x"] for d in drawn(page)["data"]] != [d["x"] for d in one_seed]
