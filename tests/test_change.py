"""When a change is clear, known, and for the better; and that one place says so."""

import ast
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairdash._change import Change, by_metric, excludes_zero
from fairdash.metrics import Finding, compare

PACKAGE = Path(__file__).parents[1] / "fairdash"
DEFINED_IN = "_change.py"
_SIGNS = {ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<="}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@pytest.mark.parametrize(
    ("low", "high", "clear", "known", "good"),
    [
        (0.02, 0.1, True, True, True),
        (-0.1, -0.02, True, True, False),
        (-0.1, 0.1, False, True, None),
        (0.0, 0.1, False, True, None),
        (-0.1, 0.0, False, True, None),
        (math.nan, math.nan, False, False, None),
    ],
)
def test_a_change_is_clear_where_its_interval_excludes_0(low, high, clear, known, good):
    change = Change((low + high) / 2, low, high)
    assert (change.clear, change.known) == (clear, known)
    assert change.within_chance == (known and not clear)
    assert change.good(rise=True) is good
    assert change.good(rise=False) is (None if good is None else not good)
    finding = Finding("selection_rate", None, "a", "b", change.value, low, high)
    assert finding.clear == clear
    columns = pd.Series([low, 0.5]), pd.Series([high, 0.6])
    assert excludes_zero(*columns).tolist() == [clear, True]


def test_paired_changes_are_read_by_their_metric():
    rng = np.random.default_rng(0)
    y, old, new = rng.integers(0, 2, (3, 400))
    group = np.repeat(["a", "b"], 200)
    table = compare(y, new, old, sensitive_features=group)
    changes = by_metric(table)
    assert list(changes) == table["metric"].tolist()
    accuracy = table.set_index("metric").loc["accuracy"]
    assert changes["accuracy"] == Change(*accuracy[["difference", "low", "high"]])
    assert changes["worst_1_di"].known is False


def sign_of(node):
    """Return how a comparison holds something to 0, such as ``>``; None for others."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return None
    sign = _SIGNS.get(type(node.ops[0]))
    if is_zero(node.comparators[0]):
        return sign
    return _MIRRORED.get(sign) if is_zero(node.left) else None


def is_zero(node):
    return isinstance(node, ast.Constant) and node.value == 0


def asks_for_both_ends(node):
    """Tell whether an expression asks if 0 lies between two ends, or does not."""
    if isinstance(node, ast.Compare) and len(node.ops) == 2:
        chained = isinstance(node.ops[0], ast.LtE) and isinstance(node.ops[1], ast.LtE)
        return chained and is_zero(node.comparators[0])
    joined = getattr(node, "op", None)
    if not isinstance(joined, ast.And | ast.Or | ast.BitAnd | ast.BitOr):
        return False
    signs = {sign_of(part) for part in ast.iter_child_nodes(node)}
    return signs >= {">", "<"} or signs >= {">=", "<="}


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("low > 0 or high < 0", True),
        ("(t['low'] > 0) | (t['high'] < 0)", True),
        ("low <= 0 <= high", True),
        ("(low <= 0) & (0 <= high)", True),
        ("low > 0 and high > 0", False),
        ("code < 0 <= low", False),
    ],
)
def test_the_search_knows_the_forms_of_the_question(text, asks):
    assert asks_for_both_ends(ast.parse(text, mode="eval").body) == asks


def test_no_other_place_holds_both_ends_of_an_interval_to_0():
    places = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != DEFINED_IN
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if asks_for_both_ends(node)
    ]
    assert places == []
