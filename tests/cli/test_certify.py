"""`fairdash certify`: certificates of a run's models, or of scores in a file."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv
from typer.testing import CliRunner

from fairdash.audits import (
    Decisions,
    Question,
    certify_decisions,
    from_sample,
)
from fairdash.cli import app
from fairdash.datasets import split
from fairdash.jobs import submit
from fairdash.methods.noisy_groups import (
    simulate_noise,
    tv_certificate,
)
from fairdash.store import open_store
from fairdash.sweep import MethodGrid, SweepSpec

CONSTRAINT = "true_positive_rate_parity"
COLUMNS = ["--score", "score", "--group", "team", "--outcome", "paid"]


def call(*arguments):
    return CliRunner().invoke(app, ["certify", *map(str, arguments)])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    paid = rng.random(900) < 0.5
    score = np.clip(0.3 + 0.4 * paid + rng.normal(scale=0.2, size=900), 0, 1)
    team = rng.choice(["blue", "green", "red"], 900)
    return pd.DataFrame({"score": score, "team": team, "paid": paid.astype(int)})


@pytest.fixture
def file(frame, tmp_path):
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def rows(frame):
    return frame["paid"], (frame["score"] > 0.5).astype(int), frame["team"]


def test_scores_in_a_file_are_certified(frame, file, tmp_path):
    done = call(file, *COLUMNS, "--radius", 0.1, "--out", tmp_path / "all.csv")
    assert done.exit_code == 0, done.output
    table = tv_certificate(*rows(frame), 0.1)
    assert f"{table['worst_violation'].max():+.3f}" in done.stdout
    written = pd.read_csv(tmp_path / "all.csv").query("kind == 'ball'")
    np.testing.assert_allclose(written["worst"], table["worst"])


def test_an_assumed_level_gives_both_certificates_and_marks_who_decides_alike(
    frame, file
):
    done = call(file, *COLUMNS, "--level", 0.05)
    assert done.exit_code == 0, done.output
    shown = done.stdout.split("\n")
    assert shown[0].split() == ["model", "seeds", "found", "ball", "soft"]
    found, ball, soft = map(float, shown[1].split()[2:])
    assert found < soft < ball
    frame.assign(score=1.0).to_csv(file, index=False)
    done = call(file, *COLUMNS, "--level", 0.05)
    assert done.stdout.split("\n")[1].endswith("accepts all")


def test_models_of_a_run_are_certified_on_the_test_rows_of_each_seed(inline):
    store = open_store()
    table = store.add_table(people_csv(), "people.csv")
    store.add_dataset(table, ROLES, "People")
    data = {"table": table, "roles": ROLES, "name": "People"}
    grid = (MethodGrid(method="logistic"),)
    run = submit(store, SweepSpec(data=data, methods=grid, seeds=(0, 1)), name="A")
    done = call(run, "--radius", 0.1)
    assert done.exit_code == 0, done.output
    snapshot, worst = store.snapshot(run), []
    dataset = store.dataset(snapshot.run.dataset_id)
    for trial in snapshot.trials:
        test = split(dataset, trial.seed).test
        decided = (store.artifact(trial.key).scores()[test] > 0.5).astype(int)
        found = tv_certificate(
            dataset.y[test], decided, dataset.sensitive_features[test], 0.1
        )
        worst.append(found["worst_violation"].max())
    store.close()
    assert f"{np.mean(worst):+.3f}" in done.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "known of the noise: --level or --sample."),
        (["--level", "0.4", "--sample", __file__], "Give one of --level and"),
        (["--level", "0.66"], "`level` can be at most 0.573"),
        (["--radius", "2"], "`radius` must be in [0, 1], got 2"),
        (["--radius", "0.1", "--positive", "yes"], "never is 'yes' (--positive)"),
        (["--radius", "0.1", "--group", "city"], "has no columns ['city']"),
        (["--radius", "0.1", "--constraint", "odds"], "`constraints` must be one of"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(arguments, message, file):
    done = call(file, *COLUMNS, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()


def test_a_group_without_positives_and_a_run_that_is_not_there_are_named(
    frame, tmp_path, inline
):
    frame.loc[frame["team"] == "red", "paid"] = 0
    frame.to_csv(tmp_path / "scores.csv", index=False)
    done = call(tmp_path / "scores.csv", *COLUMNS, "--radius", 0.1)
    assert "Group red has no rows with outcome 1" in done.stderr
    done = call("nobody", "--radius", 0.1)
    assert done.exit_code == 2
    assert "nobody" in done.stderr


def test_a_sample_with_both_groups_certifies(frame, file, tmp_path):
    true = np.random.default_rng(0).choice(["blue", "green", "red"], 1500)
    guess = simulate_noise(true, 0.1, random_state=0)
    sample = pd.DataFrame({"own": true, "guess": guess})
    path = tmp_path / "sample.csv"
    sample.to_csv(path, index=False)
    asked = [file, *COLUMNS, "--sample", path, "--true", "own", "--recorded", "guess"]
    done = call(*asked)
    assert done.exit_code == 0, done.output
    noise = from_sample(frame["team"].astype(str).to_numpy(), sample, "own", "guess")
    y, decided, _ = rows(frame)
    here = Decisions(np.arange(900), y.to_numpy(), decided.to_numpy())
    certificate = certify_decisions("m", [here], noise, Question(CONSTRAINT, 0.0))
    for kind in ("ball", "soft"):
        assert f"{certificate.largest[kind].max():+.3f}" in done.stdout
    sample.assign(guess=sample["guess"].replace("red", "blue")).to_csv(path)
    done = call(*asked)
    assert done.exit_code == 2
    assert "no row of the noisy group 'red'" in done.stderr
    assert "has no columns ['who']" in call(*asked[:-1], "who").stderr
