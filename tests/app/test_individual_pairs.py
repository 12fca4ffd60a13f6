"""Sensitive directions, learned from uploaded pairs."""

import numpy as np
import pytest
from reading import numbers, widget, words
from toys import people

from fairdash import ui
from fairdash.metrics import comparable_directions, group_directions
from fairdash.ui.individual import model_of

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    return trained("sensei", **QUICK, fairness_weight=1.0)


@pytest.fixture
def model(dataset_id, run_id):
    models = ui.known_models(dataset_id, run_id)
    trial = next(m for m in models if m.method == "sensei").trials[0]
    return model_of(dataset_id, trial).rows


def send(page, label, frame):
    box = widget(page, "file_uploader", label)
    content = frame.to_csv(index=False).encode()
    box.upload("pairs.csv", content, "text/csv").run()


def choose(page, source):
    widget(page, "selectbox", "Pairs of people who are alike").set_value(source).run()


def free_table(page):
    return next(t.value for t in page.dataframe if "explained" in t.value)


def moved(frame):
    """Return the people with another branch and a bit more age."""
    branch = frame["branch"].map({"office": "works", "works": "office"})
    return frame.assign(branch=branch, age=frame["age"] + np.arange(len(frame)) % 3)


def test_two_aligned_tables_free_the_directions_of_their_pairs(visit, run_id, model):
    page = visit("Individual fairness", run=run_id)
    before = numbers(page)
    choose(page, "Two aligned tables")
    table = people(80, seed=3)
    send(page, "People", table)
    assert numbers(page) == before
    send(page, "Their counterparts", moved(table))
    assert not page.exception
    encode = model.encoder.transform
    names = model.encoder.feature_names
    rows = np.vstack([encode(table), encode(moved(table))])
    pairs = comparable_directions(rows, np.tile(np.arange(80), 2), names)
    group = group_directions(model.train, model.train_groups, names)
    expected = (group | pairs).table(model.train)
    assert free_table(page)["direction"].tolist() == expected["direction"].tolist()
    np.testing.assert_allclose(free_table(page)["variance"], expected["variance"])
    assert {"pairs 1", "pairs 2"} <= set(expected["direction"])
    assert numbers(page)["DIF, at least"] != before["DIF, at least"]


def test_tables_that_do_not_align_are_refused_with_their_rows(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    choose(page, "Two aligned tables")
    table = people(80, seed=3)
    send(page, "People", table)
    send(page, "Their counterparts", moved(table).iloc[:-1])
    assert not page.exception
    assert "do not align: one file has 80 rows, the other 79" in words(page)


def test_a_pair_id_makes_sets_and_counts_rows_without_a_partner(visit, run_id):
    page = visit("Individual fairness", run=run_id)
    choose(page, "Pair id column")
    table = people(81, seed=4).assign(pair=np.arange(81) // 2)
    send(page, "People with a pair id", table)
    widget(page, "selectbox", "Pair id").set_value("pair").run()
    assert not page.exception
    assert "40 sets of people; 1 row without a partner excluded" in words(page)
    assert "pairs 1" in free_table(page)["direction"].tolist()


def test_a_link_to_labelled_pairs_opens_with_a_sentence(visit, run_id):
    where = {"pairs": "Label pairs", "pair": "2", "labels": ["0 0=1"]}
    page = visit("Individual fairness", run=run_id, **where)
    assert not page.exception
    assert "Pairs are no longer labelled here" in words(page)
