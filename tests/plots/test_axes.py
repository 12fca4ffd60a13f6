"""Axes span what is drawn: over random small results, of nothing and of one value."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash import plots
from fairdash.plots._axes import with_span
from fairdash.plots.theme import gap_axis

SHARES = st.sampled_from([0.0, 0.001, 0.05, 0.5, 0.655, 0.99, 1.0])
FEW = examples(60)


def drawn_on(figure, axis):
    """Return the finite values that traces and shapes have on an axis, with bars."""
    letter = axis[0]
    anchor = axis.replace("axis", "")
    values = []
    for trace in figure.data:
        if (getattr(trace, f"{letter}axis", None) or letter) != anchor:
            continue
        at = np.array(getattr(trace, letter), dtype=float)
        error = getattr(trace, f"error_{letter}", None)
        values += [at]
        if error is not None and error.array is not None:
            values += [at + np.array(error.array, float)]
            values += [at - np.array(error.arrayminus, float)]
    for shape in figure.layout.shapes:
        if (shape[f"{letter}ref"] or letter) == anchor:
            values += [np.array([shape[f"{letter}0"], shape[f"{letter}1"]], float)]
    flat = np.concatenate([np.ravel(v) for v in values]) if values else np.array([])
    return flat[np.isfinite(flat)]


def check(figure, *axes):
    """Check that no axis is left to Plotly without a span, nor much beyond its data."""
    for name in axes:
        axis = figure.layout[name]
        values = drawn_on(figure, name)
        if not len(values):
            assert axis.showticklabels is False
            continue
        if values.min() == values.max():
            assert axis.range is not None
        if axis.range is not None:
            low, high = sorted(axis.range)
            assert low <= values.min() + 1e-12
            assert values.max() <= high + 1e-12
            span = max(values.max(), 0.0) - min(values.min(), 0.0)
            assert high - low <= 1.2 * span + 0.01
        if axis.tickvals and axis.range is not None:
            assert any(low <= tick <= high for tick in axis.tickvals)


def front_table(points):
    marks = pd.DataFrame(points, columns=["x", "y", "constant"])
    return marks.assign(
        label="m", method="ROAD", colour_role="road", within=False, within_test=False,
        front=~marks["constant"], line=~marks["constant"],
    )  # fmt: skip


@FEW
@given(
    st.lists(st.tuples(SHARES, SHARES, st.booleans()), min_size=1, max_size=4),
    st.sampled_from(["worst_1_di", "demographic_parity_difference"]),
)
def test_axes_of_a_front(points, across):
    figure = plots.plot_front(front_table(points), axes=(across, "accuracy")).figure
    check(figure, "xaxis", "yaxis")


@FEW
@given(
    st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=3), st.booleans()
)
def test_axes_of_models_side_by_side(values, defined):
    names = ["accuracy", "demographic_parity_difference", "worst_1_di"]
    table = pd.DataFrame(values, columns=names)
    if not defined:
        table["worst_1_di"] = np.nan
    ends = {f"{n}{end}": table[n] for n in names for end in ("_low", "_high")}
    labels = [f"ROAD λ {i}" for i in range(len(table))]
    table = table.assign(label=labels, colour_role="road", **ends)
    check(plots.plot_comparison(table).figure, "xaxis", "xaxis2", "xaxis3")


@FEW
@given(SHARES, st.lists(SHARES, min_size=1, max_size=4), st.booleans())
def test_axes_of_local_gaps(overall, gaps, estimable):
    gap = pd.Series(gaps if estimable else [np.nan] * len(gaps))
    table = pd.DataFrame({"subgroup": [f"s{i}" for i in range(len(gaps))], "gap": gap})
    table = table.assign(
        label="ROAD", n=40, ci_low=gap, ci_high=gap, estimable=estimable, reason="few"
    )
    values = pd.concat([table.assign(group=group, value=0.5) for group in "ab"])
    models = pd.DataFrame(
        {"label": ["ROAD"], "colour_role": ["road"], "overall": [overall]}
    )
    figure = plots.plot_local_di(table, values, models, groups=("a", "b")).figure
    check(figure, "xaxis")


@pytest.mark.parametrize("value", [0.0, 0.655, 1.0, -3.0])
def test_one_value_stands_inside_a_narrow_axis(value):
    trace = {"type": "scatter", "x": [value, None, value], "y": [0, 1, 2]}
    low, high = with_span("xaxis", {}, [trace], [])["range"]
    assert low < value < high
    assert high - low <= 0.2 * abs(value) + 0.01


def test_several_values_leave_the_axis_to_plotly():
    trace = {"type": "scatter", "x": [0.1, 0.2], "y": [0, 1]}
    assert with_span("xaxis", {"title": "x"}, [trace], []) == {"title": "x"}


def test_no_gap_has_no_ticks():
    assert gap_axis("gap", float("nan"))["tickvals"] == []
