"""Models that an earlier version stored are audited as they were encoded then."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from fairdash.audits import stored
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

ARCHIVE = Path(__file__).parents[1] / "store" / "older_home.tar.gz"


@pytest.fixture
def store(home):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(home, filter="data")
    opened = open_store()
    yield opened
    opened.close()


def test_an_older_model_gives_the_scores_it_gave(store):
    (run,) = store.runs()
    dataset, spec = store.dataset(run.dataset_id), SweepSpec.model_validate(run.spec)
    for trial in store.snapshot(run.id).trials:
        rows = stored.audit_rows_of(dataset, trial, spec)
        model = stored.read_model(store, trial, rows)
        X, group = rows.test
        np.testing.assert_allclose(
            model.scorer.positive(X, group),
            store.artifact(trial.key).scores()[rows.where],
            atol=1e-6,
        )
