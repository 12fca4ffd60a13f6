import numpy as np
import pandas as pd
import pytest

from fairdash.sweep import mean_over_seeds
from fairdash.ui import Setting
from fairdash.ui._sweep import PARITY, Sweep

WEIGHTS, TAUS, SEEDS = (0.5, 1.0, 2.0, 3.0, 4.0), (0.1, 0.6), (0, 1, 2)


@pytest.fixture
def sweep():
    """Two methods whose gap falls with λ; ROAD's validation and test rows differ."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in SEEDS:
        points = [("unconstrained", np.nan, np.nan)]
        points += [("adversarial", weight, np.nan) for weight in WEIGHTS]
        points += [("road", weight, tau) for weight in WEIGHTS for tau in TAUS]
        for method, weight, tau in points:
            row = {"key": f"{method}{weight}{tau}{seed}", "method": method}
            row |= {"seed": seed, "fairness_weight": weight, "tau": tau}
            for part in ("validation", "test"):
                strength = np.nan_to_num(weight)
                row[f"{part}_accuracy"] = 0.8 - 0.03 * strength + rng.normal(0, 0.01)
                row[f"{part}_worst_1_di"] = 0.4 - 0.07 * strength + rng.normal(0, 0.01)
                row[f"{part}_{PARITY}"] = 0.2 - 0.04 * strength
            rows.append(row)
    rows = pd.DataFrame(rows)
    means = mean_over_seeds(rows)
    models = tuple(Setting(row["method"], str(i), ()) for i, row in means.iterrows())
    return Sweep(rows, means, models)


def test_only_methods_with_several_settings_can_be_slid_through(sweep):
    assert sweep.methods == ["adversarial", "road"]
    assert sweep.axis("road", "fairness_weight") == list(WEIGHTS)
    assert sweep.axis("adversarial", "tau") == []
    assert sweep.n_seeds == 3


def test_a_setting_is_found_by_its_point(sweep):
    place = sweep.position("road", {"fairness_weight": 2.0, "tau": 0.6})
    found = sweep.means.iloc[place]
    assert (found["method"], found["fairness_weight"], found["tau"]) == (
        "road", 2.0, 0.6,
    )  # fmt: skip
    assert sweep.position("road", {"fairness_weight": 9.0, "tau": 0.6}) is None


def test_fronts_are_chosen_on_one_part_and_drawn_on_the_other(sweep):
    axes = ("worst_1_di", "accuracy")
    points = sweep.points(axes, 0.1, "validation", single=False)
    means = sweep.means
    assert points["x"].tolist() == means["test_worst_1_di"].tolist()
    assert points["within"].tolist() == (means[f"validation_{PARITY}"] <= 0.1).tolist()
    for method, label in (("adversarial", "Zhang"), ("road", "ROAD")):
        mine = means[(means["method"] == method) & points["within"]]
        best = [
            i
            for i, one in mine.iterrows()
            if not (
                (mine["validation_worst_1_di"] < one["validation_worst_1_di"])
                & (mine["validation_accuracy"] > one["validation_accuracy"])
            ).any()
        ]
        drawn = points[(points["method"] == label) & points["front"]]
        assert drawn.index.tolist() == best
    assert (points["front"] | ~points["line"]).all()


def test_a_front_over_single_runs_has_every_run(sweep):
    assert len(sweep.single_runs(("worst_1_di", "accuracy"))) == len(sweep.rows)
    alone = sweep.rows[sweep.rows["seed"] == 0]
    one = Sweep(alone, mean_over_seeds(alone), sweep.models)
    assert one.single_runs(("worst_1_di", "accuracy")).empty


def test_the_best_setting_keeps_both_limits_on_validation_rows(sweep):
    place = sweep.best({PARITY: 0.1, "worst_1_di": 0.25})
    chosen = sweep.means.iloc[place]
    kept = sweep.means[
        (sweep.means[f"validation_{PARITY}"] <= 0.1)
        & (sweep.means["validation_worst_1_di"] <= 0.25)
    ]
    assert chosen["validation_accuracy"] == kept["validation_accuracy"].max()
    assert sweep.best({"worst_1_di": 0.0}) is None


def test_lines_by_tau_average_the_models_of_a_quarter_of_the_weights(sweep):
    table = sweep.by_tau("road", "worst_1_di")
    assert list(dict.fromkeys(table["part"])) == ["λ 0.5–1", "λ 2", "λ 3", "λ 4"]
    rows = sweep.rows[(sweep.rows["method"] == "road") & (sweep.rows["tau"] == 0.1)]
    first = rows[rows["fairness_weight"] <= 1]["test_worst_1_di"]
    assert table["mean"].iloc[0] == pytest.approx(first.mean())
    assert table["sd"].iloc[0] == pytest.approx(first.std())


def test_the_drag_holds_the_numbers_of_every_setting(sweep):
    table = sweep.numbers("road", 0.1)
    assert len(table) == len(WEIGHTS) * len(TAUS)
    row = table[(table["fairness_weight"] == 3.0) & (table["tau"] == 0.1)].iloc[0]
    place = sweep.position("road", {"fairness_weight": 3.0, "tau": 0.1})
    assert row["worst"] == sweep.means["test_worst_1_di"].iloc[place]
    assert bool(row["within"])
