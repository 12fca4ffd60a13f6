import numpy as np
import pytest
from toys import people_csv, specification

from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, expand, plan, run_sweep

QUICK = {"n_epochs": 3, "batch_size": 128, "n_settings": 4}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "people.csv"
    file.write_bytes(people_csv())
    return file


@pytest.fixture
def store(inline):
    opened = open_store()
    yield opened
    opened.close()


def planes(path, weights, taus=(0.1, 0.6), **more):
    params = {**QUICK, "fairness_weight": list(weights), "tau": list(taus), **more}
    grid = {"method": "road", "effort": "plane", "params": params}
    return specification(path, methods=[grid])


def folders(store):
    found = (store.home / "artifacts").glob("*/*")
    return {folder.name: folder.stat().st_mtime_ns for folder in found}


def test_the_effort_names_a_method_of_its_own_and_survives_yaml(path):
    spec = planes(path, [1])
    assert spec.methods[0].method == "road_plane"
    again = SweepSpec.from_yaml(spec.to_yaml())
    assert again == spec
    assert again.methods[0].effort == "plane"
    direct = spec.model_dump(mode="json", exclude_none=True)
    direct["methods"][0].pop("effort")
    assert SweepSpec.model_validate(direct) == spec


def test_a_method_without_a_plane_says_which_have_one(path):
    with pytest.raises(ValueError, match=r"`effort` 'plane' is for .*'road'.*broad"):
        specification(path, methods=[{"method": "broad", "effort": "plane"}])


def test_range_and_training_are_part_of_the_identity_and_points_are_not(path):
    def stack(**more):
        (one,) = plan(expand(planes(path, [1, 2, 3], **more), "data"))
        return one

    usual = stack()
    assert len(usual.trials) == 6
    key = usual.plane_key(data="data", scaling="standard")
    others = [
        stack(max_fairness_weight=4.0),
        stack(min_tau=0.1),
        stack(max_tau=2.0),
        stack(n_epochs=4),
    ]
    keys = {one.plane_key(data="data", scaling="standard") for one in others}
    assert len(keys | {key}) == 5
    trials = {trial.key for one in others for trial in one.trials}
    assert trials.isdisjoint(trial.key for trial in usual.trials)
    (fewer,) = plan(expand(planes(path, [9]), "data"))
    assert fewer.plane_key(data="data", scaling="standard") == key


def test_all_points_of_a_grid_are_one_stack_however_many(path):
    weights = np.linspace(0, 5, 40).tolist()
    (stack,) = plan(expand(planes(path, weights), "data"))
    assert len(stack.trials) == 80
    (small,) = plan(expand(planes(path, [1]), "data"))
    cost = {"n_rows": 100, "n_features": 5}
    assert stack.work(**cost) == small.work(**cost)


def test_another_point_of_a_plane_on_disk_is_not_trained(path, store, monkeypatch):
    first = submit(store, planes(path, [0.5, 2]))
    before = folders(store)
    assert len(before) == 5  # four trials and their plane
    monkeypatch.setattr("fairdash.jobs._work.train_plane", None)  # would fail
    second = store.snapshot(submit(store, planes(path, [2, 4.5])))
    assert second.run.status == "finished"
    after = folders(store)
    assert len(after) == 7
    assert {key: after[key] for key in before} == before
    alone = run_sweep(planes(path, [4.5], taus=[0.6]))
    rows = second.table().set_index("key")
    told = rows.loc[alone["key"].iloc[0], "test_log_loss"]
    assert told == pytest.approx(alone["test_log_loss"].iloc[0], abs=1e-12)
    store.delete_run(first)
    assert len(folders(store)) == 5  # the trials of the second, and the plane
    store.delete_run(second.run.id)
    assert folders(store) == {}


def test_a_plane_of_a_subsample_is_another_and_weighs_its_rows(path, store):
    submit(store, planes(path, [2], taus=[0.6]))
    some = planes(path, [2], taus=[0.6]).model_copy(update={"train_rows": 100})
    (trial,) = store.snapshot(submit(store, some)).trials
    assert len(folders(store)) == 4  # two trials, each of a plane of its own
    artifact = store.artifact(trial.key)
    assert artifact.row()["train_rows"] == 100
    assert len(artifact.ratio()) == 100
    assert artifact.scores().shape == (600,)


def test_points_outside_the_range_fail_and_the_others_do_not(path, store):
    trials = store.snapshot(submit(store, planes(path, [1, 21]))).trials
    by_weight = {t.params["fairness_weight"]: t for t in trials}
    assert by_weight[1.0].status == "finished"
    assert "`fairness_weight` must be between 0 and 20" in by_weight[21.0].reason


def test_a_plane_that_cannot_be_trained_fails_once_for_all_its_points(
    path, store, monkeypatch
):
    calls = []

    def broken(stack, *_, **__):
        calls.append(stack)
        raise ValueError("no memory left")

    monkeypatch.setattr("fairdash.jobs._work.train_plane", broken)
    snapshot = store.snapshot(submit(store, planes(path, [1, 2, 3])))
    assert {t.reason for t in snapshot.trials} == {"ValueError: no memory left"}
    assert len(calls) == 1


def test_a_trial_of_a_plane_is_stored_like_any_other(path, store):
    snapshot = store.snapshot(submit(store, planes(path, [2], taus=[0.6])))
    (trial,) = snapshot.trials
    artifact = store.artifact(trial.key)
    assert artifact.scores().shape == (600,)
    assert set(artifact.network()) == {
        f"{kind}_{i}" for kind in ("weight", "bias") for i in range(3)
    }
    assert artifact.ratio().mean() == pytest.approx(1, abs=1e-5)
    assert artifact.history()["epoch"].tolist() == [1, 2, 3]
    assert trial.progress.ratio["edges"][0] == 0.0
    assert store.artifact(artifact.plane()).row()["seed"] == trial.seed
