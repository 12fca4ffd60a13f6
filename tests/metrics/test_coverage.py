"""The report of `benchmarks/coverage.py`; `make coverage` simulates in CI."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def coverage():
    path = ROOT / "benchmarks" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_of_statements", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_report_marks_what_falls_short(coverage, monkeypatch):
    monkeypatch.setattr(coverage, "example", lambda *_: "Said.")
    cells = {"n = 60": {"selection_rate": [300, 240], "accuracy": [300, 285]}}
    by_seed = {name: {1: found, 2: found} for name, found in cells.items()}
    text = coverage.report({"intervals": by_seed}, seeds=[1, 2])
    assert "|n = 60|**.800**|.950|\n|All|**.800**|.950|" in text
    assert coverage.failing({"intervals": by_seed}) == "selection_rate: 0.800 of 600"
    assert "|n = 60|selection_rate|**.800** of 300|**.800** of 300|Said.|" in text
