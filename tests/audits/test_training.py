import time

import pytest
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.audits import progress, training
from fairdash.audits.pace import Span
from fairdash.jobs import submit
from fairdash.sweep import SweepSpec, expand

QUICK = {"n_epochs": 4, "batch_size": 128}
PLAIN = {"method": "unconstrained", "params": QUICK}
ZHANG = {"method": "adversarial", "params": {**QUICK, "fairness_weight": 1.0}}
GRID = {"fairness_weight": [0.5, 2.0], "tau": [0.1, 0.6]}
ROAD = {"method": "road", "params": {**QUICK, **GRID}}


def specification(methods):
    table = ui.store().add_table(people_csv(), "people.csv")
    data = {"table": table, "roles": ROLES, "name": "People"}
    return SweepSpec.model_validate({"data": data, "methods": methods})


class TenSeconds:
    """A pace at which every model takes ten seconds."""

    def seconds(self, method, work, n_models, data):
        return Span.within(10.0 * n_models, 1.0)


@pytest.fixture
def begin(inline, monkeypatch):
    """Return a function that queues a run which began ten seconds ago."""

    monkeypatch.setattr(progress, "crowd", lambda n_workers: 1.0)
    monkeypatch.setattr(progress.Pace, "of", lambda store: TenSeconds())

    def begin(*methods):
        spec = specification(methods)
        store = ui.store()
        dataset = store.add_dataset(spec.data.table, ROLES, "People")
        trials = expand(spec, store.dataset(dataset).key)
        run = store.add_run(spec.model_dump(mode="json"), trials, "Going", dataset)
        began = time.time()
        monkeypatch.setattr(time, "time", lambda: began)
        store.set_status(run, "running")
        monkeypatch.setattr(time, "time", lambda: began + 10)
        return run, trials

    return begin


def left(run, epochs, resumed=0.0):
    """Return the time left when trials, by key, have so many of 4 epochs behind."""
    ui.store().put_progress(
        {"key": key, "epoch": epoch, "n_epochs": 4, "seconds": 1.0}
        for key, epoch in epochs.items()
    )
    return progress.seconds_left(ui.store(), ui.store().snapshot(run), resumed)


def test_models_that_were_on_disk_say_nothing_of_the_time_left(begin):
    submit(ui.store(), specification([PLAIN, ZHANG]))
    run, (*finished, a, b, c, d) = begin(PLAIN, ZHANG, ROAD)
    assert left(run, {}) == pytest.approx(40 * (10 + 10) / 10)
    for trial in finished:
        ui.store().put_trial(run, trial.key, row={}, seconds=1.0)
    assert left(run, {}) == pytest.approx(40 * (10 + 10) / 10)
    activity = training.activity(ui.store().snapshot(run))
    assert activity == "Putting results together"
    # 10 s for 4 of the 16 epochs of ROAD, as expected, so 30 s for the other 12
    assert left(run, {a.key: 2, b.key: 2}) == pytest.approx(30)
    activity = training.activity(ui.store().snapshot(run))
    assert activity == "Training ROAD λ 0.5 τ 0.1 and 1 more, epoch 2 of 4"
    everything = {a.key: 4, b.key: 4, c.key: 2, d.key: 2}
    # in 10 s came what was expected to take 30, and a quarter of 40 s is yet believed
    assert left(run, everything) == pytest.approx(10 * (10 + 10) / (30 + 10))
    assert left(run, everything, time.time() - 6) == pytest.approx(10 * 16 / 40)
    assert left(run, everything, time.time() - 1) is None


def test_curves_are_of_one_setting_while_several_train(begin):
    run, (_, *road) = begin(PLAIN, ROAD)
    chosen = training.main_trials(ui.store().snapshot(run))
    assert [trial.key for trial in chosen] == [road[0].key]


def test_a_model_counts_by_the_time_it_is_expected_to_take(begin):
    run, (plain, *road) = begin(PLAIN, ROAD)
    assert left(run, {plain.key: 4}) == pytest.approx(40)
    snapshot = ui.store().snapshot(run)
    assert progress.share_done(ui.store(), snapshot) == pytest.approx(10 / 50)
    after_road = left(run, {plain.key: 0, **{trial.key: 4 for trial in road}})
    # in 10 s came what was expected to take 40
    assert after_road == pytest.approx(10 * (10 + 12.5) / (40 + 12.5))


def test_models_of_a_bundle_have_no_time_of_training_here(inline, finished_sweep):
    finished_sweep("hiring", inline)
    submit(ui.store(), specification([PLAIN]))
    notes = training.run_table(ui.store(), ui.store().runs()).set_index("Run")["Note"]
    assert [note == "trained elsewhere" for note in notes] == [False, True]
    assert notes.iloc[0].endswith(" s")
