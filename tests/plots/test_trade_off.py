import pandas as pd
import pytest

from fairdash.plots import group_colours_of, plot_trade_off

GAP = "demographic_parity_difference"


def row(kind, label, accuracy=0.7, gap=0.2, **more):
    numbers = {"accuracy": accuracy, GAP: gap}
    ends = {f"{name}_low": value - 0.01 for name, value in numbers.items()}
    ends |= {f"{name}_high": value + 0.01 for name, value in numbers.items()}
    return {"kind": kind, "label": label, **numbers, **ends, **more}


def test_every_method_is_a_mark_and_the_ramp_a_line():
    table = pd.DataFrame(
        [
            row("setting", "Ramp, this setting", 0.69, 0.05, tolerance=0.0),
            *(row("curve", "Ramp", tolerance=t) for t in (0.0, 0.1, 0.2)),
            row("method", "No correction", 0.7, 0.2),
            row("method", "Hardt, demographic parity", 0.68, 0.01),
        ]
    )
    picture = plot_trade_off(table, rows="validation")
    data = picture.figure.data
    assert [trace.name for trace in data] == [
        "Ramp",
        "Ramp, this setting",
        "No correction",
        "Hardt, demographic parity",
    ]
    assert len(data[0].x) == 3
    assert (data[1].x[0], data[1].y[0], data[2].y[0]) == (0.05, 0.69, 0.7)
    assert data[2].error_x.array[0] == pytest.approx(0.01)
    assert picture.headline == "Accuracy against the gap, validation rows"
    assert "No correction: accuracy 70.0%, gap 0.200" in picture.alt
    assert "Validation rows" in picture.caption
    assert "kind" not in picture.table


def test_colours_of_a_component_are_those_of_the_theme():
    assert group_colours_of(["a", "b"], "light") == ["#0072B2", "#C15500"]
    assert group_colours_of(["a"], "dark") == ["#56B4E9"]
