import pytest
from toys import people_csv, specification

from fairdash.jobs import queue, run_open, submit
from fairdash.jobs.engine import engine_lives
from fairdash.store import open_store
from fairdash.sweep import run_sweep

QUICK = {"n_epochs": 3, "batch_size": 128}


@pytest.fixture
def store(inline):
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    return tmp_path / "people.csv"


def test_a_run_is_over_when_submit_returns_and_gives_the_figures_of_run_sweep(
    store, path
):
    spec = specification(path, seeds=[0, 1])
    run_id = submit(store, spec)
    snapshot = store.snapshot(run_id)
    assert snapshot.run.status == "finished"
    table = snapshot.table()
    expected = run_sweep(spec)
    assert table.columns.tolist() == expected.columns.tolist()
    numbers = expected.columns[expected.columns.str.match("validation_|test_")]
    assert table["key"].tolist() == expected["key"].tolist()
    difference = (table[numbers] - expected[numbers]).abs().max().max()
    assert difference < 1e-5
    assert not engine_lives(store.home)


def test_a_failing_setting_says_why_and_stops_no_other(store, path):
    params = {**QUICK, "fairness_weight": [1e39, 1.0]}
    grid = {"method": "road", "params": params}
    snapshot = store.snapshot(submit(store, specification(path, methods=[grid])))
    assert [trial.status for trial in snapshot.trials] == ["failed", "finished"]
    assert "lower `learning_rate`" in snapshot.trials[0].reason
    assert snapshot.run.status == "failed"


def test_a_marked_run_is_cancelled_and_keeps_nothing(store, path):
    long = {"method": "road", "params": {**QUICK, "n_epochs": 100_000}}
    run_id = queue(store, specification(path, methods=[long]))
    run_open(store, watch=lambda: store.ask_cancel(run_id))
    snapshot = store.snapshot(run_id)
    assert snapshot.run.status == "cancelled"
    assert not store.artifact(snapshot.trials[0].key).exists()


def test_an_interrupted_run_goes_on_where_it_stopped(store, path):
    quick = {"method": "unconstrained", "params": QUICK}
    run_id = queue(store, specification(path, methods=[quick], seeds=[0, 1]))

    def interrupt():
        if store.snapshot(run_id).count("finished") == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_open(store, watch=interrupt)
    first = store.snapshot(run_id).trials[0].key
    before = store.artifact(first).folder.stat().st_mtime_ns
    run_open(store)
    assert store.run(run_id).status == "finished"
    assert store.artifact(first).folder.stat().st_mtime_ns == before
