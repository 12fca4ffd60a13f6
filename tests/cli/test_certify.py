"""`fairdash certify`: certificates of a run's models."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv, simulate_noise
from typer.testing import CliRunner

from fairdash.audits import Noise, certificates
from fairdash.cli import app
from fairdash.datasets import split
from fairdash.jobs import submit
from fairdash.methods.noisy_groups import tv_certificate
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec

CONSTRAINT = "true_positive_rate_parity"


def call(*arguments):
    return CliRunner().invoke(app, ["certify", *map(str, arguments)])


@pytest.fixture
def run(inline):
    """A run of one model on two seeds; a function gives rows and decisions of each."""
    store = open_store()
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People")
    data = {"table": table, "roles": ROLES, "name": "People"}
    grid = (MethodGrid(method="logistic"),)
    yield submit(store, SweepSpec(data=data, methods=grid, seeds=(0, 1)), name="A")
    store.close()


def seeds_of(run):
    store = open_store()
    snapshot = store.snapshot(run)
    dataset = store.dataset(snapshot.run.dataset_id)
    seeds = []
    for trial in snapshot.trials:
        test = split(dataset, trial.seed).test
        decided = (store.artifact(trial.key).scores()[test] > 0.5).astype(int)
        seeds.append((test, dataset.y[test], decided))
    store.close()
    return seeds, np.asarray(dataset.sensitive_features, dtype=str)


def test_models_are_certified_on_the_test_rows_of_each_seed(run):
    done = call(run, "--radius", 0.1)
    assert done.exit_code == 0, done.output
    seeds, groups = seeds_of(run)
    worst = [
        tv_certificate(y, decided, groups[test], 0.1)["worst_violation"].max()
        for test, y, decided in seeds
    ]
    assert f"{100 * max(worst):.1f}" in done.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "known of the noise: --level or --sample."),
        (["--level", "0.4", "--sample", __file__], "Give one of --level and"),
        (["--level", "0.96"], "`level` must be below"),
        (["--radius", "2"], "--radius must be in [0, 0.6], got 2"),
        (["--radius", "0.1", "--constraint", "odds"], "`constraints` must be one of"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(arguments, message, run):
    done = call(run, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()
    gone = call("nobody", "--radius", 0.1)
    assert gone.exit_code == 2
    assert "nobody" in gone.stderr


def test_a_sample_with_both_groups_certifies(run, tmp_path):
    seeds, groups = seeds_of(run)
    true = np.random.default_rng(0).choice(np.unique(groups), 1500)
    guess = simulate_noise(true, 0.1, random_state=0)
    sample = pd.DataFrame({"own": true, "guess": guess})
    path = tmp_path / "sample.csv"
    sample.to_csv(path, index=False)
    command = [run, "--sample", path, "--true", "own", "--recorded", "guess"]
    done = call(*command)
    assert done.exit_code == 0, done.output
    noise = Noise.from_sample(groups, sample, "own", "guess")
    parts = [certificates.Decisions(*rows) for rows in seeds]
    curve = certificates.radius_curve(
        "m", parts, noise, certificates.Question(CONSTRAINT, 0.0)
    )
    for worst in (curve.worst(curve.reach), np.mean(curve.soft)):
        assert f"{100 * worst:.1f}" in done.stdout
    assert "has no columns ['who']" in call(*command[:-1], "who").stderr
