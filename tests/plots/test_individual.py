import pandas as pd

from fairdash.plots import (
    consistency_finding,
    describe_consistency,
    fair_metric_finding,
    plot_consistency,
    plot_fair_metric,
)

MODELS = pd.DataFrame(
    {
        "label": ["Unconstrained", "SenSeI ρ 5", "SenSeI ρ 1"],
        "colour_role": ["unconstrained", "sensei", "sensei"],
        "consistency": [0.7, 0.99, 0.9],
        "consistency_low": [0.65, 0.97, 0.87],
        "consistency_high": [0.74, 1.0, 0.93],
        "balanced_accuracy": [0.8, 0.7, 0.75],
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
    line, *models, ring = plot_consistency(MODELS).data
    assert list(line.x) == [0.9, 0.99]
    assert [trace.name for trace in models] == MODELS["label"].tolist()
    assert list(ring.x) == [0.7]


def test_the_finding_names_the_most_consistent_model():
    assert consistency_finding(MODELS) == (
        "Most consistent: SenSeI ρ 5, 99.0% keep their prediction"
    )
    assert consistency_finding(MODELS[:1]) == "70.0% of people keep their prediction"
    assert "SenSeI ρ 1: consistency 90.0%" in describe_consistency(MODELS)


def test_bars_are_shares_of_variance():
    (bars,) = plot_fair_metric(METRIC).data
    assert list(bars.x) == [0.1, 0.05]
    assert fair_metric_finding(METRIC).startswith("15% of what the features vary in")
