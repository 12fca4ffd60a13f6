"""Trained models on a small table."""

import pytest
from toys import ROLES, people_csv

from fairdash.audits import stored
from fairdash.audits.trials.models import as_scored
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec


@pytest.fixture
def store(inline):
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def dataset(store):
    table = store.add_table(people_csv(), "people.csv")
    return store.dataset(store.add_dataset(table, ROLES, "People"))


@pytest.fixture
def train(store, dataset, train_once):
    """Return a function that trains methods on the table and returns the run."""

    def go(kinds, seeds=(0,), **others):
        record = store.datasets()[0]
        grids = [MethodGrid(method=m, params=p) for m, p in kinds.items()]
        spec = SweepSpec(
            data={"table": record.table_sha256, "roles": record.roles, "name": "P"},
            methods=tuple(grids),
            seeds=seeds,
            **others,
        )
        return train_once(store, lambda spec: submit(store, spec, name="Audited"), spec)

    return go


@pytest.fixture
def model_of(store, dataset, train):
    """Return a function that trains one method and returns the stored model."""

    def go(method, params, **others):
        run = train({method: params}, **others)
        (trial,) = store.snapshot(run).trials
        assert trial.status == "finished", trial.error
        spec = SweepSpec.model_validate(store.run(run).spec)
        model = as_scored(trial)
        return stored.read_model(
            store, model, stored.audit_rows_of(dataset, model, spec)
        )

    return go
