"""A guarantee inside found subgroups: searched and tested on rows apart."""

from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest

from fairdash._wording import listing, utc
from fairdash.audits import (
    certified_model,
    find_subgroups,
    guarantee,
    load,
    offered,
    rows_inside,
    search_for_guarantee,
    search_model,
)
from fairdash.audits.subgroups.counts import Condition
from fairdash.datasets import Subgroups, split
from fairdash.jobs import finished_file, queue, unpack_runs
from fairdash.results import StoredSweep, known_models_of, rows_of, searched_words
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, choose_certified

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
    assert (found.part, found.seed, found.n_rows) == ("validation", 0, len(seen))
    said = found.verdict(decided="approved", outcome="approved")
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
    assert guarantee(sweep, limits).place is None


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


def asked(store, run, **limits):
    limits = limits or LIMITS
    sweep = StoredSweep.of(store, store.snapshot(run))
    told = guarantee(sweep, limits, thresholds="shared")
    assert told.place is not None
    direct = choose_certified(
        sweep.certification_table(limits, thresholds="shared"), limits=limits
    )
    assert direct.note == told.choice.note
    assert told.words.endswith(told.choice.note)
    with ZipFile(BytesIO(told.to_bytes(sweep))) as file:  # for who takes it away
        readme = file.read("README.md").decode()
    assert readme.startswith(told.words.removesuffix(told.choice.note))
    assert readme.endswith(f"{told.choice.note}\n")
    return told.choice.note


def named_inside(run, columns):
    spec = SweepSpec.of_run(run.spec)
    return spec.model_copy(update={"subgroups": Subgroups(columns=columns)})


def test_a_search_of_test_rows_is_said_beside_guarantees(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    (run,), _ = unpack_runs(store, finished_file("loans"))
    record = store.run(run)
    data, (model, *_) = record.dataset_id, known_models_of(store, [run])
    sweep = StoredSweep.of(store, store.snapshot(run))
    search_for_guarantee(sweep)  # of validation rows
    assert asked(store, run) == ""
    assert sweep.n_searches() == 0
    found = search_model(store, model, data, "selection_rate")
    assert sweep.n_searches() == 1
    n = len(sweep.first_rows("test").where)
    with monkeypatch.context() as patch:  # asked again, it reads no run of the table
        patch.setattr(store, "datasets", None)
        search_model(store, model, data, "selection_rate")
    (known,) = store.searches(store.dataset_record(data).table_sha256)
    assert list(known.found) == list(found.table["subgroup"])
    before = f"All {n:,} test rows were searched for subgroups on {utc(known.created)}"
    mine = listing(sweep.subgroups.columns)
    said = asked(store, run)
    assert said.startswith(
        f"{before}, so this guarantee holds for the subgroups chosen"
        f" before that, of {mine}, "
    )
    assert asked(store, run, demographic_parity_difference=0.2) == ""
    # a subgroup that the search listed, named for a run of the same rows
    columns = (found.table["conditions"][0][0].column,)
    spec = named_inside(record, columns)
    later = queue(store, spec, name="Later")
    rows = rows_of(store, data, sweep.first_seed, spec.subgroups)
    words = searched_words(rows, data, columns, spec.subgroups)
    assert words.startswith(f"{before}, before the subgroups of {columns[0]} were ")
    assert "this guarantee is void. What a search of validation rows finds" in words
    # one more search, with another measure: the first still came before
    search_model(store, model, data, "true_positive_rate")
    assert sweep.n_searches() == 2
    assert searched_words(rows, data, columns, spec.subgroups) == words
    assert searched_words(rows, data, ("nothing searched",), None) == ""
    # of another seed's test rows a part was searched
    other = rows_of(store, data, sweep.first_seed + 7, spec.subgroups)
    seen = np.isin(other.where, rows.where).sum()
    part = f"{seen:,} of the {len(other.where):,} test rows were searched"
    assert searched_words(other, data, columns, spec.subgroups).startswith(part)
    # what a reader picks of validation rows' list is chosen now; all of it is not
    one, *_ = offered(search_for_guarantee(sweep))
    lax = {"demographic_parity_difference": 0.9, "worst_1_di": 0.9}
    assert guarantee(sweep, lax, inside=()).choice.note == ""
    assert "is void" in guarantee(sweep, lax, inside=[one]).words
    store.ask_cancel(later)
    store.close()
    again = open_store(tmp_path)
    assert asked(again, run) == said
    again.close()
