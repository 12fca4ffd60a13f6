"""A guarantee is of test rows; what is taken away decides as was certified."""

from dataclasses import replace

import numpy as np
import pytest

from fairdash.audits import StoredSweep, search_model, trials
from fairdash.audits.subgroups import facts
from fairdash.audits.trials.rows import TrialRows
from fairdash.datasets import split
from fairdash.metrics import Speech
from fairdash.store import open_store


@pytest.fixture(scope="module")
def sweep(tmp_path_factory, finished_sweep):
    """The finished sweep of Loans."""
    home = tmp_path_factory.mktemp("guarantee")
    run = finished_sweep("loans", home)
    store = open_store(home)
    yield StoredSweep.of(store, store.snapshot(run))
    store.close()


def test_a_search_of_a_run_sees_no_test_row(sweep, monkeypatch):
    (model, *_) = trials.known_models_of(sweep.store, [sweep.run.id])
    data = sweep.run.dataset_id

    def searched():
        facts._searched.cache_clear()
        return search_model(sweep.store, model, data, "selection_rate")

    before = searched()
    test = split(sweep.store.dataset(data), int(sweep.result.rows["seed"].min())).test
    predictions = TrialRows.predictions

    def others(self, model):
        decided = predictions(self, model).copy()
        in_test = np.isin(self.where, test)
        decided[in_test] = np.random.default_rng(0).permutation(decided[in_test])
        return decided

    with monkeypatch.context() as patch:
        patch.setattr(TrialRows, "predictions", others)
        after = searched()
    facts._searched.cache_clear()
    assert before.table["subgroup"].tolist() == after.table["subgroup"].tolist()
    assert before.table.attrs == after.table.attrs
    assert not before.table["p_adjusted"].equals(after.table["p_adjusted"])
    assert len(test) == before.n_confirming
    assert before.n_rows == sweep.store.dataset(data).n_rows - len(test)
    text = before.verdict(Speech("approved", "approved", "gender"))
    assert f"{len(test):,} test rows confirm" in text
    assert text.startswith(f"In {before.beyond['subgroup'].iloc[0]}, ")
    assert len(before.ranked()) == len(before.table)
    assert "Holm's" in before.caption()
    none = replace(before, table=before.table.assign(p_adjusted=1.0))
    assert "has a gap beyond chance" in none.verdict(Speech())
