"""`fairdash noise-choice`: what each rule keeps of the settings for noisy groups."""

from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv
from typer.testing import CliRunner

from fairdash.audits import (
    NoisyRows,
    Question,
    choose_settings,
    from_levels,
    noise_study,
    simulated,
)
from fairdash.cli import app
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

RATES = {"learning_rate": (0.001, 0.1), "adversary_rate": (0.1,)}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(noise_study, "SEARCHED_RATES", RATES)
    table = tmp_path / "people.csv"
    table.write_bytes(people_csv(250))
    spec = SweepSpec.model_validate(
        {
            "data": {"path": str(table), "roles": ROLES.model_dump()},
            "methods": [{"method": "logistic"}],
            "seeds": [3],
        }
    )
    (tmp_path / "config.yaml").write_text(spec.to_yaml())
    return tmp_path / "config.yaml"


def call(config, *asked):
    home = ["--home", str(config.parent / "home")]
    given = ["noise-choice", str(config), *map(str, asked), "--inline", *home]
    return CliRunner().invoke(app, given)


@pytest.mark.parametrize("known", ["--simulated", "--level"])
def test_what_every_rule_keeps_is_printed_with_its_test_figures(known, config):
    out = config.parent / "rules.csv"
    asked = [known, 0.1, "--slack", 0.02, "--out", out]
    done = call(config, *asked)
    assert done.exit_code == 0, done.output
    with closing(open_store(config.parent / "home")) as store:
        (run,) = store.runs()
        trials = store.snapshot(run.id).trials
        dataset = store.dataset(run.dataset_id)
        rows = NoisyRows.of(dataset)
        noise = simulated(rows, 0.1)
        if known == "--level":
            noise = from_levels(rows.groups, 0.1)
        question = Question("true_positive_rate_parity", 0.02)
        found = choose_settings(store, dataset, trials, noise, question)
    assert {trial.seed for trial in trials} == {3}
    assert not {trial.method for trial in trials} & {"logistic"}
    assert len([one for one in trials if one.method == "noisy_dro"]) == 2
    lines = done.stdout.splitlines()
    for _, row in found.table.iterrows():
        (line,) = [one for one in lines if one.strip().startswith(row["label"] + " ")]
        numbers = [row[name] for name in ("promised", "error", "ball")]
        for value in numbers:
            assert f" {value:.3f}" in line
    assert "±" not in done.stdout  # one seed
    assert found.table[["error_sd", "true_sd"]].isna().all(axis=None)
    rules = {"noisy", "own", "ball"} | ({"true"} if known == "--simulated" else set())
    assert set(found.table["rule"]) == rules
    assert found.verdict() in done.stdout.replace("\n", " ")
    written = pd.read_csv(out)
    np.testing.assert_allclose(written["error"], found.by_seed["error"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "Give one of --simulated, --level and --auxiliary."),
        (["--level", 0.1, "--simulated", 0.1], "Give one of --simulated"),
        (["--level", 0.49], "noise"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(asked, message, config):
    done = call(config, *asked)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert "\n" not in done.stderr.strip()
