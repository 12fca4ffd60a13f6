"""A guarantee inside found subgroups: searched and tested on rows apart."""

from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest

from fairdash.audits import (
    StoredSweep,
    certified_model,
    find_subgroups,
    guarantee,
    known_models_of,
    load,
    offered,
    search_for_guarantee,
    search_model,
)
from fairdash.audits.subgroups import facts, rows_inside
from fairdash.audits.subgroups.counts import Condition
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


def test_subgroups_are_searched_on_validation_rows_of_the_first_seed(sweep):
    found = search_for_guarantee(sweep)
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    seen = split(dataset, sweep.first_seed).validation
    rows = sweep.result.rows
    first = rows[rows["seed"] == sweep.first_seed]
    best = first.loc[first["validation_accuracy"].idxmax()]
    decided = sweep.store.artifact(best["key"]).scores()[seen] > 0.5
    names = dict.fromkeys([*dataset.roles.features, *sweep.subgroups.columns])
    again = find_subgroups(
        decided.astype(int),
        sensitive_features=dataset.sensitive_features[seen],
        frame=dataset.frame.iloc[seen],
        columns=[n for n in names if n != dataset.roles.sensitive_feature],
        min_size=sweep.subgroups.min_size,
        most=8,
        random_state=0,
    )
    assert list(found.table["subgroup"]) == list(again["subgroup"])
    assert found.table["z"].tolist() == again["z"].tolist()
    assert (found.n_confirming, found.seed, found.n_rows) == (0, 0, len(seen))
    said = found.verdict(Speech("approved", "approved"))
    assert f"{len(seen):,} validation rows of seed 0" in said
    assert offered(found) == list(found.beyond["subgroup"])


def test_what_was_found_on_rows_that_are_tested_on_is_refused(sweep):
    (model, *_) = known_models_of(sweep.store, [sweep.run.id])
    found = search_model(sweep.store, model, sweep.run.dataset_id, "selection_rate")
    with pytest.raises(ValueError, match="search the validation rows of seed 0"):
        rows_inside(sweep, found, list(found.table["subgroup"][:1]))
    with pytest.raises(ValueError, match="The search lists no \\['nobody'\\]"):
        guarantee(sweep, LIMITS, inside=["nobody"])


def test_where_a_group_has_no_test_rows_nothing_is_promised(sweep):
    found = search_for_guarantee(sweep)
    frame = sweep.store.dataset(sweep.run.dataset_id).frame
    most = float(frame["amount"].max())
    one = found.table.iloc[:1].assign(conditions=[(Condition("amount", (), most),)])
    with pytest.raises(ValueError, match=r"no test rows of .+ choose others"):
        rows_inside(sweep, replace(found, table=one), list(one["subgroup"]))


@pytest.mark.parametrize("thresholds", ["fixed", "by_group"])
def test_limits_are_tested_on_test_rows_inside_what_was_found(sweep, thresholds):
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    found = search_for_guarantee(sweep)
    masks = rows_inside(sweep, found, offered(found))
    for name, conditions in zip(
        found.table["subgroup"], found.table["conditions"], strict=True
    ):
        each = [one.holds(dataset.frame) for one in conditions]
        assert np.array_equal(masks[name], np.logical_and.reduce(each))
    table = sweep.certification_table(LIMITS, thresholds=thresholds, inside=masks)
    assert set(table["subgroup"]) == {"", *masks}
    test = split(dataset, sweep.first_seed).test
    group = dataset.group[test]
    for model, cells in table.groupby("model"):
        cut = np.array(model.thresholds, np.float32)[group]
        decided = scores_of(sweep, model.place, test) > cut
        for name, mask in masks.items():
            for k in (0, 1):
                cell = cells[(cells["subgroup"] == name) & (cells["group"] == k)]
                where = mask[test] & (group == k)
                assert cell["n"].item() == where.sum()
                assert cell["positives"].item() == decided[where].sum()
    told = guarantee(sweep, LIMITS, thresholds=thresholds, inside=())
    assert all(f"“{name}”" in told.words for name in masks)
    assert "is certified with 95% confidence" in told.words
    chosen = told.choice.model
    y = dataset.y[test]
    cut = np.array(chosen.thresholds, np.float32)[group]
    decided = scores_of(sweep, chosen.place, test) > cut
    shown = told.chosen.set_index("")["Test"]
    assert shown["Accuracy"] == f"{(decided == y).mean():.1%}"
    gap = abs(decided[group == 0].mean() - decided[group == 1].mean())
    assert shown["DI"] == f"{gap:.3f}"
    assert told.tested["Certified"].tolist().count("yes") >= 1


def test_thresholds_of_groups_are_said_with_the_setting(sweep):
    limits = {"demographic_parity_difference": 0.1, "worst_1_di": 0.2}
    told = guarantee(sweep, limits, thresholds="shared", inside=())
    assert told.place is not None
    (at, *_) = told.choice.model.thresholds
    assert f"first seed with threshold {at:.3f}, by the test rows" in told.words
    last = told.tested[told.tested["Certified"] == "yes"].iloc[-1]
    label = sweep.result.labels[told.place]
    assert last["Setting"] == f"{label}, threshold {at:.3f}"
    strict = {name: limit / 5 for name, limit in limits.items()}
    assert guarantee(sweep, strict).place is None


@pytest.mark.parametrize("thresholds", ["shared", "by_group"])
def test_the_model_taken_away_decides_as_was_certified(sweep, thresholds, tmp_path):
    told = guarantee(sweep, LIMITS, thresholds=thresholds)
    store, data = sweep.store, sweep.run.dataset_id
    dataset, path = store.dataset(data), tmp_path / "model.zip"
    test = split(dataset, sweep.first_seed).test
    frame = store.table(store.dataset_record(data).table_sha256)
    cuts = (0.6, 0.4) if thresholds == "by_group" else (0.55, 0.55)
    for model in (told.choice.model, replace(told.choice.model, thresholds=cuts)):
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

    def both():
        facts.searched.cache_clear()
        by_reader = search_model(sweep.store, model, data, "selection_rate")
        return by_reader, search_for_guarantee(sweep)

    before = both()
    test = split(sweep.store.dataset(data), sweep.first_seed).test
    predictions = Rows.predictions

    def others(self, key):
        decided = predictions(self, key).copy()
        here = np.isin(self.where, test)
        decided[here] = np.random.default_rng(0).permutation(decided[here])
        return decided

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "predictions", others)
        after = both()
    facts.searched.cache_clear()
    for one, other in zip(before, after, strict=True):
        assert one.table["subgroup"].tolist() == other.table["subgroup"].tolist()
        assert one.table.attrs == other.table.attrs
    assert before[1].table.equals(after[1].table)
    first, then = before[0], after[0]
    assert len(test) == first.n_confirming
    assert first.n_rows == sweep.store.dataset(data).n_rows - len(test)
    assert not first.table["p_adjusted"].equals(then.table["p_adjusted"])
