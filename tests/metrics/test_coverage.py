"""The report of `benchmarks/coverage.py`; `make coverage` simulates in CI."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def coverage_report(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("coverage_report")


def test_the_report_marks_what_falls_short(coverage_report, monkeypatch):
    monkeypatch.setattr(coverage_report, "example", lambda *_: "Said.")
    cells = {"n = 60": {"selection_rate": [300, 240], "accuracy": [300, 285]}}
    results = {"intervals": {name: {1: cell, 2: cell} for name, cell in cells.items()}}
    text = coverage_report.report(results, seeds=[1, 2])
    assert "|n = 60|**.800**|.950|\n|All|**.800**|.950|" in text
    assert coverage_report.failing(results) == "selection_rate: 0.800 of 600"
    assert "|n = 60|selection_rate|**.800** of 300|**.800** of 300|Said.|" in text
