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


class Vocabulary(ast.NodeVisitor):
    """The strings of a file, but for those that have to stand there, and limits."""

    def __init__(self):
        self.texts = set()
        self.upload_limits = []

    def visit_Assign(self, node):
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id == "__all__"):
            self.generic_visit(node)

    def visit_Subscript(self, node):
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.texts.add(node.value)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name == "file_uploader":
            self.upload_limits += [
                keyword.value
                for keyword in node.keywords
                if keyword.arg == "max_upload_size"
            ]
        self.generic_visit(node)


@cache
def vocabularies():
    """Return what every file of the package says, by its path in it."""
    package = ROOT / "fairdash"
    by_path = {}
    for path in sorted(package.rglob("*.py")):
        vocabulary = Vocabulary()
        vocabulary.visit(ast.parse(path.read_text("utf-8")))
        by_path[path.relative_to(package).as_posix()] = vocabulary
    return by_path


@pytest.mark.parametrize("text", list(HOMES))
def test_a_word_stands_in_one_file(text):
    files = [path for path, said in vocabularies().items() if text in said.texts]
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
    margins = np.array([-0.5, 0.1, 0.4, -0.2])
    groups = np.array([0, 1, 0, 1])
    preview, _ = RampPreview.of_rows(
        ScoredRows(margins, groups, ("a", "b"), ("a", "b"))
    )
    assert (preview.gammas[0], preview.gammas[-1]) == (low, high)
    script = ROOT / "fairdash" / "ui" / "postprocess" / "live_ramp.js"
    assert "step: 0" not in script.read_text("utf-8")


def test_every_upload_takes_its_limit_from_a_name_and_the_server_lets_it_through():
    limits = [limit for said in vocabularies().values() for limit in said.upload_limits]
    numbers = [
        ast.unparse(limit) for limit in limits if isinstance(limit, ast.Constant)
    ]
    assert len(limits) > 4
    assert numbers == []
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    largest = max(size for name, size in vars(uploads).items() if name.endswith("_MB"))
    assert settings["server"]["maxUploadSize"] == largest + 1
