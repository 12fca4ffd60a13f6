"""`fairdash audit-classes`: predictions of many classes in a file."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.metrics import class_gaps


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    job = rng.choice(["nurse", "surgeon", "teacher"], 400)
    sex = rng.choice(["f", "m"], 400)
    missed = (job == "surgeon") & (sex == "f") & (rng.random(400) < 0.6)
    return pd.DataFrame(
        {"job": job, "said": np.where(missed, "nurse", job), "sex": sex}
    )


def call(folder, frame, *asked):
    frame.to_csv(folder / "jobs.csv", index=False)
    return CliRunner().invoke(app, ["audit-classes", str(folder / "jobs.csv"), *asked])


def test_every_table_of_the_audit_is_printed_and_the_gaps_written(frame, tmp_path):
    asked = ["--outcome", "job", "--predicted", "said", "--group", "sex"]
    done = call(tmp_path, frame, *asked, "--out", str(tmp_path / "gaps.csv"))
    assert done.exit_code == 0, done.output
    found = class_gaps(frame["job"], frame["said"], sensitive_features=frame["sex"])
    assert found.verdict() in done.stdout
    assert "Class surgeon is recognised least alike: f is below m" in done.stdout
    for value in [*found.summary["value"], *found.summary["chance"]]:
        assert f"{value:.3f}" in done.stdout
    written = pd.read_csv(tmp_path / "gaps.csv")
    np.testing.assert_allclose(written["gap"], found.by_class["gap"])


def test_a_column_that_is_not_there_is_refused(frame, tmp_path):
    done = call(tmp_path, frame, "--outcome", "job", "--predicted", "x", "--group", "s")
    assert done.exit_code == 2
    assert "'x'" in done.stderr


@pytest.mark.parametrize("column", ["job", "said"])
def test_an_empty_cell_is_named_by_its_column_and_row(frame, tmp_path, column):
    frame.loc[[4, 9], column] = None
    asked = ["--outcome", "job", "--predicted", "said", "--group", "sex"]
    done = call(tmp_path, frame, *asked)
    assert done.exit_code == 2
    assert f"Column {column!r} has no value in 2 rows, first row 5;" in done.stderr
