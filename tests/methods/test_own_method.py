"""A method and a measure of packages of their own, installed beside fairdash."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from toys import people_csv

DOCS = Path(__file__).parents[2] / "docs"
(EXAMPLE,) = re.findall(
    r"```python\n(.*?)```",
    (DOCS / "methods.md").read_text().partition("## A method of your own")[2],
    re.S,
)
MEASURE = """
from fairdash.metrics import Measure

POSITIVE = Measure(
    "wrong_yes", "Wrong yes", "P(ŷ = 1, y = 0)",
    "{group} is {decided} wrongly {points} {often} than {other}",
    about=lambda y, d: d >= 0, counted=lambda y, d: (d == 1) & (y == 0), better="low",
)
"""
SPEC = """
data:
  path: people.csv
  roles:
    target: hired
    positive: "yes"
    sensitive_feature: origin
    features: [age, skill, branch]
    subgroup_columns: [age]
methods:
  - {method: massaging, params: {amount: [0.0, 1.0]}}
  - {method: hardt, params: {estimator: bayes}}
"""


@pytest.fixture
def installed(tmp_path):
    """Return the environment of processes that have three small packages installed."""
    (tmp_path / "fair_massaging.py").write_text(EXAMPLE)
    (tmp_path / "wrong_yes.py").write_text(MEASURE)
    folder = tmp_path / "fair_massaging-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: fair-massaging\n")
    (folder / "entry_points.txt").write_text(
        "[fairdash.methods]\nmassaging = fair_massaging:METHOD\n"
        "broken = nowhere_to_be_found:METHOD\n"
        "[fairdash.measures]\nwrong_yes = wrong_yes:POSITIVE\n"
        "[fairdash.estimators]\nbayes = sklearn.naive_bayes:GaussianNB\n"
    )
    home = str(tmp_path / "home")
    return {**os.environ, "PYTHONPATH": str(tmp_path), "FAIRDASH_HOME": home}


def run(environment, *command):
    found = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return found


def test_the_example_is_short_enough_to_be_read_at_once():
    assert len(EXAMPLE.splitlines()) < 45
    code = [line for line in EXAMPLE.splitlines() if line.strip()]
    assert len(code) < 40


def test_it_stands_in_the_catalog_and_keeps_the_contract(installed):
    script = """
from fairdash.methods import CATALOG
from fairdash.testing import check_method
assert CATALOG["massaging"].trade_off().name == "amount"
assert "bayes" in {p.name: p for p in CATALOG["hardt"].params}["estimator"].options
check_method(CATALOG["massaging"])
"""
    found = run(installed, "-c", script)
    assert "'broken' of nowhere_to_be_found:METHOD is excluded" in found.stderr


def test_a_sweep_from_the_shell_trains_it_in_a_worker(installed, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    shell = "from fairdash.cli import main; main()"
    found = run(installed, "-c", shell, "run", str(spec))
    script = """
from fairdash.methods import scorer_of
from fairdash.store import open_store
store = open_store()
(run,) = store.runs()
trials = store.snapshot(run.id).trials
for trial in trials:
    assert trial.status == "finished", trial
    arrays = store.artifact(trial.key).network()
    # what fairdash can score again is kept as arrays, of other models the scores
    assert bool(arrays) == (trial.method == "massaging")
assert len(trials) == 3
store.close()
"""
    run(installed, "-c", script)
    assert found.stdout


def test_a_measure_of_a_package_is_audited_like_the_others(installed):
    script = """
import numpy as np
from fairdash.metrics import MEASURES, measure_by_group
rng = np.random.default_rng(0)
group, y, decided = (rng.integers(2, size=400) for _ in range(3))
table = measure_by_group("wrong_yes", y, decided, sensitive_features=group)
wrong = (decided == 1) & (y == 0)
expected = [wrong[group == k].mean() for k in (0, 1)]
np.testing.assert_allclose(table["value"], expected)
assert "wrong_yes" in MEASURES
"""
    run(installed, "-c", script)
