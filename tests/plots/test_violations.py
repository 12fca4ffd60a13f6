import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.plots import plot_violations


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "label": ["Logistic", "Fair"],
            "colour_role": ["logistic", "fair_log_loss"],
            "error_expected": [0.4, 0.45],
            "error_rounded": [0.3, 0.35],
            "violation_expected": [0.12, 0.01],
            "violation_rounded": [0.1, 0.2],
            "constant_expected": 0.0,
            "constant_rounded": 0.0,
            **{
                f"{name}_{kind}_sd": 0.01
                for name in ("error", "violation")
                for kind in ("expected", "rounded")
            },
        }
    )


def test_both_panels_hold_every_model_with_its_spread(table):
    figure = plot_violations(table).figure
    assert len(figure.data) == 4
    seen = {(t.name, t.xaxis): (t.x[0], t.y[0]) for t in figure.data}
    assert seen["Fair", "x"] == (0.01, 0.45)
    assert seen["Fair", "x2"] == (0.2, 0.35)
    assert all(t.error_x.array[0] == t.error_y.array[0] == 0.01 for t in figure.data)
    assert [t.showlegend for t in figure.data] == [True, True, False, False]


def test_a_constant_model_does_not_stretch_the_axis(table):
    idle = table.iloc[[1]].assign(
        label="Idle", error_rounded=0.9, violation_rounded=0.0, constant_rounded=1.0
    )
    both = pd.concat([table, idle])
    layout = plot_violations(both).figure.layout
    assert layout.yaxis.range is None
    assert 0.36 < layout.yaxis2.range[1] < 0.4
    wide = plot_violations(both.assign(error_rounded_sd=0.1)).figure.layout.yaxis2
    assert wide.range[0] < 0.2
    assert wide.range[1] > 0.45


def test_one_split_has_no_spread(table):
    figure = plot_violations(table.assign(error_expected_sd=np.nan)).figure
    assert figure.data[0].error_y.array[0] is None


def test_the_headline_names_who_violates_least_before_and_after(table):
    def headline(**changes):
        return plot_violations(table.assign(**changes)).headline

    assert headline() == "Least violation: Fair; after rounding: Logistic"
    assert headline(violation_rounded=[0.1, 0.0]).endswith("rounding: Fair")
    undefined = headline(violation_rounded=np.nan, violation_expected=np.nan)
    assert "No violation can be told" in undefined
    assert len(headline(label=["a" * 60, "b" * 60])) <= 70
    picture = plot_violations(table)
    assert "error 45.0%" in picture.alt
    assert "colour_role" not in picture.table


@st.composite
def tables(draw):
    """Tables of models, some constant in one panel or both, some undefined."""
    shares = st.integers(0, 1000).map(lambda n: n / 1000)
    rows = []
    for label in ("Plain", "Fair", "ROAD")[: draw(st.integers(1, 3))]:
        row = {"label": label, "colour_role": "road"}
        for kind in ("expected", "rounded"):
            undefined = draw(st.integers(0, 5)) == 0
            row[f"violation_{kind}"] = np.nan if undefined else draw(shares)
            row |= {f"error_{kind}": draw(shares), f"constant_{kind}": draw(shares)}
            row |= {f"error_{kind}_sd": 0.01, f"violation_{kind}_sd": 0.01}
        rows.append(row)
    return pd.DataFrame(rows)


@given(tables())
def test_only_a_model_that_decides_is_said_to_violate_least(table):
    picture = plot_violations(table)
    words = picture.headline
    least = {}
    for kind in ("expected", "rounded"):
        known = [
            (row[f"violation_{kind}"], row["label"])
            for row in table.to_dict("records")
            if row[f"constant_{kind}"] <= 0.5 and row[f"violation_{kind}"] >= 0
        ]
        smallest = min(known, default=(np.nan, ""))[0]
        least[kind] = {label for value, label in known if value == smallest}
    if table[["violation_expected", "violation_rounded"]].isna().all(axis=None):
        assert words.startswith("No violation can be told")
    elif not any(least.values()):
        assert words.startswith("No model decides")
    elif not all(least.values()):
        said = re.fullmatch(r"Models decide only (\w+) rounding; .*: (\w+)", words)
        assert said.group(1) == ("before" if least["expected"] else "after")
        assert said.group(2) in least["expected"] | least["rounded"]
    else:
        both = re.fullmatch(r"Least violation before and after rounding: (\w+)", words)
        said = both or re.fullmatch(r"Least violation: (\w+); after .*: (\w+)", words)
        first, last = said.group(1), said.group(1 if both else 2)
        assert first in least["expected"]
        assert last in least["rounded"]
        assert both or first != last
    crossed = [t.marker.symbol == "x-thin-open" for t in picture.figure.data]
    constant = table[["constant_expected", "constant_rounded"]] > 0.5
    assert crossed == constant.T.to_numpy().ravel().tolist()
