import numpy as np
import pandas as pd
import pytest

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
