"""What is said holds as often as it says: a small part of `benchmarks/coverage.py`."""

import importlib.util
from collections import defaultdict
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


def pooled(coverage, part, draws, seed):
    """How often each statement was made and was right, over the quick settings."""
    made, held = defaultdict(int), defaultdict(int)
    for name in coverage.QUICK:
        cells = coverage.simulate(part, name, draws, seed)
        for statement, (number, right) in cells.items():
            made[statement] += number
            held[statement] += right
    return {name: (made[name], held[name]) for name in made}


@pytest.mark.parametrize("part", ["intervals", "gaps"])
def test_intervals_hold_the_truth(coverage, part):
    found = pooled(coverage, part, draws=20, seed=0)
    assert min(number for number, _ in found.values()) > 40
    shares = {name: right / number for name, (number, right) in found.items()}
    # a statement is made about 140 times: .90 is three standard errors below .95
    assert min(shares.values()) >= 0.9, shares
    number, right = (sum(column) for column in zip(*found.values(), strict=True))
    assert right / number >= 0.93


@pytest.mark.parametrize("part, draws", [("verdicts", 8), ("searches", 16)])
def test_a_fair_table_is_seldom_called_unfair(coverage, part, draws):
    found = pooled(coverage, part, draws, seed=0)
    number, false = (sum(column) for column in zip(*found.values(), strict=True))
    assert number >= 10
    assert false / number <= 0.07, found


def test_the_report_marks_what_falls_short(coverage, monkeypatch):
    monkeypatch.setattr(coverage, "example", lambda *_: "Said.")
    cells = {"n = 60": {"selection_rate": [300, 240], "accuracy": [300, 285]}}
    by_seed = {name: {1: found, 2: found} for name, found in cells.items()}
    text = coverage.report({"intervals": by_seed}, seeds=[1, 2])
    assert "|n = 60|**.800**|.950|\n|All|**.800**|.950|" in text
    assert coverage.failing({"intervals": by_seed}) == "selection_rate: 0.800 of 600"
    assert "|n = 60|selection_rate|**.800** of 300|**.800** of 300|Said.|" in text
