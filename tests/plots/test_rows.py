"""One row a thing, marks with intervals: every figure of this kind shows its table."""

import numpy as np
import pandas as pd
import pytest

from fairdash import plots

HOSTILE = (
    "other", "gap", "value", "n", "self", "index", "Rows", "row", "series", "aside",
    "", "🦊", "x" * 300, "<a href='x'>y</a>", "%{x}", "label", "subgroup", "group",
)  # fmt: skip


def marks(figure):
    """Return every mark of a figure: row from the top, value, low, high, hover, trace.

    A mark without an interval has bars of length 0.
    """
    first, last = figure.layout.yaxis.range
    assert first > last, "the first row stands on top"
    rows = np.array(figure.layout.yaxis.tickvals)
    results = []
    for trace in figure.data:
        if trace.type == "scatter" and "markers" in trace.mode:
            words = trace.hovertext or trace.text
            up = trace.error_x.array
            down = trace.error_x.arrayminus
            for at, value, high, low, said in zip(
                trace.y, trace.x, up, down, words, strict=True
            ):
                row = int(np.argmin(np.abs(rows - at)))
                if value is not None:
                    ends = value - (low or 0), value + (high or 0)
                    results.append((row, value, *ends, said, trace))
    return results


def drawn(figure, trace_name=None):
    """Return row, value, low and high of marks, of one trace if it is named."""
    return [
        tuple(np.round(mark[:4], 9))
        for mark in marks(figure)
        if trace_name is None or mark[-1].name == trace_name
    ]


def rows_of(table, value, low="ci_low", high="ci_high"):
    """Return what `drawn` should be of the columns of a table."""
    ends = table[[value, low, high]].astype(float)
    return [
        (row, *np.round(ends_of_row, 9))
        for row, ends_of_row in enumerate(ends.to_numpy())
        if np.isfinite(ends_of_row[0])
    ]


def local(groups, subgroups):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"label": "ROAD", "subgroup": subgroups, "n": 90})
    table["gap"] = rng.random(len(table)).round(3)
    table["ci_low"], table["ci_high"] = table["gap"] - 0.1, table["gap"] + 0.1
    at = pd.MultiIndex.from_product([subgroups, groups], names=["subgroup", "group"])
    values = at.to_frame(index=False).assign(label="ROAD")
    values["value"] = rng.random(len(values)).round(3)
    values["n"] = rng.integers(20, 60, len(values))
    return table.assign(estimable=True, reason=""), values


def rates(groups, subgroups):
    rng = np.random.default_rng(0)
    at = pd.MultiIndex.from_product([subgroups, groups], names=["subgroup", "group"])
    table = at.to_frame(index=False).assign(n=90, estimable=True, reason="")
    table["rate"] = rng.random(len(table)).round(3)
    table["ci_low"], table["ci_high"] = table["rate"] - 0.1, table["rate"] + 0.1
    overall = pd.DataFrame({"group": groups, "n": 500})
    return table, overall.assign(rate=rng.random(len(groups)).round(3))


def compared(labels):
    table = pd.DataFrame({"label": labels, "colour_role": "road"})
    for i, metric in enumerate(
        ("accuracy", "demographic_parity_difference", "worst_1_di")
    ):
        table[metric] = 0.1 * (i + 1) + np.arange(len(table)) / 100
        table[f"{metric}_low"] = table[metric] - 0.05
        table[f"{metric}_high"] = table[metric] + 0.05
    return table


CHANGES = pd.DataFrame(
    {
        "subgroup": ["young", "old", "tiny"],
        "gap_before": [0.1, 0.2, np.nan], "gap_after": [0.3, 0.2, np.nan],
        "before_low": [0.0, 0.1, np.nan], "before_high": [0.2, 0.3, np.nan],
        "after_low": [0.2, 0.1, np.nan], "after_high": [0.4, 0.3, np.nan],
        "change": [0.2, 0.0, np.nan],
        "ci_low": [0.1, -0.1, np.nan], "ci_high": [0.3, 0.1, np.nan],
        "estimable": [True, True, False], "reason": ["", "", "11 rows in new"],
    }
)  # fmt: skip


def test_local_gaps_are_of_their_model_and_their_row(shown, local_table, groups):
    figure = plots.plot_local_di(**shown, groups=groups).figure
    for label, part in local_table.groupby("label", sort=False):
        (name,) = {t.name for t in figure.data if (t.name or "").startswith(label)}
        assert drawn(figure, name) == rows_of(part, "gap")


def test_hostile_names_of_groups_and_subgroups_show_their_own_numbers():
    table, values = local(HOSTILE, HOSTILE)
    model = pd.DataFrame({"label": ["ROAD"], "colour_role": ["road"], "overall": [0.2]})
    figure = plots.plot_local_di(table, values, model, groups=HOSTILE).figure
    assert drawn(figure) == rows_of(table, "gap")
    mine = values[values["group"] == "other"].set_index("subgroup")
    at = HOSTILE.index("other")
    for row, *_, text, _ in marks(figure):
        parts = text.partition("<br>")[2].split(": ", 1)[1].split(", ")
        assert parts[at] == f"other {mine.loc[HOSTILE[row], 'value']:.3f}"
    bars = [trace for trace in figure.data if trace.type == "bar"]
    for group, bar in zip(HOSTILE, bars, strict=True):
        assert list(bar.x) == values.loc[values["group"] == group, "n"].tolist()
        assert "%{x}" not in bar.hovertemplate


@pytest.mark.parametrize("groups", [HOSTILE, HOSTILE[:4]])
def test_base_rates_of_hostile_names_show_their_own_numbers(groups):
    table, overall = rates(groups, HOSTILE)
    figure = plots.plot_base_rates(table, overall, groups=groups).figure
    traces = [trace for trace in figure.data if trace.mode == "markers"]
    for group, trace in zip(groups, traces, strict=True):
        of_group = table[table["group"] == group]
        assert drawn(figure, trace.name) == rows_of(of_group, "rate")
    lines = [trace.x for trace in figure.data if trace.mode == "lines"]
    totals = [(total, total) for total in overall["rate"]]
    assert lines == (totals if len(groups) <= 4 else [])


@pytest.mark.parametrize("names", [("ROAD λ 2", "Unconstrained"), HOSTILE])
def test_models_stand_in_three_panels_with_their_values(names):
    table = compared(names)
    picture = plots.plot_comparison(table)
    match = marks(picture.figure)
    for axis, metric in (
        ("x", "accuracy"),
        ("x2", "demographic_parity_difference"),
        ("x3", "worst_1_di"),
    ):
        on_axis = [mark for mark in match if (mark[-1].xaxis or "x") == axis]
        assert [tuple(np.round(mark[:4], 9)) for mark in on_axis] == rows_of(
            table, metric, f"{metric}_low", f"{metric}_high"
        )
    titles = [note.text for note in picture.figure.layout.annotations]
    assert titles == ["<b>Accuracy</b>", "<b>Gap</b>", "<b>Largest<br>local gap</b>"]
    assert picture.figure.data[0].text == ("10.0%",)


def test_gaps_stand_beside_their_change_and_rows_without_one_say_why():
    picture = plots.plot_gap_changes(
        CHANGES, headline="H", caption="C", title="gap, men − women"
    )
    figure = picture.figure
    percent = 100 * CHANGES.select_dtypes("float")
    before = rows_of(percent, "gap_before", "before_low", "before_high")
    assert drawn(figure, "reference") == before
    after = rows_of(percent, "gap_after", "after_low", "after_high")
    assert drawn(figure, "other table") == after
    clear, unclear = (t for t in figure.data if t.xaxis == "x2")
    assert (clear.x[0], unclear.x[0]) == (20, 0)
    assert clear.marker.color != unclear.marker.color
    (note,) = figure.layout.annotations
    assert note.text == "not estimable: 11 rows in new"
    assert "young: +20.0 points (+10.0 to +30.0)" in picture.alt
    assert figure.layout.xaxis.title.text == "gap, men − women, points"


def test_long_names_of_subgroups_do_not_cover_one_another(shown, groups):
    long = {
        name: table.assign(
            subgroup="Native American age_cat Greater than " + table["subgroup"]
        )
        for name, table in shown.items()
        if name != "models"
    }
    layout = plots.plot_local_di(**shown | long, groups=groups).figure["layout"]
    height = layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]
    first, last = layout["yaxis"]["range"]
    lines = max(name.count("<br>") + 1 for name in layout["yaxis"]["ticktext"])
    assert lines > 1
    assert height / abs(last - first) >= 13 * lines, "pixels of a row"


def test_a_mark_at_0_does_not_cover_the_name_of_its_row(shown, groups):
    figure = plots.plot_local_di(**shown, groups=groups).figure
    marks = [trace for trace in figure.data if trace.type == "scatter"]
    sizes = [trace.marker.size for trace in marks if trace.mode == "markers"]
    assert sizes
    assert figure.layout.yaxis.ticklabelstandoff >= max(sizes) / 2
