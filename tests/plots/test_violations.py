import numpy as np
import pandas as pd
import pytest

from fairdash.plots import describe_violations, plot_violations, violations_finding


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
    figure = plot_violations(table)
    assert len(figure.data) == 4
    seen = {(t.name, t.xaxis): (t.x[0], t.y[0]) for t in figure.data}
    assert seen["Fair", "x"] == (0.01, 0.45)
    assert seen["Fair", "x2"] == (0.2, 0.35)
    assert all(t.error_x.array[0] == t.error_y.array[0] == 0.01 for t in figure.data)
    assert [t.showlegend for t in figure.data] == [True, True, False, False]


def test_one_split_has_no_spread(table):
    figure = plot_violations(table.assign(error_expected_sd=np.nan))
    assert figure.data[0].error_y.array[0] is None


def test_the_finding_names_who_violates_least_before_and_after(table):
    assert (
        violations_finding(table) == "Least violation: Fair; after rounding: Logistic"
    )
    fair = table.assign(violation_rounded=[0.1, 0.0])
    assert violations_finding(fair).endswith("rounding: Fair")
    undefined = table.assign(violation_rounded=np.nan, violation_expected=np.nan)
    assert "No violation can be told" in violations_finding(undefined)
    assert len(violations_finding(table.assign(label=["a" * 60, "b" * 60]))) <= 70
    assert "error 45.0%" in describe_violations(table)
