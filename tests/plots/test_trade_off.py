import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.plots import (
    group_colours_of,
    plot_trade_off,
)
from fairdash.postprocessing import (
    RampThreshold,
    ScoredRows,
    fit_baselines,
    trade_off_table,
)

GAP = "demographic_parity_difference"


def row(kind, label, accuracy=0.7, gap=0.2, **more):
    numbers = {"accuracy": accuracy, GAP: gap}
    ends = {f"{name}_low": value - 0.01 for name, value in numbers.items()}
    ends |= {f"{name}_high": value + 0.01 for name, value in numbers.items()}
    return {"kind": kind, "label": label, **numbers, **ends, **more}


def table(accuracy=(-0.02, -0.03, -0.01), gap=(-0.1, -0.2, -0.05)):
    ends = ("change", "change_low", "change_high")
    changes = {f"accuracy_{end}": v for end, v in zip(ends, accuracy, strict=True)}
    changes |= {f"{GAP}_{end}": v for end, v in zip(ends, gap, strict=True)}
    return pd.DataFrame(
        [
            row("setting", "Ramp, this setting", tolerance=0.0, **changes),
            *(row("curve", "Ramp", tolerance=t) for t in (0.0, 0.1, 0.2)),
            row("method", "No correction", 0.7, 0.2),
            row("method", "Hardt, demographic parity", 0.68, 0.01),
        ]
    )


def test_every_method_is_a_mark_and_the_ramp_a_line():
    picture = plot_trade_off(table(), rows="validation")
    data = picture.figure.data
    assert [trace.name for trace in data] == [
        "Ramp",
        "Ramp, this setting",
        "No correction",
        "Hardt, demographic parity",
    ]
    assert len(data[0].x) == 3
    assert data[2].y[0] == 0.7
    assert data[2].error_x.array[0] == pytest.approx(0.01)
    assert "No correction: accuracy 70.0%, DI 0.200" in picture.alt
    assert "validation" in picture.alt
    assert "Validation rows" in picture.caption
    assert "kind" not in picture.table


@pytest.mark.parametrize(
    "accuracy, gap, words",
    [
        (
            (-0.02, -0.03, -0.01),
            (-0.1, -0.2, -0.05),
            "Test rows: the ramp takes 0.100 off DI, costs 2.0 pt accuracy",
        ),
        (
            (-0.02, -0.03, 0.01),
            (-0.1, -0.2, -0.05),
            "Test rows: the ramp takes 0.100 off DI, accuracy change not clear",
        ),
        (
            (-0.02, -0.03, 0.01),
            (-0.1, -0.2, 0.05),
            "The change of DI is not clear on test rows",
        ),
        (
            (np.nan,) * 3,
            (np.nan,) * 3,
            "No change of DI can be estimated on test rows",
        ),
    ],
)
def test_a_change_is_named_only_if_it_is_clear(accuracy, gap, words):
    assert plot_trade_off(table(accuracy, gap), rows="test").headline == words


def draw(seed):
    """Rows of two or three groups; few, so that some changes are not clear."""
    rng = np.random.default_rng(seed)
    n, n_groups = int(rng.choice([60, 400, 3000])), int(rng.integers(2, 4))
    groups = rng.permutation(np.arange(n) % n_groups)
    margins = np.clip(rng.normal(-0.3 + 0.3 * groups, 0.4), -1, 1).round(2)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return ScoredRows.read(margins, sensitive_features=groups, y=y)


@given(st.integers(0, 10_000), st.floats(0.02, 2), st.floats(0.05, 0.95))
@settings(max_examples=20, deadline=None)
def test_the_headline_is_what_the_rows_say(seed, gamma, rate):
    learned, shown = draw(seed), draw(seed + 1)
    if learned.names != shown.names:
        shown = learned
    ramp = RampThreshold(gamma, rate).fit_rows(learned)
    methods = fit_baselines(learned)
    picture = plot_trade_off(
        trade_off_table(ramp, ramp.report(shown), methods), rows="test"
    )
    h = np.clip((shown.margins - ramp.starts_[shown.codes]) / gamma, 0, 1)
    frame = pd.DataFrame({"h": h, "b": shown.margins > 0, "g": shown.codes})
    frame["right"] = np.where(shown.y == 1, h, 1 - h)
    frame["was right"] = frame["b"] == (shown.y == 1)
    by_group = frame.groupby("g")[["h", "b"]].mean()
    gap = np.ptp(by_group["h"]) - np.ptp(by_group["b"])
    cost = frame["right"].mean() - frame["was right"].mean()
    assert len(picture.headline) <= 70
    told = re.search(r"(takes|adds) ([\d.]+) (?:off|to) DI", picture.headline)
    if told:
        sign = -1 if told[1] == "takes" else 1
        assert sign * float(told[2]) == pytest.approx(gap, abs=6e-4)
    else:
        assert "not clear" in picture.headline
    paid = re.search(r"(costs|gains) ([\d.]+) pt", picture.headline)
    if paid:
        sign = -1 if paid[1] == "costs" else 1
        assert sign * float(paid[2]) / 100 == pytest.approx(cost, abs=6e-4)
    drawn = {trace.name: trace for trace in picture.figure.data}
    ring = drawn["Ramp, this setting"]
    assert ring.x[0] == pytest.approx(np.ptp(by_group["h"]))
    assert ring.y[0] == pytest.approx(frame["right"].mean())
    listed = picture.table.set_index("label").loc["Ramp, this setting"]
    assert listed["accuracy"] == pytest.approx(ring.y[0])


def test_colours_of_a_component_are_those_of_the_theme():
    assert group_colours_of(["a", "b"], "light") == ["#0072B2", "#C15500"]
    assert group_colours_of(["a"], "dark") == ["#56B4E9"]
