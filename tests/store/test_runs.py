import numpy as np
import pandas as pd
import pytest
from toys import ROLES, Question, people_csv


@pytest.fixture
def dataset_id(store):
    digest = store.add_table(people_csv(100), "people.csv")
    return store.add_dataset(digest, ROLES, "People")


def add_run(store, dataset_id, *keys):
    trials = [Question(key) for key in keys]
    return store.add_run({"seeds": [0]}, trials, name="First", dataset_id=dataset_id)


def write(artifact, **row):
    artifact.write(
        row=row,
        scores=np.linspace(0, 1, 5, dtype=np.float32),
        history=pd.DataFrame({"epoch": [1, 2], "loss": [0.5, 0.4]}),
        network={"weight_0": np.ones((2, 3), np.float32)},
        ratio=np.ones(3, np.float32),
        ratio_history={"epoch": np.array([1, 2]), "ratio": np.ones((2, 3))},
    )


def event(key, epoch):
    curves = {"epoch": [1.0], "loss": [0.5]}
    facts = {"n_epochs": 10, "seconds": 0.1, "curves": curves, "ratio": None}
    return {"key": key, "epoch": epoch, **facts}


def test_a_run_begins_queued_with_all_its_trials(store, dataset_id):
    run_id = add_run(store, dataset_id, "a", "b", "a")
    snapshot = store.snapshot(run_id)
    assert snapshot.run.status == "queued"
    assert (snapshot.run.name, snapshot.run.dataset_name) == ("First", "People")
    assert snapshot.run.spec == {"seeds": [0]}
    assert [trial.key for trial in snapshot.trials] == ["a", "b"]
    assert snapshot.trials[0].params == {"tau": 0.5}
    assert snapshot.count("queued") == 2
    assert store.unfinished(run_id) == {"a", "b"}


def test_a_snapshot_shows_progress_results_and_failures(store, dataset_id):
    run_id = add_run(store, dataset_id, "a", "b", "c", "d")
    store.set_status(run_id, "running")
    store.put_progress([event("a", 3), event("b", 5)])
    store.put_trial(run_id, "b", row={"test_accuracy": 0.75}, seconds=2.0)
    store.fail_trial(run_id, "c", error="Traceback\nValueError: too few rows\n")
    snapshot = store.snapshot(run_id)
    statuses = {trial.key: trial.status for trial in snapshot.trials}
    assert statuses == {"a": "running", "b": "finished", "c": "failed", "d": "queued"}
    assert snapshot.trials[0].progress.curves == {"epoch": [1.0], "loss": [0.5]}
    assert snapshot.trials[2].reason == "ValueError: too few rows"
    assert snapshot.share == pytest.approx((0.3 + 1 + 1 + 0) / 4)
    row = {"key": "b", "method": "road", "seed": 0, "tau": 0.5, "seconds": 2.0}
    assert snapshot.table().to_dict("records") == [{**row, "test_accuracy": 0.75}]
    assert store.snapshot(run_id, curves=False).trials[0].progress.curves == {}


def test_finished_is_never_overwritten(store, dataset_id):
    run_id = add_run(store, dataset_id, "a")
    store.fail_trial(run_id, "a", error="first try")
    store.put_trial(run_id, "a", row={"test_accuracy": 1.0}, seconds=1.0)
    store.fail_trial(run_id, "a", error="late news")
    (trial,) = store.snapshot(run_id).trials
    assert (trial.status, trial.error) == ("finished", None)
    store.set_status(run_id, "finished")
    store.set_status(run_id, "failed")
    store.ask_cancel(run_id)
    record = store.run(run_id)
    assert (record.status, record.cancel_asked) == ("finished", None)


def test_the_end_of_a_run_writes_its_summary(store, dataset_id):
    run_id = add_run(store, dataset_id, "a", "b", "c")
    for key, accuracy in {"a": 0.7, "b": 0.9}.items():
        row = {"test_accuracy": accuracy, "validation_n": 9}
        store.put_trial(run_id, key, row=row, seconds=1)
    store.fail_trial(run_id, "c", error="no")
    store.set_status(run_id, "failed")
    counts = {"trials": 3, "finished": 2, "failed": 1}
    (entry,) = store.run(run_id).summary
    assert entry == {"method": "road", **counts, "test_accuracy": pytest.approx(0.8)}


def test_deleting_a_run_spares_what_another_run_uses(store, dataset_id):
    run_id = add_run(store, dataset_id, "a", "b")
    two = add_run(store, dataset_id, "b")
    with pytest.raises(ValueError, match="cancel it first"):
        store.delete_run(run_id)
    for key in "ab":
        write(store.artifact(key), key=key)
        store.put_progress([event(key, 1)])
    store.set_status(run_id, "finished")
    store.keep_look(run_id, "0a", 0.01)
    store.keep_look(two, "0a", 0.02)
    store.delete_run(run_id)
    assert [run.id for run in store.runs()] == [two]
    assert [store.looks(run) for run in (run_id, two)] == [{}, {"0a": 0.02}]
    assert not store.artifact("a").exists()
    assert store.artifact("b").exists()
    assert store.snapshot(two).trials[0].progress is not None
    with pytest.raises(ValueError, match="no run"):
        store.snapshot(run_id)


def test_an_artifact_comes_back_and_its_first_writer_wins(store):
    artifact = store.artifact("abc")
    assert not artifact.exists()
    write(artifact, writer=1)
    write(artifact, writer=2)
    assert artifact.row() == {"writer": 1}
    assert artifact.scores().dtype == np.float32
    np.testing.assert_allclose(artifact.scores(), np.linspace(0, 1, 5))
    assert artifact.history()["loss"].tolist() == [0.5, 0.4]
    assert artifact.network()["weight_0"].shape == (2, 3)
    assert artifact.ratio().tolist() == [1, 1, 1]
    assert artifact.ratio_history()["ratio"].shape == (2, 3)
    assert [path.name for path in artifact.folder.parent.iterdir()] == ["abc"]
