"""Weights and units reach every public function that takes rows, or it says why not."""

import importlib
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from cases import sampled

from fairdash.audits.tables.alternative import less_discriminatory
from fairdash.metrics import LocalMeasure, Measured, weights

ROOMS = ("fairdash", "fairdash.metrics", "fairdash.audits", "fairdash.audits.tables")
TAKES_ROWS = {"y_true", "y_pred", "scores", "h", "before", "ratio", "top"}
# what a function without `cluster` says that no interval and no test is needed for
POINTS = {
    "demographic_parity_difference": "one number without an interval",
    "equalized_odds_difference": "one number without an interval",
    "ratio_correlation": "one number without an interval",
}
NO_SAMPLE = {
    "prediction_consistency": "of pairs of alike rows, not of a population",
    "turned_gaps": "of findings, which have their intervals",
    "effective_rows": "of the weights themselves",
    "top_rows": "names rows by rank",
    "impact_tests": "counts people; the packs refuse weights and units",
}
N = 240
RNG = np.random.default_rng(0)
GROUP = np.tile(["a", "b"], N // 2)
PART = np.repeat(["x", "y", "z"], N // 3)
Y = RNG.integers(0, 2, N)
SCORES = RNG.random(N)
DECIDED = (SCORES > 0.45).astype(int)
ROWS = {
    "measure": "selection_rate",
    "y_true": Y,
    "y_pred": DECIDED,
    "y_pred_reference": RNG.integers(0, 2, N),
    "scores": SCORES,
    "h": SCORES,
    "before": DECIDED,
    "after": RNG.integers(0, 2, N),
    "ratio": RNG.exponential(size=N),
    "top": np.arange(60),
    "sensitive_features": GROUP,
    "subgroups": PART,
    "frame": pd.DataFrame({"age": RNG.integers(20, 60, N), "site": PART}),
    "min_size": 20,
    "kind": "classes",
    "models": {"other": RNG.integers(0, 2, N)},
    "search_rows": np.arange(N // 2),
    "confirm_rows": np.arange(N // 2, N),
    "group_probabilities": pd.DataFrame({"a": SCORES, "b": 1 - SCORES}),
    "n_permutations": 19,
    "random_state": 0,
    "loss": 1.0,
    "present": DECIDED,
}
HEAVY = np.where(DECIDED == 1, 3.0, 1.0) * RNG.uniform(0.5, 2, N)
UNIT = np.arange(N) // 6
# decided alike in a unit, and right in 26 of 40: too few to be sure, not of 240 rows
ALIKE = {"y_true": UNIT % 2, "y_pred": np.where(UNIT < 26, UNIT % 2, 1 - UNIT % 2)}


def public_functions():
    """Yield name and function of all that take rows and are handed on."""
    results = {
        name: getattr(importlib.import_module(room), name)
        for room in ROOMS
        for name in importlib.import_module(room).__all__
    }
    results = {
        name: result for name, result in results.items() if inspect.isfunction(result)
    }
    members = inspect.getmembers(weights, inspect.isfunction)
    results |= {n: f for n, f in members if f.__module__ == weights.__name__}
    results |= {"less_discriminatory": less_discriminatory}
    results |= {"LocalMeasure.of": LocalMeasure.of, "Measured.of": Measured.of}
    for name, result in sorted(results.items()):
        taken = set(inspect.signature(result).parameters)
        if not name.startswith("_") and taken & TAKES_ROWS and name not in NO_SAMPLE:
            yield pytest.param(name, result, id=name)


def asked_of(function, name):
    """Return the arguments of a function, as far as its signature names them."""
    taken = inspect.signature(function).parameters
    arguments = {key: value for key, value in ROWS.items() if key in taken}
    if name in ("audit", "audit_outcomes"):  # labels of rows stand without a table
        arguments.pop("frame")
    if name == "audit_outcomes":
        arguments.pop("top")  # a share here
    if name == "decision_status":
        arguments |= ALIKE
        arguments.pop("scores")
    return arguments


def said(found):
    """Return everything that was found as text with all digits."""
    with pd.option_context(
        "display.precision", 12, "display.max_columns", None, "display.max_rows", None
    ):
        if isinstance(found, LocalMeasure):
            return str(found.table())
        if isinstance(found, Measured):
            return repr(found.estimate(np.zeros(N, np.int64), (1,)).interval(0.95))
        if isinstance(found, np.ndarray):
            return np.array2string(found, threshold=10**6)
        if hasattr(found, "gaps") and hasattr(found, "by_group"):
            return str((found.by_group, found.gaps, found.local))
        return str(found) if isinstance(found, pd.DataFrame) else repr(found)


@pytest.mark.parametrize(("name", "function"), sampled(public_functions(), 2))
def test_weights_and_units_are_used_or_refused(name, function):
    taken = inspect.signature(function).parameters
    assert "sample_weight" in taken, f"{name} takes rows without their weights"
    assert "cluster" in taken or name in POINTS, f"{name} takes rows without units"
    arguments = asked_of(function, name)
    plain = said(function(**arguments))
    assert plain == said(function(**arguments)), "so that a difference means something"
    for option, value in (("sample_weight", HEAVY), ("cluster", UNIT)):
        if option not in taken:
            continue
        result = or_refused(function, arguments | {option: value})
        assert result != plain, f"{name} does not use `{option}`"


def or_refused(function, asked):
    """Return what is found, or None where weights or units are refused."""
    try:
        return said(function(**asked))
    except ValueError as error:
        if re.search("weight|cluster|unit", str(error)):
            return None
        raise


def test_what_needs_no_weights_or_units_is_still_there():
    functions = {
        name for room in ROOMS for name in importlib.import_module(room).__all__
    }
    functions |= {name for name, _ in inspect.getmembers(weights, inspect.isfunction)}
    functions |= {"impact_tests"}
    assert set(POINTS) | set(NO_SAMPLE) <= functions
