"""Estimates against limits: gaps and ratios have an axis each."""

import pandas as pd
import pytest

from fairdash.plots import plot_limits

ROWS = pd.DataFrame(
    {
        "label": ["gap, sex", "ratio, sex", "gap, sex in a"],
        "value": [0.2, 0.7, 0.05],
        "low": [0.1, 0.6, 0.0],
        "high": [0.3, 0.8, 0.1],
        "limit": [0.1, 0.8, 0.1],
        "status": ["fail", "undecided", "pass"],
    }
)
MIXED = ROWS.assign(axis=["gap", "ratio", "gap"])


def values_on(figure, axis):
    return {
        (trace.name, x)
        for trace in figure.data
        if (trace.xaxis or "x") == axis
        for x in trace.x or ()
    }


def test_gap_and_ratio_do_not_share_an_axis():
    figure = plot_limits(MIXED, headline="Two limits").figure
    layout = figure.layout
    assert layout.xaxis.title.text == "gap"
    assert layout.xaxis2.title.text == "ratio"
    assert layout.xaxis.domain[1] < layout.xaxis2.domain[0]
    gaps = values_on(figure, "x")
    ratios = values_on(figure, "x2")
    assert gaps == {("broken", 0.2), ("kept", 0.05), ("limit", 0.1)}
    assert ratios == {("undecided", 0.7), ("limit", 0.8)}
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(names) == ["broken", "kept", "limit", "undecided"]


@pytest.mark.parametrize("rows", [ROWS, MIXED[MIXED["axis"] == "gap"]])
def test_numbers_of_one_kind_have_one_axis(rows):
    figure = plot_limits(rows, headline="Limits", axis="worse off").figure
    assert "xaxis2" not in figure.layout.to_plotly_json()
    title = figure.layout.xaxis.title.text
    assert title == ("gap" if "axis" in rows else "worse off")
