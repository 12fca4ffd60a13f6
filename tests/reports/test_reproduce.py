"""A run exported in one home folder gives the same numbers in an empty one."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import reading
from fairdash.jobs import submit
from fairdash.reports import portable_spec
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, python_script

QUICK = {"n_epochs": 3, "batch_size": 128}
METHODS = [
    {"method": "unconstrained", "params": QUICK},
    {"method": "road", "params": {**QUICK, "tau": [0.3, 0.7]}},
]


def write_table(folder, written):
    """Write the applicants and return the path, and the format chosen for them."""
    frame = people()
    if written == "title above, chosen by hand":
        text = "Applicants\n" + frame.to_csv(index=False, sep=";", decimal=",")
        form = reading.TableFormat(delimiter=";", decimal=",", skipped=1)
    elif written == "workbook":
        frame.to_excel(folder / "people.xlsx", sheet_name="People", index=False)
        return folder / "people.xlsx", None
    else:
        text = frame.to_csv(index=False)
        form = None
    (folder / "people.csv").write_text(text)
    return folder / "people.csv", form


@pytest.fixture(params=["title above, chosen by hand", "workbook"])
def exported(inline, tmp_path, request):
    """The store's rows of a run, its exported specification and its table."""
    path, form = write_table(tmp_path, request.param)
    store = open_store()
    table = store.add_table(path, path.name, table_format=form)
    spec = SweepSpec.model_validate(
        {
            "data": {"table": table, "roles": ROLES, "name": "People"},
            "methods": METHODS,
            "subgroups": {"columns": ["branch"], "min_size": 20},
        }
    )
    run = submit(store, spec)
    rows = store.snapshot(run).table()
    spec = portable_spec(store, run)
    store.close()
    return rows, spec, path


def same_numbers(rows, wanted):
    assert len(rows) == len(wanted) == 3
    for name in wanted.columns[wanted.columns.str.match("validation_|test_")]:
        np.testing.assert_allclose(
            rows[name], wanted[name], atol=1e-6, equal_nan=True, err_msg=name
        )


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_configuration_trains_the_same_models_in_an_empty_home(exported, tmp_path):
    wanted, spec, table = exported
    config = tmp_path / "run.yaml"
    out = tmp_path / "rows.csv"
    config.write_text(spec.to_yaml())
    assert str(tmp_path) not in config.read_text()
    command = ("run", config, "--inline", "--home", tmp_path / "new", "--out", out)
    refused = call(*command)
    assert refused.exit_code == 2
    assert "give that file with `--table FILE`" in refused.output
    done = call(*command, "--table", table)
    assert done.exit_code == 0, done.output
    rows = pd.read_csv(out)
    assert rows["key"].tolist() == wanted["key"].tolist()
    same_numbers(rows, wanted)


@pytest.mark.parametrize("exported", ["workbook"], indirect=True)
def test_the_script_gives_the_same_numbers_in_an_empty_home(exported, tmp_path):
    wanted, spec, table = exported
    script = tmp_path / "run.py"
    saved = tmp_path / "rows.csv"
    script.write_text(f"{python_script(spec)}results.to_csv({str(saved)!r})\n")
    home = {"HOME": str(tmp_path / "empty"), "FAIRDASH_HOME": str(tmp_path / "empty")}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", str(script), *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, **home},
            cwd=tmp_path,
        )

    assert "usage: python" in run().stderr
    done = run(table)
    assert done.returncode == 0, done.stderr
    same_numbers(pd.read_csv(saved), wanted)
    assert not (tmp_path / "empty").exists()
