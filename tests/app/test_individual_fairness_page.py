import numpy as np
import pytest
from reading import button, figures, numbers, words

from fairdash import ui
from fairdash.datasets import encode, split
from fairdash.methods import Network
from fairdash.sweep import MethodGrid

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(dataset_id):
    params = {**QUICK, "fairness_weight": (1.0, 20.0)}
    return ui.train(dataset_id, MethodGrid(method="sensei", params=params), 1)


def widget(page, kind, label):
    return next(one for one in page.get(kind) if one.label == label)


def test_a_visit_without_anything_says_what_it_takes(visit):
    page = visit("Individual fairness")
    assert not page.exception
    assert "No model to audit yet" in words(page)


def test_a_model_without_a_network_leads_to_training(visit, dataset_id):
    run = ui.train(dataset_id, MethodGrid(method="hardt"), 1, beside="hardt")
    page = visit("Individual fairness", run=run)
    assert not page.exception
    button(page, "Train a model").click().run()
    assert "What does training change?" in words(page)


def test_the_first_screen_audits_a_model(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    assert not page.exception
    shown = numbers(page)
    assert set(shown) == {
        "Consistency",
        "CTF score",
        "Loss ratio, at least",
        "DIF certificate",
        "P(1) as it is",
        "P(1) as edited",
        "Fair distance",
    }
    assert shown["P(1) as it is"] == shown["P(1) as edited"]
    assert shown["Fair distance"] == "0.000"
    assert figures(page) == 2
    assert "People · 120 test rows of 120" in words(page)
    people = next(t.value for t in page.dataframe if "changed so" in t.value)
    moved = np.abs(people["changed so"] - people["P(1)"])
    assert (np.diff(moved) <= 1e-12).all()


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
