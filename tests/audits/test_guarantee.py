"""A guarantee is of test rows; what is taken away decides as was certified."""

from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest

from fairdash.audits import (
    StoredSweep,
    certified_model,
    guarantee,
    known_models_of,
    load,
    search_model,
)
from fairdash.audits.subgroups import facts
from fairdash.audits.trials.rows import Rows
from fairdash.datasets import split
from fairdash.jobs import finished_file, unpack_runs
from fairdash.metrics import Speech
from fairdash.store import open_store

LIMITS = {"demographic_parity_difference": 0.15, "worst_1_di": 0.4}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """The finished sweep of Loans."""
    store = open_store(tmp_path_factory.mktemp("guarantee"))
    (run,), _ = unpack_runs(store, finished_file("loans"))
    yield StoredSweep.of(store, store.snapshot(run))
    store.close()


def scores_of(sweep, place, where):
    key = sweep.result.keys(place)[sweep.first_seed]
    return sweep.store.artifact(key).scores()[where]


def test_limits_are_tested_on_test_rows(sweep):
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    table = sweep.certification_table(LIMITS, thresholds="by_group")
    test = split(dataset, sweep.first_seed).test
    group = dataset.group[test]
    for model, cells in table.groupby("model"):
        cut = np.array(model.thresholds, np.float32)[group]
        decided = scores_of(sweep, model.place, test) > cut
        whole = cells[cells["subgroup"] == ""].set_index("group")
        for k in (0, 1):
            assert whole.loc[k, "n"] == (group == k).sum()
            assert whole.loc[k, "positives"] == decided[group == k].sum()
    told = guarantee(sweep, LIMITS, thresholds="by_group")
    assert "is certified with 95% confidence" in told.words
    chosen = told.choice.model
    cut = np.array(chosen.thresholds, np.float32)[group]
    decided = scores_of(sweep, chosen.place, test) > cut
    shown = told.chosen.set_index("")["Test"]
    assert shown["Accuracy"] == f"{(decided == dataset.y[test]).mean():.1%}"
    assert told.tested["Certified"].tolist().count("yes") >= 1
    strict = {name: limit / 50 for name, limit in LIMITS.items()}
    assert guarantee(sweep, strict).place is None


def test_the_model_taken_away_decides_as_was_certified(sweep, tmp_path):
    told = guarantee(sweep, LIMITS, thresholds="by_group")
    store, data = sweep.store, sweep.run.dataset_id
    dataset, path = store.dataset(data), tmp_path / "model.zip"
    test = split(dataset, sweep.first_seed).test
    frame = store.table(store.dataset_record(data).table_sha256)
    for model in (told.choice.model, replace(told.choice.model, thresholds=(0.6, 0.4))):
        path.write_bytes(certified_model(sweep, model).to_bytes())
        decided = load(path).predict(frame.iloc[dataset.row_number[test]])
        scores = scores_of(sweep, model.place, test)
        assert decided.tolist() == model.decide(scores, dataset.group[test]).tolist()
    plain = certified_model(sweep, replace(model, thresholds=(0.5, 0.5)))
    assert plain.thresholds is None
    with ZipFile(BytesIO(told.to_bytes(sweep))) as file:  # for who takes it away
        assert file.read("README.md").decode().startswith(told.words)


def test_a_search_of_a_run_sees_no_test_row(sweep, monkeypatch):
    (model, *_) = known_models_of(sweep.store, [sweep.run.id])
    data = sweep.run.dataset_id

    def searched():
        facts._searched.cache_clear()
        return search_model(sweep.store, model, data, "selection_rate")

    before = searched()
    test = split(sweep.store.dataset(data), sweep.first_seed).test
    predictions = Rows.predictions

    def others(self, key):
        decided = predictions(self, key).copy()
        here = np.isin(self.where, test)
        decided[here] = np.random.default_rng(0).permutation(decided[here])
        return decided

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "predictions", others)
        after = searched()
    facts._searched.cache_clear()
    assert before.table["subgroup"].tolist() == after.table["subgroup"].tolist()
    assert before.table.attrs == after.table.attrs
    assert not before.table["p_adjusted"].equals(after.table["p_adjusted"])
    assert len(test) == before.n_confirming
    assert before.n_rows == sweep.store.dataset(data).n_rows - len(test)
    said = before.verdict(Speech("approved", "approved", "gender"))
    assert f"{len(test):,} test rows confirm" in said
    assert said.startswith(f"In {before.beyond['subgroup'].iloc[0]}, ")
    assert len(before.ranked()) == len(before.table)
    assert "Holm's" in before.caption()
    none = replace(before, table=before.table.assign(p_adjusted=1.0))
    assert "has a gap beyond chance" in none.verdict(Speech())
