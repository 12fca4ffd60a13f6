import pandas as pd
import pytest

from fairdash.plots import plot_consistency, plot_fair_metric

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
    }
)
METRIC = pd.DataFrame(
    {
        "direction": ["sex=F", "predicts Male"],
        "variance": [0.1, 0.05],
        "columns": ["sex=F +1.00", "part_time=yes −0.60"],
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
        label="Constant", balanced_accuracy=0.5, consistency=1.0
    )
    with_it = pd.concat([MODELS, constant])
    assert plot_consistency(with_it).headline == plot_consistency(MODELS).headline


def test_bars_are_shares_of_variance():
    picture = plot_fair_metric(METRIC)
    (bars,) = picture.figure.data
    assert list(bars.x) == [0.1, 0.05]
    assert picture.headline.startswith("15% of what the features vary in")
