"""Words and numbers that many places need stand in one place each."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fairdash import plots
from fairdash._metric_names import (
    METRIC_NAMES,
    ODDS,
    OPPORTUNITY,
    PARITY,
    WORST,
    metric_title,
)
from fairdash._validation import CROSS
from fairdash.metrics import evaluate
from fairdash.postprocessing import GAMMA, RampPreview, RampThreshold, ScoredRows
from fairdash.ui.postprocess.ramp import RANGES
from fairdash.ui.widgets import uploads

ROOT = Path(__file__).parents[1]
HOMES = {
    PARITY: "_metric_names.py",
    ODDS: "_metric_names.py",
    OPPORTUNITY: "_metric_names.py",
    WORST: "_metric_names.py",
    CROSS: "_validation.py",
}


@cache
def trees():
    """The syntax of every file of the package, by its path in it."""
    package = ROOT / "fairdash"
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


def is_written_out(node):
    """Tell whether a name has to stand as it is: in `__all__`, in a Literal."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"


def texts_of(node):
    """Yield the strings of some syntax, but for those that have to stand there."""
    if is_written_out(node):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for part in ast.iter_child_nodes(node):
        yield from texts_of(part)


@pytest.mark.parametrize("text", list(HOMES))
def test_a_word_stands_in_one_file(text):
    files = [path for path, tree in trees().items() if text in texts_of(tree)]
    assert files == [HOMES[text]]


def test_metrics_that_are_drawn_have_a_name_and_are_measured():
    measured = evaluate([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=list("abab"))
    assert set(plots.METRICS) == set(METRIC_NAMES)
    assert set(METRIC_NAMES) - {"auc", "log_loss"} <= set(measured)
    assert metric_title(WORST) == "Largest local gap"
    assert metric_title("auc") == "AUC"


def test_slider_preview_and_default_of_a_ramp_are_of_one_range():
    low, high, step = RANGES["gamma"]
    assert (low, high, step) == (GAMMA.low, GAMMA.high, GAMMA.step)
    assert RampThreshold().gamma == GAMMA.default
    margins, groups = np.array([-0.5, 0.1, 0.4, -0.2]), np.array([0, 1, 0, 1])
    preview, _ = RampPreview.of_rows(
        ScoredRows(margins, groups, ("a", "b"), ("a", "b"))
    )
    assert (preview.gammas[0], preview.gammas[-1]) == (low, high)
    script = ROOT / "fairdash" / "ui" / "postprocess" / "live_ramp.js"
    assert "step: 0" not in script.read_text("utf-8")


def test_every_upload_takes_its_limit_from_a_name_and_the_server_lets_it_through():
    limits = [
        keyword.value
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "file_uploader" in ast.unparse(node.func)
        for keyword in node.keywords
        if keyword.arg == "max_upload_size"
    ]
    numbers = [
        ast.unparse(limit) for limit in limits if isinstance(limit, ast.Constant)
    ]
    assert len(limits) > 4
    assert numbers == []
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    largest = max(size for name, size in vars(uploads).items() if name.endswith("_MB"))
    assert settings["server"]["maxUploadSize"] == largest + 1
