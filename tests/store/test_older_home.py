"""A home folder that an earlier version wrote opens with its runs."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from toys import ROLES, people

from fairdash.audits import stored
from fairdash.audits.trials.models import as_scored
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

# 120 applicants of `toys.people`, two models of two epochs each, a draft of roles
ARCHIVE = Path(__file__).parent / "older_home.tar.gz"


@pytest.fixture
def store(home):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(home, filter="data")
    opened = open_store()
    yield opened
    opened.close()


def test_its_runs_are_shown_with_their_figures(store):
    (run,) = store.runs()
    assert (run.name, run.status) == ("An older run", "finished")
    table = store.snapshot(run.id).table().set_index("method")
    assert table.index.tolist() == ["unconstrained", "road"]
    assert table["test_accuracy"].tolist() == [13 / 24, 13 / 24]
    assert table.loc["road", "fairness_weight"] == 2


def test_its_models_and_their_curves_are_read(store):
    trials = store.snapshot(store.runs()[0].id).trials
    artifacts = [store.artifact(trial.key) for trial in trials]
    assert artifacts[1].scores()[:3] == pytest.approx([0.53395, 0.53981, 0.53699], 1e-4)
    assert [len(artifact.history()) for artifact in artifacts] == [2, 2]
    assert [artifact.ratio() is None for artifact in artifacts] == [True, False]
    assert all(artifact.network() for artifact in artifacts)


def test_its_data_set_and_its_draft_are_read(store):
    (record,) = store.datasets()
    assert record.roles == ROLES.model_copy(update={"missing": "impute"})
    expected = (people(120)["hired"] == "yes").astype(int).tolist()
    assert store.dataset(record.id).y.tolist() == expected
    assert store.draft(record.id).subgroups.columns == ("branch",)


def test_an_older_model_gives_the_scores_it_gave(store):
    (run,) = store.runs()
    dataset = store.dataset(run.dataset_id)
    spec = SweepSpec.model_validate(run.spec)
    for trial in store.snapshot(run.id).trials:
        scored = as_scored(trial)
        rows = stored.audit_rows_of(dataset, scored, spec)
        model = stored.read_model(store, scored, rows)
        X, group = rows.test
        np.testing.assert_allclose(
            model.scorer.positive(X, group),
            store.artifact(trial.key).scores()[rows.where],
            atol=1e-6,
        )
