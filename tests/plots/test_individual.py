import re

import numpy as np
import pandas as pd
import pytest

from fairdash.plots import plot_consistency, plot_pairs

MODELS = pd.DataFrame(
    {
        "label": ["Unconstrained", "SenSeI ρ 5", "SenSeI ρ 1"],
        "method": ["Unconstrained", "SenSeI", "SenSeI"],
        "colour_role": ["unconstrained", "sensei", "sensei"],
        "n_seeds": [1, 3, 3],
        "consistency": [0.7, 0.99, 0.9],
        "consistency_low": [0.65, 0.97, 0.87],
        "consistency_high": [0.74, 1.0, 0.93],
        "consistency_sd": [float("nan"), 0.01, 0.02],
        "balanced_accuracy": [0.8, 0.7, 0.75],
        "balanced_accuracy_sd": [float("nan"), 0.03, 0.04],
        "fairness_weight": [float("nan"), 5.0, 1.0],
        "chosen": [True, False, False],
        "constant": [0.0, 0.0, 0.0],
    }
)


def test_a_method_is_joined_in_order_of_its_weight():
    alone, method, ring = plot_consistency(MODELS).figure.data
    assert (alone.mode, method.mode) == ("markers", "lines+markers")
    assert list(method.x) == [0.9, 0.99]
    assert list(method.text) == ["SenSeI ρ 1", "SenSeI ρ 5"]
    assert method.marker.size[0] < method.marker.size[1]
    assert [alone.name, method.name] == ["Unconstrained", "SenSeI"]
    assert list(ring.x) == [0.7]


def test_models_that_differ_in_more_than_their_weight_are_not_joined():
    same = MODELS.assign(fairness_weight=[float("nan"), 5.0, 5.0])
    assert [trace.mode for trace in plot_consistency(same).figure.data] == [
        "markers"
    ] * 3


def test_axes_hold_what_is_drawn_and_one_model_is_no_point_in_a_void():
    layout = plot_consistency(MODELS).figure.layout
    low, high = layout.yaxis.range
    assert low < 0.7 - 0.03
    assert high > 0.8
    low, high = layout.xaxis.range
    assert low < 0.65
    assert high > 1.0
    layout = plot_consistency(MODELS.iloc[:1]).figure.layout
    assert layout.yaxis.range[1] - layout.yaxis.range[0] < 0.1


def test_bars_are_the_spread_over_seeds_or_else_the_interval():
    alone, method, _ = plot_consistency(MODELS).figure.data
    assert list(method.error_x.array) == [0.02, 0.01]
    assert list(method.error_x.arrayminus) == [0.02, 0.01]
    assert list(method.error_y.array) == [0.04, 0.03]
    assert alone.error_x.array[0] == pytest.approx(0.04)
    assert alone.error_x.arrayminus[0] == pytest.approx(0.05)
    assert list(alone.error_y.array) == [0]


def test_the_finding_names_the_most_consistent_model():
    assert plot_consistency(MODELS).headline == (
        "Most consistent: SenSeI ρ 5, 99.0% keep their prediction"
    )
    assert (
        plot_consistency(MODELS[:1]).headline == "70.0% of people keep their prediction"
    )
    assert "SenSeI ρ 1: consistency 90.0%" in plot_consistency(MODELS).alt


def test_a_model_that_decides_alike_for_everyone_is_not_the_finding():
    constant = MODELS.iloc[[2]].assign(
        label="Constant", balanced_accuracy=0.51, consistency=1.0, constant=1.0
    )
    with_it = pd.concat([MODELS, constant])
    assert plot_consistency(with_it).headline == plot_consistency(MODELS).headline
    picture = plot_consistency(with_it)
    assert "Constant (decides alike for everyone" in picture.alt
    *joined, cross, _ = picture.figure.data
    assert [list(trace.x) for trace in joined] == [[0.7], [0.9, 0.99]]
    assert (cross.marker.symbol, list(cross.x)) == ("x-thin-open", [1.0])
    low, high = picture.figure.layout.yaxis.range
    assert 0.51 < low < 0.7
    assert 0.8 < high < 0.85
    assert plot_consistency(MODELS).figure.layout.yaxis.range == (low, high)


def test_pairs_stand_on_one_row_with_the_person_first():
    table = pd.DataFrame(
        {
            "pair": ["rows 3 and 9: age: 31 → 33", "rows 4 and 7: the same"],
            "before": [0.8, 0.45],
            "after": [0.3, 0.55],
            "decision_changed": True,
            "changes": [["age: 31 → 33"], []],
        }
    )
    picture = plot_pairs(table, kind="similar", share=0.25, n=1200)
    joined, person, other = picture.figure.data
    assert joined.x[:3] == (0.8, 0.3, None)
    assert (person.x, other.x) == ((0.8, 0.45), (0.3, 0.55))
    assert person.y == other.y
    assert picture.figure.layout.shapes[0].x0 == 0.5
    assert picture.headline.startswith("25.0% of 1,200 people have")
    assert "31 → 33" in person.text[0]
    nobody = plot_pairs(table.iloc[:0], kind="invented", share=0.0, n=7)
    assert nobody.headline.startswith("0.0% of 7 people have an invented")


@pytest.mark.parametrize("seed", range(20))
def test_the_headline_names_the_most_consistent_model_that_decides(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    table = pd.DataFrame(
        {
            "label": [f"model {i}" for i in range(n)],
            "method": rng.choice(["SenSeI", "CLP"], n),
            "colour_role": "sensei",
            "n_seeds": 1,
            "consistency": rng.choice([np.nan, 0.2, 0.5, 0.77, 1.0], n),
            "consistency_sd": np.nan,
            "balanced_accuracy": rng.choice([0.5, 0.6, 0.8], n),
            "balanced_accuracy_sd": np.nan,
            "fairness_weight": np.nan,
            "chosen": np.arange(n) == 0,
            "constant": rng.choice([0.0, 0.0, 0.5, 1.0], n),
        }
    )
    half = rng.choice([0.01, 0.2])
    table["consistency_low"] = table["consistency"] - half
    table["consistency_high"] = table["consistency"] + half
    headline = plot_consistency(table).headline
    known = table.dropna(subset="consistency")
    if known.empty:
        assert "cannot be estimated" in headline
        return
    better = known[known["constant"] == 0]
    best = (known if better.empty else better)["consistency"].max()
    ranked = (known if better.empty else better)["consistency"].sort_values()
    *least, said = map(float, re.findall(r"([\d.]+)%", headline))
    assert said == pytest.approx(100 * best, abs=0.0501)
    overlap = len(ranked) > 1 and ranked.iloc[-1] - ranked.iloc[-2] <= 2 * half
    assert ("overlap" in headline) == overlap
    assert least == ([pytest.approx(100 * ranked.iloc[0])] if overlap else [])
    if "Most consistent" in headline:
        (label,) = re.findall(r"model \d", headline)
        (named,) = table.loc[table["label"] == label, "consistency"]
        assert named == best
