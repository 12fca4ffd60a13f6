"""Finished runs that come with the samples are opened as they were trained."""

import json
from zipfile import ZipFile

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from fairdash.datasets import SAMPLES, split
from fairdash.jobs import engine_lives, finished_file, pack_run, unpack_run
from fairdash.store import open_store
from fairdash.sweep import RESULTS_VERSION, SweepSpec, expand


@pytest.fixture
def stores(tmp_path):
    opened = [open_store(tmp_path / name) for name in ("one", "other")]
    yield opened
    for store in opened:
        store.close()


def facts(file):
    with ZipFile(file) as bundle:
        return json.loads(bundle.read("run.json"))


def test_the_files_are_of_this_version_and_small():
    files = [finished_file(name) for name in SAMPLES]
    for name, file in zip(SAMPLES, files, strict=True):
        known = facts(file)
        assert known["version"] == RESULTS_VERSION, "run sample_data/make_runs.py"
        assert known["spec"]["data"]["sample"] == name
    assert sum(file.stat().st_size for file in files) < 1e6


def test_a_file_becomes_a_finished_run_and_that_the_same_file(stores, tmp_path):
    one, other = stores
    file = finished_file("hiring")
    run = unpack_run(one, file)
    assert unpack_run(one, file) == run
    assert not engine_lives(one.home)
    snapshot = one.snapshot(run)
    assert snapshot.run.status == "finished"
    dataset = one.dataset(snapshot.run.dataset_id)
    trials = expand(SweepSpec.of_run(snapshot.run.spec), dataset.key)
    assert [trial.key for trial in snapshot.trials] == [t.key for t in trials]
    for trial in snapshot.trials:
        artifact = one.artifact(trial.key)
        test = split(dataset, trial.seed).test
        right = accuracy_score(dataset.y[test], artifact.scores()[test] > 0.5)
        assert trial.row["test_accuracy"] == pytest.approx(right)
        assert not trial.seconds  # trained elsewhere: no time to learn from
        assert (artifact.ratio() is None) == (trial.method != "road")

    again = tmp_path / "again.zip"
    pack_run(one, run, again)
    copied = other.snapshot(unpack_run(other, again))
    assert [t.row for t in copied.trials] == [t.row for t in snapshot.trials]
    for trial in snapshot.trials:
        first, second = one.artifact(trial.key), other.artifact(trial.key)
        assert (first.scores() == second.scores()).all()
        if first.ratio() is not None:
            np.testing.assert_array_equal(first.ratio(), second.ratio())
            assert first.ratio().mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("change", [{"version": RESULTS_VERSION - 1}, {"keys": ["a"]}])
def test_a_file_of_other_results_is_refused(stores, tmp_path, change):
    file, older = finished_file("hiring"), tmp_path / "older.zip"
    with ZipFile(file) as bundle, ZipFile(older, "w") as changed:
        for name in bundle.namelist():
            content = bundle.read(name)
            if name == "run.json":
                content = json.dumps(facts(file) | change)
            changed.writestr(name, content)
    with pytest.raises(ValueError, match=r"make_runs\.py"):
        unpack_run(stores[0], older)
    assert stores[0].runs() == []
