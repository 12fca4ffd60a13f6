"""Figures of several tables, through their data."""

import numpy as np
import pandas as pd
import pytest

from fairdash.plots import plot_drift

DI = "demographic_parity_difference"


def points(known=True):
    rows = []
    for table, shift in (("old", 0.0), ("mid", 0.02), ("new", 0.05)):
        for label, x, y in (("A 1", 0.1, 0.8), ("A 2", 0.05, 0.75), ("B", 0.2, 0.82)):
            x, y = x + shift, y - shift if known else np.nan
            row = {"table": table, "label": label, "method": label[0], "front": True}
            row |= {"status": ""}
            row |= {"colour_role": "road" if label[0] == "A" else "broad", "n": 100}
            for name, value in ((DI, x), ("accuracy", y), ("selection_rate", 0.4)):
                row |= {name: value, f"{name}_low": value - 0.02}
                row |= {f"{name}_high": value + 0.02}
            row |= {f"{DI}_change_low": shift - 0.04 * (label != "B") - 0.001}
            row |= {"accuracy_change_high": -shift + 0.04 * (label == "A 1")}
            rows.append(row)
    return pd.DataFrame(rows)


def drawn(table, **more):
    asked = {"measure": DI, "tables": ["old", "mid", "new"], "against": "new"}
    return plot_drift(table, **asked | more)


def test_every_model_has_a_mark_on_every_table_open_on_the_reference():
    picture = drawn(points())
    marks = [t for t in picture.figure.data if t.mode == "markers"]
    assert sum(len(t.x) for t in marks) == 9
    looks = {(t.name, t.marker.symbol, t.marker.size) for t in marks}
    assert looks == {
        ("A", "circle-open", 10), ("A", "circle", 10), ("A", "circle", 6),
        ("B", "diamond-open", 10), ("B", "diamond", 10), ("B", "diamond", 6),
    }  # fmt: skip
    filled = next(t for t in marks if t.name == "B" and t.showlegend)
    assert filled.x[0] == pytest.approx(0.25)
    assert filled.y[0] == pytest.approx(0.77)
    fronts = [t for t in picture.figure.data if t.line.width == 2]
    assert [list(t.x) for t in fronts] == [
        pytest.approx([0.05, 0.1]),
        pytest.approx([0.1, 0.15]),
    ]


def test_the_headline_counts_changes_that_exclude_0():
    assert drawn(points()).headline == (
        "Accuracy clearly lower for 3 of 3 models, gap larger for 3"
    )
    assert drawn(points(), against="mid").headline == (
        "Accuracy clearly lower for 2 of 3 models, gap larger for 1"
    )


def collapsed(label="B", table="new"):
    """The points, a model of which accepts none on a table."""
    found = points()
    rows = (found["label"] == label) & (found["table"] == table)
    found.loc[rows, ["status", DI, "accuracy"]] = ["accepts none", 0.0, 0.3]
    return found


def test_a_model_that_does_not_decide_is_a_cross_and_neither_counted_nor_reached_for():
    picture = drawn(collapsed())
    marks = [t for t in picture.figure.data if t.mode == "markers" and len(t.x)]
    (cross,) = [t for t in marks if t.marker.symbol == "x-thin-open"]
    assert (list(cross.x), list(cross.y)) == ([0.0], [0.3])
    assert "accepts none" in cross.text[0]
    assert sum(len(t.x) for t in marks) == 9
    layout = picture.figure.layout
    for axis, low, high in (("xaxis", 0.05, 0.22), ("yaxis", 0.7, 0.82)):
        first, last = layout[axis].range
        assert first <= low - 0.02  # whiskers are .02 long
        assert last >= high + 0.02
        assert last - first < 1.2 * (high - low + 0.04)
    assert picture.headline == (
        "Accuracy clearly lower for 2 of 2 that decide, gap larger for 2"
    )
    assert "1 mark of models that decide alike" in picture.caption
    assert "1 of them beyond the axes" in picture.caption
    assert "B: 0.200 at 82.0% to 0.000 at 30.0% (accepts none)" in picture.alt
    of_b = picture.table[picture.table["label"] == "B"].set_index("table")
    assert of_b["status"].tolist() == ["", "", "accepts none"]
    # one that decides on neither of the tables compared is not counted either
    assert "of 2 that decide" in drawn(collapsed(table="old")).headline
    assert "of 3 models" in drawn(collapsed(table="mid")).headline


def test_where_no_model_decides_nothing_is_counted():
    found = points().assign(status="not told from chance")
    picture = drawn(found)
    assert picture.headline == "No model decides on both tables"
    assert picture.figure.layout.xaxis.range is None


def test_an_undefined_measure_is_not_counted_as_unchanged():
    found = points()
    found[[f"{DI}_change_low", DI]] = np.nan
    assert drawn(found).headline == (
        "Accuracy clearly lower for 3 of 3 models, gap not estimable"
    )
    unknown = collapsed().assign(**{DI: np.nan, f"{DI}_low": np.nan})
    unknown[[f"{DI}_high", f"{DI}_change_low"]] = np.nan
    assert drawn(unknown).headline.endswith("that decide, gap not estimable")


def test_without_an_outcome_selection_rates_are_drawn():
    picture = drawn(points(known=False))
    assert picture.figure.layout.yaxis.title.text == "selection rate"
    assert picture.headline == "gap is clearly larger for 3 of 3 models on new"
    assert "at 40.0%" in picture.alt


def test_the_caption_names_the_kind_of_interval():
    assert "of accuracy, of gaps Newcombe intervals." in drawn(points()).caption
    kind = "normal intervals"
    assert f"of gaps {kind}." in drawn(points(), kind=kind).caption
