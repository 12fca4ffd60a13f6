"""What was chosen stands in the address: opened anew, it shows the same page."""

import pandas as pd
import pytest
from reading import figures, numbers, widget, words
from toys import people_csv

from fairdash import ui
from fairdash.audits import choices

QUICK = {"n_epochs": 4, "batch_size": 128}
KINDS = [
    *("selectbox", "multiselect", "slider", "select_slider", "number_input"),
    *("text_input", "toggle", "button_group"),
]


@pytest.fixture
def run_id(trained):
    grid = {**QUICK, "fairness_weight": (1.0, 3.0), "tau": (0.1, 0.6)}
    return trained("road", 2, **grid)


def chosen(page):
    """Return the value of every widget by its kind and label."""
    return {(kind, w.label): w.value for kind in KINDS for w in page.get(kind)}


def same_opened_anew(page, name, visit):
    """Open the page's address in another window and compare all that it shows."""
    assert not page.exception
    again = visit(name, **page.query_params)
    assert not again.exception
    assert chosen(again) == chosen(page)
    assert (words(again), numbers(again)) == (words(page), numbers(page))
    assert figures(again) == figures(page)
    tables = zip(again.dataframe, page.dataframe, strict=True)
    for other, table in tables:
        pd.testing.assert_frame_equal(other.value, table.value)
    return again


def test_without_a_model_every_page_opens_on_the_one_of_the_sweep(visit, run_id):
    model = choices.opened_on(ui.store(), run_id)
    names = {trial.key: model.label for trial in model.trials}
    controls = {"Local fairness": "Model"}  # Post-process opens on the plain model
    for name in (*controls, "Individual fairness", "Drift", "Noisy groups"):
        page = visit(name, run=run_id, parts="branch")
        assert not page.exception, name
        values = {w.label: w.value for kind in KINDS for w in page.get(kind)}
        value = values[controls.get(name, "Model")]
        entry = value[-1] if isinstance(value, list) else value
        assert names.get(entry, entry) in (model.label, model.id)


CHOICES = {
    "Local fairness": [("selectbox", "Measure", "accuracy")],
    "Sweep": [("slider", "Limit on the gap", 0.4)],
    "Train": [
        ("number_input", "Seeds", 5),
        ("slider", "Fairness weight (λ)", 2.5),
        ("number_input", "Epochs", 7),
    ],
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_in_the_address(visit, run_id, name):
    page = visit(name, run=run_id)
    before = chosen(page)
    for kind, label, value in CHOICES[name]:
        widget(page, kind, label).set_value(value).run()
        assert not page.exception
    again = chosen(same_opened_anew(page, name, visit))
    for kind, label, value in CHOICES[name]:
        assert again[kind, label] == value != before.get((kind, label))


def test_a_table_without_roles_stays_open_on_the_way_through_other_pages(visit):
    table = ui.store().add_table(people_csv(), "people.csv")
    page = visit("Data", table=table)
    assert "people.csv" in words(page)
    links = {
        link.proto.label: link.proto.query_string
        for link in page.sidebar.get("page_link")
    }
    assert links["Runs"] == links["Data"] == f"table={table}"
    same_opened_anew(page, "Data", visit)
