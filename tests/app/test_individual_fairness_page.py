import re

import numpy as np
import pytest
import streamlit as st
from reading import figures, numbers, widget, words
from toys import ROLES, people

from fairdash import ui
from fairdash.datasets import encode, split
from fairdash.methods import Network
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    params = {**QUICK, "fairness_weight": (1.0, 20.0)}
    return trained("sensei", **params)


def test_a_visit_without_anything_says_what_it_takes(visit):
    page = visit("Individual fairness")
    assert not page.exception
    assert "No model to audit yet" in words(page)


def test_the_first_screen_compares_real_people(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    assert not page.exception
    document = numbers(page)
    assert set(document) == {
        "Similar, other result"
    }  # the model does not read the group
    assert re.search(
        r"For [\d.]+% of people the most similar other person is decided otherwise. "
        r"The model does not read origin",
        words(page),
    )
    assert figures(page) == 1
    assert "invented" not in words(page).lower()
    widget(page, "button_group", "Evidence").set_value(["table"]).run()
    table = page.dataframe[0].value
    share = table["decision_changed"].mean()
    assert document["Similar, other result"] == f"{share:.1%}"
    assert (table["row"] != table["other"]).all()


def test_invented_people_come_only_when_asked_and_within_the_radius(visit, run_id):
    page = visit("Individual fairness", run=run_id, opened="table")
    widget(page, "button_group", "Compare with").set_value("invented").run()
    assert not page.exception
    assert "A single number may differ by" in words(page)
    table = page.dataframe[0].value
    assert (table["other"] == 0).all()
    assert (table["fair_distance"] <= 0.1 + 1e-9).all()
    widget(page, "select_slider", "How far they may differ (ε)").set_value(1.0).run()
    assert page.dataframe[0].value["fair_distance"].max() > 0.1
    again = visit("Individual fairness", **dict(page.query_params.items()))
    assert again.dataframe[0].value.equals(page.dataframe[0].value)


def test_a_column_of_comparable_rows_changes_who_is_similar(visit, run_id):
    page = visit("Individual fairness", run=run_id, opened="table")
    before = page.dataframe[0].value
    label = "Rows are comparable with the same"
    widget(page, "selectbox", label).set_value("origin").run()
    assert not page.exception
    assert page.query_params["comparable"] == "origin"
    assert not page.dataframe[0].value.equals(before)
    again = visit("Individual fairness", run=run_id, opened="table", comparable="gone")
    assert again.dataframe[0].value.equals(before)


def test_decisions_follow_the_rule_of_the_address(visit, run_id):
    page = visit("Individual fairness", run=run_id, decided="top 20", opened="table")
    assert not page.exception
    store = ui.store()
    dataset = store.dataset(store.run(run_id).dataset_id)
    label = widget(page, "button_group", "Model").value
    models = ui.known_models(store.run(run_id).dataset_id, run_id)
    trial = next(m for m in models if m.label == label).trials[0]
    scores = store.artifact(trial.key).scores()
    cut = np.quantile(scores[split(dataset, trial.seed).validation], 0.8)
    table = page.dataframe[0].value
    turned = (table["before"] > cut) != (table["after"] > cut)
    assert (turned == table["decision_changed"]).mean() > 0.97
    assert turned.sum() > 0


def test_a_model_kept_by_an_earlier_version_is_left_out_with_the_reason(
    visit, run_id, monkeypatch
):
    page = visit("Individual fairness", run=run_id)
    monkeypatch.setattr("fairdash.store._artifacts.Artifact.network", lambda _: {})
    st.cache_resource.clear()
    st.cache_data.clear()
    page.run()
    assert not page.exception
    assert "Only the scores of this model are kept" in words(page)


def test_changed_decisions_are_those_of_flipped_rows_scored_by_the_stored_network(
    visit, run_id
):
    page = visit("Individual fairness", run=run_id)
    widget(page, "multiselect", "Should not count").set_value(["branch"]).run()
    assert not page.exception
    store = ui.store()
    record = store.run(run_id)
    dataset = store.dataset(record.dataset_id)
    label = widget(page, "button_group", "Model").value
    models = ui.known_models(record.dataset_id, run_id)
    trial = next(m for m in models if m.label == label).trials[0]
    rows = split(dataset, trial.seed)
    encoder = encode(dataset, rows.train).encoder
    network = Network.from_arrays(store.artifact(trial.key).network())
    frame = dataset.frame.iloc[rows.test]
    decided = [
        network.logits(encoder.transform(frame.assign(branch=branch))) > 0
        for branch in ("office", "works")
    ]
    share = (decided[0] == decided[1]).mean()
    assert numbers(page)["Decisions changed"] == f"{1 - share:.1%}"
    widget(page, "button_group", "Compare with").set_value("changed").run()
    assert not page.exception


def test_the_page_opens_with_the_metric_its_model_was_trained_with(visit, dataset_id):
    params = {**QUICK, "metric": "columns", "columns": "branch"}
    run = start_training(dataset_id, MethodGrid(method="sensei", params=params), 1)
    models = ui.known_models(dataset_id, run)
    sensei, plain = (
        next(m for m in models if m.method == method)
        for method in ("sensei", "unconstrained")
    )
    page = visit("Individual fairness", run=run, model=sensei.id)
    assert widget(page, "button_group", "Model").value == sensei.label
    assert widget(page, "multiselect", "Should not count").value == ["branch"]
    page = visit("Individual fairness", run=run, model=plain.id)
    assert widget(page, "multiselect", "Should not count").value == []


def test_missing_values_in_a_chosen_column_are_a_group(visit, inline):
    table = people()
    table.loc[::9, "branch"] = None
    csv = table.to_csv(index=False).encode()
    stored = ui.store().add_table(csv, "people.csv")
    data = ui.store().add_dataset(stored, ROLES, "People")
    run = start_training(data, MethodGrid(method="logistic"), 1, beside="logistic")
    metric = '{"columns": ["branch"]}'
    page = visit("Individual fairness", run=run, metric=metric)
    assert not page.exception
    assert "was not audited" not in words(page)
    assert numbers(page)["Decisions changed"].endswith("%")


def test_a_link_to_pairs_that_were_uploaded_opens_with_a_sentence(visit, run_id):
    metric = '{"pairs": {"table": "x", "other": "y"}}'
    address = {"pairs": "Two aligned tables", "metric": metric}
    page = visit("Individual fairness", run=run_id, **address)
    assert not page.exception
    assert "Pairs are no longer uploaded here" in words(page)
