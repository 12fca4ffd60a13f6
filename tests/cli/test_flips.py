"""`fairdash audit`: flips of a run's models on the command line."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import encode, split
from fairdash.jobs import submit
from fairdash.methods import scorer_of
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec


def call(*arguments):
    return CliRunner().invoke(app, ["model", "flips", *map(str, arguments)])


@pytest.fixture
def store(inline):
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def run(store):
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People")
    methods = (
        MethodGrid(method="logistic"),
        MethodGrid(method="forest", params={"n_estimators": 5, "max_depth": 3}),
    )
    data = {"table": table, "roles": ROLES, "name": "People"}
    return submit(store, SweepSpec(data=data, methods=methods, seeds=(0, 1)), name="A")


def test_it_prints_and_writes_one_row_per_model(store, run, tmp_path):
    done = call(run, "--flip", "branch", "--out", tmp_path / "audit.csv")
    assert done.exit_code == 0, done.output
    assert "consistency" in done.stdout
    assert "branch: office, works" in done.stdout
    rows = pd.read_csv(tmp_path / "audit.csv")
    assert rows["method"].tolist() == ["logistic", "forest"]
    assert (rows["n_seeds"] == 2).all()


def test_consistency_is_that_of_the_stored_models_under_the_values_named(
    store, run, tmp_path
):
    flip = "age=20,45"
    done = call(run, "--flip", flip, "--by-seed", "--out", tmp_path / "a.parquet")
    assert done.exit_code == 0, done.output
    rows = pd.read_parquet(tmp_path / "a.parquet").set_index(["method", "seed"])
    dataset = store.dataset(store.run(run).dataset_id)
    for trial in store.snapshot(run).trials:
        parts = split(dataset, trial.seed)
        encoder = encode(dataset, parts.train).encoder
        model = scorer_of(store.artifact(trial.key).network())
        frame = dataset.frame.iloc[parts.test]
        tables = [frame, frame.assign(age=20), frame.assign(age=45)]
        zeros = np.zeros(len(frame), int)
        decided = [model.positive(encoder.transform(t), zeros) > 0.5 for t in tables]
        same = np.mean((np.array(decided) == decided[0]).all(0))
        found = rows.loc[(trial.method, trial.seed), "consistency"]
        assert found == pytest.approx(same)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ("RUN", "--flip", "origin"),
            "'origin' cannot be flipped: it is not",
        ),
        (("RUN", "--flip", "branch=home"), "'branch' has no value 'home'"),
        (("nowhere", "--flip", "branch"), "There is no run 'nowhere'"),
        (("RUN", "--flip", "branch", "--out", "a.txt"), "`--out` must be one of"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_one_line(run, arguments, message):
    done = call(*(run if word == "RUN" else word for word in arguments))
    assert done.exit_code == 2
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()


def test_a_model_of_which_scores_alone_were_kept_is_refused(store, run, monkeypatch):
    monkeypatch.setattr("fairdash.store._artifacts.Artifact.network", lambda _: {})
    done = call(run, "--flip", "branch")
    assert done.exit_code == 2
    assert "train it again" in done.stderr
