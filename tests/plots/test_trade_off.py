import numpy as np
import pandas as pd
import pytest

from fairdash.plots import (
    before_after_finding,
    describe_trade_off,
    group_colours_of,
    plot_trade_off,
    ramp_finding,
    trade_off_finding,
)

GAP = "demographic_parity_difference"


def row(kind, label, accuracy, gap, **more):
    numbers = {"accuracy": accuracy, GAP: gap}
    ends = {f"{name}_low": value - 0.01 for name, value in numbers.items()}
    ends |= {f"{name}_high": value + 0.01 for name, value in numbers.items()}
    return {"kind": kind, "label": label, **numbers, **ends, **more}


METHODS = pd.DataFrame(
    [row("none", "No correction", 0.7, 0.2), row("hardt", "Hardt, parity", 0.68, 0.01)]
)
CURVE = pd.DataFrame(
    [row("ramp", "Ramp", 0.68, 0.0, tolerance=t) for t in (0.0, 0.0, 0.1, 0.2)]
)


def outcome(accuracy, gap):
    changes = {"change": [accuracy[0], gap[0]], "change_low": [accuracy[1], gap[1]]}
    changes["change_high"] = [accuracy[2], gap[2]]
    return pd.DataFrame({"metric": ["accuracy", GAP], **changes})


def test_every_method_is_a_mark_and_the_ramp_a_line():
    figure = plot_trade_off(METHODS, CURVE)
    assert [trace.name for trace in figure.data] == [
        "Ramp",
        "Ramp, this setting",
        "No correction",
        "Hardt, parity",
    ]
    assert len(figure.data[0].x) == 3
    assert figure.data[2].y[0] == 0.7
    assert figure.data[2].error_x.array[0] == pytest.approx(0.01)
    assert "No correction: accuracy 70.0%, DI 0.200" in describe_trade_off(
        METHODS, CURVE
    )


@pytest.mark.parametrize(
    "accuracy, gap, words",
    [
        ((-0.02, -0.03, -0.01), (-0.1, -0.2, -0.05), "takes 0.100 off DI and costs"),
        ((-0.02, -0.03, 0.01), (-0.1, -0.2, -0.05), "accuracy does not clearly change"),
        ((-0.02, -0.03, 0.01), (-0.1, -0.2, 0.05), "change of DI is not clear"),
        ((np.nan,) * 3, (np.nan,) * 3, "No change can be estimated"),
    ],
)
def test_a_change_is_named_only_if_it_is_clear(accuracy, gap, words):
    finding = trade_off_finding(outcome(accuracy, gap))
    assert words in finding
    assert len(finding) <= 70


def test_findings_fit_above_their_figures():
    assert "latest for Men" in ramp_finding({"Women": -0.2, "Men": 0.1}, 0.0)
    assert "One ramp serves all" in ramp_finding({"Women": 0.0, "Men": 0.0}, 0.0)
    assert len(ramp_finding({"a" * 40: 0.1, "b" * 40: 0.0}, 0.1)) <= 70
    cells = pd.DataFrame(
        {"label": ["No correction", "Ramp"], "local_di": [0.3, 0.45], "subgroup": "a"}
    )
    finding = before_after_finding(cells)
    assert finding == "Worst local DI: 0.30 before, 0.45 ramp"
    labels = ["No correction", "Ramp", "Ramp, crossed", "Covariance control"]
    whole = before_after_finding(pd.DataFrame({"label": labels, "local_di": 0.25}))
    assert whole.endswith("0.25 ramp, 0.25 crossed, 0.25 covariance")
    assert len(whole) <= 70


def test_colours_of_a_component_are_those_of_the_theme():
    assert group_colours_of(["a", "b"], "light") == ["#0072B2", "#C15500"]
    assert group_colours_of(["a"], "dark") == ["#56B4E9"]
