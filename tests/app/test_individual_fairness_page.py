import numpy as np
import pytest
import streamlit as st
from reading import button, figures, numbers, widget, words
from scipy.special import expit
from toys import ROLES, people

from fairdash import ui
from fairdash.audits import FairMetricSpec, audit_run
from fairdash.datasets import encode, split
from fairdash.methods import Network
from fairdash.metrics import group_directions
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training
from fairdash.ui.individual import model_of

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    params = {**QUICK, "fairness_weight": (1.0, 20.0)}
    return trained("sensei", **params)


def test_a_visit_without_anything_says_what_it_takes(visit):
    page = visit("Individual fairness")
    assert not page.exception
    assert "No model to audit yet" in words(page)


def test_no_run_leads_to_training(visit, dataset_id):
    page = visit("Individual fairness", data=dataset_id)
    button(page, "Train a model").click().run()
    assert "What does training change?" in words(page)


@pytest.mark.parametrize("method", ["forest", "fair_log_loss", "reductions"])
def test_a_model_without_slopes_is_audited_and_says_what_is_missing(
    visit, dataset_id, method
):
    run = start_training(dataset_id, MethodGrid(method=method), 1, beside=method)
    page = visit("Individual fairness", run=run)
    assert not page.exception
    assert numbers(page)["Consistency"].endswith("%")
    assert "Loss ratio, at least" not in numbers(page)
    assert "is not a network" in words(page)
    assert "have someone alike who gets another decision" in words(page)


def test_the_first_screen_audits_a_model(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    assert not page.exception
    assert "120 test rows (all of those of a split)" in words(page)
    shown = numbers(page)
    assert set(shown) == {
        "Consistency",
        "Change of P(1)",
        "CTF score",
        "Gap RMS",
        "Loss ratio, at least",
        "DIF, at least",
        "First layer",
        "P(1) as it is",
        "P(1) as edited",
        "Fair distance",
    }
    assert shown["P(1) as it is"] == shown["P(1) as edited"]
    assert shown["Fair distance"] == "0.000"
    assert figures(page) == 2
    assert "People · 120 test rows · 1 seed" in words(page)
    people = next(t.value for t in page.dataframe if "changed so" in t.value)
    changed = people["decision"].str.contains("→")
    share = changed.sum() / 120
    assert f"{share:.1%} of people have someone alike" in words(page)
    assert numbers(page)["Consistency"] == f"{1 - share:.1%}"
    assert (people["fair distance"] <= 0.1 + 1e-9).all()
    for part in (people[changed], people[~changed]):
        moved = np.abs(part["changed so"] - part["P(1)"])
        assert (np.diff(moved) <= 1e-12).all()
    assert people["rank"].tolist() == list(range(1, len(people) + 1))


def test_over_seeds_numbers_are_means_with_their_spread(visit, dataset_id):
    run = start_training(
        dataset_id, MethodGrid(method="unconstrained", params=QUICK), 2
    )
    page = visit("Individual fairness", run=run)
    widget(page, "multiselect", "Columns").set_value(["branch"]).run()
    assert not page.exception
    shares = audit_run(ui.store(), run, {"branch": ("office", "works")}, by_seed=True)[
        "consistency"
    ]
    assert numbers(page)["Consistency"] == f"{shares.mean():.1%}"
    assert "120 test rows · 2 seeds" in words(page)
    (note,) = [
        m.proto.delta_description for m in page.metric if m.label == "Consistency"
    ]
    assert note == f"± {shares.std(ddof=1):.1%} over seeds"


def test_an_edited_person_is_scored_and_measured_anew(visit, dataset_id, run_id):
    page = visit("Individual fairness", run=run_id)
    label = widget(page, "selectbox", "Model").value
    models = ui.known_models(dataset_id, run_id)
    trial = next(m for m in models if m.label == label).trials[0]
    rows = model_of(dataset_id, trial).rows
    row = widget(page, "selectbox", "Person, most changed first").value
    place = np.flatnonzero(rows.dataset.row_number[rows.where] + 1 == row)
    person = rows.frame.iloc[place]
    other = {"office": "works", "works": "office"}[person["branch"].iloc[0]]
    widget(page, "selectbox", "branch").set_value(other)
    widget(page, "number_input", "age").set_value(33).run()
    assert not page.exception
    edited = person.assign(branch=other, age=33)
    network = Network.from_arrays(ui.store().artifact(trial.key).network())
    X, Z = (rows.encoder.transform(frame) for frame in (person, edited))
    metric = group_directions(rows.train, rows.train_groups, rows.encoder.feature_names)
    shown = numbers(page)
    assert shown["P(1) as it is"] == f"{expit(network.logits(X))[0]:.3f}"
    assert shown["P(1) as edited"] == f"{expit(network.logits(Z))[0]:.3f}"
    assert shown["Fair distance"] == f"{metric.distance(X, Z)[0]:.3f}"


def test_editing_can_start_from_the_worst_counterpart(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    people = next(t.value for t in page.dataframe if "changed so" in t.value)
    widget(page, "button_group", "Start from").set_value("worst counterpart").run()
    assert not page.exception
    shown = numbers(page)
    assert shown["P(1) as it is"] == f"{people['P(1)'].iloc[0]:.3f}"
    assert shown["P(1) as edited"] == f"{people['changed so'].iloc[0]:.3f}"


def test_a_model_kept_by_an_earlier_version_is_left_out_with_the_reason(
    visit, run_id, monkeypatch
):
    page = visit("Individual fairness", run=run_id)
    monkeypatch.setattr("fairdash.store._artifacts.Artifact.network", lambda _: {})
    st.cache_resource.clear()
    st.cache_data.clear()
    page.run()
    assert not page.exception
    assert "Only the scores of this model were kept" in words(page)


def test_consistency_is_that_of_flipped_rows_scored_by_the_stored_network(
    visit, run_id
):
    page = visit("Individual fairness", run=run_id)
    widget(page, "multiselect", "Columns").set_value(["branch"]).run()
    assert not page.exception
    store = ui.store()
    record = store.run(run_id)
    dataset = store.dataset(record.dataset_id)
    label = widget(page, "selectbox", "Model").value
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
    assert numbers(page)["Consistency"] == f"{share:.1%}"


def test_nothing_that_does_not_count_is_an_error_with_the_way_out(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    widget(page, "toggle", "What predicts origin").set_value(False).run()
    assert not page.exception
    assert "There is no sensitive direction" in words(page)


def test_the_page_opens_with_the_metric_its_model_was_trained_with(visit, dataset_id):
    params = {**QUICK, "metric": "columns", "columns": "branch"}
    run = start_training(dataset_id, MethodGrid(method="sensei", params=params), 1)
    models = ui.known_models(dataset_id, run)
    sensei, plain = (
        next(m for m in models if m.method == method)
        for method in ("sensei", "unconstrained")
    )
    page = visit("Individual fairness", run=run, model=sensei.id)
    assert widget(page, "selectbox", "Model").value == sensei.label
    assert widget(page, "multiselect", "Columns").value == ["branch"]
    assert widget(page, "toggle", "What predicts origin").value is False
    page = visit("Individual fairness", run=run, model=plain.id)
    assert widget(page, "multiselect", "Columns").value == []
    assert widget(page, "toggle", "What predicts origin").value is True


def test_an_address_shows_what_was_chosen(visit, dataset_id, run_id):
    page = visit("Individual fairness", run=run_id)
    model = ui.known_models(dataset_id, run_id)[-1]
    widget(page, "selectbox", "Model").set_value(model.label).run()
    page.select_slider[0].set_value(0.5).run()
    widget(page, "multiselect", "Columns").set_value(["branch"]).run()
    widget(page, "toggle", "What predicts origin").set_value(False).run()
    again = visit("Individual fairness", **page.query_params)
    assert not again.exception
    assert widget(again, "selectbox", "Model").value == model.label
    assert again.select_slider[0].value == 0.5
    assert widget(again, "multiselect", "Columns").value == ["branch"]
    assert widget(again, "toggle", "What predicts origin").value is False
    assert numbers(again) == numbers(page)
    assert words(again) == words(page)


def test_other_models_are_compared_when_asked_for(visit, dataset_id):
    params = {**QUICK, "fairness_weight": (1.0, 5.0, 20.0)}
    run = start_training(dataset_id, MethodGrid(method="sensei", params=params), 1)
    page = visit("Individual fairness", run=run)
    assert "1 model not compared yet" in words(page)
    button(page, "Compare 1 more model").click().run()
    assert not page.exception
    assert "not compared yet" not in words(page)


def test_missing_values_in_a_chosen_column_are_a_group(visit, inline):
    table = people()
    table.loc[::9, "branch"] = None
    csv = table.to_csv(index=False).encode()
    stored = ui.store().add_table(csv, "people.csv")
    data = ui.store().add_dataset(stored, ROLES, "People")
    run = start_training(data, MethodGrid(method="logistic"), 1, beside="logistic")
    metric = FairMetricSpec(columns=("branch",)).text()
    page = visit("Individual fairness", run=run, metric=metric)
    assert not page.exception
    assert "was not audited" not in words(page)
    assert numbers(page)["Consistency"].endswith("%")


def test_of_many_columns_ten_can_be_edited_and_any_other_is_searched(visit, inline):
    wide = people(300)
    rng = np.random.default_rng(0)
    for i in range(12):
        wide[f"mark {i}"] = rng.integers(0, 9, len(wide))
    features = tuple(name for name in wide if name not in ("origin", "hired"))
    table = ui.store().add_table(wide.to_csv(index=False).encode(), "wide.csv")
    roles = ROLES.model_copy(update={"features": features})
    wide_id = ui.store().add_dataset(table, roles, "Wide")
    run = start_training(wide_id, MethodGrid(method="logistic"), 1)
    page = visit("Individual fairness", run=run)
    assert not page.exception

    def fields():
        drawn = [*page.number_input, *page.selectbox]
        return [one.label for one in drawn if one.label in features]

    assert len(fields()) == 10
    hidden = next(n for n in features if n.startswith("mark") and n not in fields())
    widget(page, "multiselect", "Of 5 more columns").set_value([hidden]).run()
    widget(page, "number_input", hidden).set_value(7).run()
    assert not page.exception
    assert hidden in fields()
    assert widget(page, "number_input", hidden).value == 7
