"""A benchmark as one long table, and runs written to MLflow, by a stand-in for it."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from toys import people_csv
from typer.testing import CliRunner

from fairdash.cli import app

BENCHMARK = """
tables:
- {path: a.csv, name: A, roles: {target: hired, positive: "yes",
   sensitive_feature: origin, features: [age, skill]}}
- {path: a.csv, name: B, roles: {target: hired, positive: "yes",
   sensitive_feature: origin, features: [skill]}}
methods:
- {method: logistic, params: {alpha: [0.01, 1]}}
seeds: [0, 1]
"""


def test_a_benchmark_has_the_same_bytes_again_and_is_logged(tmp_path, monkeypatch):
    logged = {"params": [], "metrics": [], "files": []}

    @contextmanager
    def start_run(run_name, nested=False):
        yield SimpleNamespace(info=SimpleNamespace(run_id="m1"))

    def log_artifacts(folder):
        logged["files"] += sorted(path.name for path in Path(folder).iterdir())

    stand_in = SimpleNamespace(
        __spec__=SimpleNamespace(),
        search_experiments=lambda max_results: [],
        start_run=start_run,
        set_tags=lambda tags: None,
        log_params=logged["params"].append,
        log_metrics=logged["metrics"].append,
        log_artifacts=log_artifacts,
    )
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    (tmp_path / "a.csv").write_bytes(people_csv())
    (tmp_path / "b.yaml").write_text(BENCHMARK)

    def words(name):
        places = ["--home", tmp_path / name, "--out", tmp_path / f"{name}.csv"]
        return list(map(str, ["run", tmp_path / "b.yaml", "--inline", *places]))

    done = CliRunner().invoke(app, [*words("one"), "--log", "mlflow"])
    assert done.exit_code == 0, done.output
    # another process, whose sets have another order and whose sums more threads
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2"}
    code = "from fairdash.cli import app; app()"
    subprocess.run(
        [sys.executable, "-c", code, *words("two")], env=environment, check=True
    )
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    table = pd.read_csv(tmp_path / "one.csv")
    low = table[table["measure"] == "test_accuracy_low"]
    assert list(low["table"]) == [*"AAAABBBB"]
    assert low["split_digest"].nunique() == 2  # a split knows rows, not features
    assert logged["files"] == 2 * ["config.yaml", "model.zip", "report.html"]
    assert [row["alpha"] for row in logged["params"]] == list(low["alpha"])
    assert [row["test_accuracy_low"] for row in logged["metrics"]] == list(low["value"])


def test_a_tracker_that_lacks_a_library_is_named_before_a_training(
    monkeypatch, tmp_path
):
    def search(max_results):
        raise ModuleNotFoundError("No module named 'alembic'", name="alembic")

    stand_in = SimpleNamespace(__spec__=SimpleNamespace(), search_experiments=search)
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    (tmp_path / "a.csv").write_bytes(people_csv())
    (tmp_path / "b.yaml").write_text(BENCHMARK)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "b.yaml"), "--log", "mlflow"])
    assert done.exit_code == 2
    assert "mlflow needs alembic" in " ".join(done.stderr.split())


def test_a_benchmark_that_is_none_is_refused(tmp_path):
    (tmp_path / "b.yaml").write_text("tables: []\nmethods: [{method: logistic}]")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "b.yaml")])
    assert done.exit_code == 2
    assert "`tables` must be a list of data" in done.stderr
