"""A sweep, its exported script and the engine train the same models, bit for bit.

Over the full schedule: rounding that differs grows with training into another model.
"""

import numpy as np
import pytest
from conftest import wait_until
from toys import people_csv, specification

from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

GRID = {"fairness_weight": [0.0, 5.0], "tau": [0.1, 1.0]}
BATCH = {"batch_size": 96}  # so that there are several, the last one smaller
METHODS = [
    {"method": "adversarial", "params": BATCH | {"fairness_weight": [0.5, 5.0]}},
    {"method": "road", "params": BATCH | GRID},
    {"method": "fair_log_loss"},
]


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv(240))
    return specification(tmp_path / "people.csv", methods=METHODS, seeds=[3])


def sweep(home, spec):
    """Return the store and the snapshot of a sweep that was trained to its end."""
    store = open_store(home)
    run = submit(store, spec)
    wait_until(lambda: store.run(run).over)
    assert store.run(run).status == "finished"
    return store, store.snapshot(run)


def bits(artifact):
    """Return all that is kept of a trained model, as bytes."""
    arrays = {"scores": artifact.scores(), **(artifact.network() or {})}
    if artifact.ratio() is not None:
        arrays |= {"ratio": artifact.ratio(), **artifact.ratio_history()}
    arrays["history"] = artifact.history().to_numpy(float)
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}


def test_workers_train_the_models_that_one_process_trains(
    engine, tmp_path, spec, monkeypatch
):
    workers, snapshot = sweep(engine, spec)
    one = SweepSpec.from_yaml(spec.to_yaml())
    monkeypatch.setenv("FAIRDASH_INLINE", "1")
    alone, again = sweep(tmp_path / "alone", one)
    assert [t.key for t in again.trials] == [t.key for t in snapshot.trials]
    for trial in snapshot.trials:
        here, there = alone.artifact(trial.key), workers.artifact(trial.key)
        assert bits(here) == bits(there), trial
    workers.close()
    alone.close()
