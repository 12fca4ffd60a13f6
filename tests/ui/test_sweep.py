import numpy as np
import pandas as pd
import pytest

from fairdash.results import PARITY, Setting, Sweep
from fairdash.sweep import mean_over_seeds
from fairdash.ui.sweep.numbers import setting_kpis
from fairdash.ui.sweep.point import _nearest, _read, labels, words

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
    assert sweep.axes("road") == {"fairness_weight": list(WEIGHTS), "tau": list(TAUS)}
    assert sweep.axes("adversarial") == {"fairness_weight": list(WEIGHTS)}
    assert sweep.n_seeds == 3


def test_a_setting_is_found_by_its_point(sweep):
    place = sweep.position("road", {"fairness_weight": 2.0, "tau": 0.6})
    found = sweep.means.iloc[place]
    assert (found["method"], found["fairness_weight"], found["tau"]) == (
        "road", 2.0, 0.6,
    )  # fmt: skip
    assert sweep.point(place) == {"fairness_weight": 2.0, "tau": 0.6}
    assert sweep.position("road", {"fairness_weight": 9.0, "tau": 0.6}) is None


def test_a_third_axis_is_part_of_the_point_and_holds_figures_fixed(sweep):
    longer = sweep.rows.assign(
        n_epochs=100, test_accuracy=0.9, key=sweep.rows["key"] + "long"
    )
    rows = pd.concat([sweep.rows.assign(n_epochs=50), longer], ignore_index=True)
    means = mean_over_seeds(rows)
    both = Sweep(rows, means, tuple(range(len(means))))
    assert list(both.axes("road")) == ["fairness_weight", "tau", "n_epochs"]
    point = {"fairness_weight": 2.0, "tau": 0.6, "n_epochs": 100}
    place = both.position("road", point)
    assert both.point(place) == point
    assert means["test_accuracy"].iloc[place] == pytest.approx(0.9)
    grid = both.grid("road", {"n_epochs": 50}, "accuracy", 1.0)
    assert len(grid) == len(WEIGHTS) * len(TAUS)
    assert (grid["value"] < 0.89).all()
    lines = both.by_tau("road", {"n_epochs": 100}, "accuracy")
    assert lines["mean"].tolist() == pytest.approx([0.9] * len(lines))


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


def test_the_knee_lies_on_the_front_furthest_from_the_line_between_its_ends(sweep):
    axes = ("worst_1_di", "accuracy")
    points = sweep.points(axes, 1.0, "validation", single=False)
    places = np.flatnonzero(points["front"] & (points["method"] == "ROAD"))
    x, y = (sweep.means[f"validation_{axis}"].to_numpy()[places] for axis in axes)
    first, last = x.argmin(), x.argmax()
    rise, run = y[last] - y[first], x[last] - x[first]
    above = (y - y[first]) / rise - (x - x[first]) / run
    assert sweep.knee("road", axes, 1.0) == places[above.argmax()]
    assert points["knee"].groupby(points["method"]).sum().max() == 1
    assert sweep.knee("road", axes, -1.0) is None


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
    table = sweep.by_tau("road", {}, "worst_1_di")
    assert list(dict.fromkeys(table["part"])) == ["λ 0.5–1", "λ 2", "λ 3", "λ 4"]
    rows = sweep.rows[(sweep.rows["method"] == "road") & (sweep.rows["tau"] == 0.1)]
    first = rows[rows["fairness_weight"] <= 1]["test_worst_1_di"]
    assert table["mean"].iloc[0] == pytest.approx(first.mean())
    assert table["sd"].iloc[0] == pytest.approx(first.std())


def test_cards_hold_the_paired_change_from_the_unconstrained_model(sweep):
    cards = setting_kpis(sweep, "road", 0.1)
    assert len(cards) == len(WEIGHTS) * len(TAUS)
    place = sweep.position("road", {"fairness_weight": 4.0, "tau": 0.1})
    accuracy, gap, worst, kept = cards[place]
    row = sweep.means.iloc[place]
    rows = sweep.rows.set_index("seed")
    mine = rows[rows["key"].str.startswith("road4.00.1")]["test_worst_1_di"]
    plain = rows[rows["method"] == "unconstrained"]["test_worst_1_di"]
    assert worst.value == f"{row['test_worst_1_di']:.3f}"
    assert worst.note == f"± {mine.std():.3f}"
    assert worst.delta == f"{(mine - plain).mean():+.3f}".replace("-", "−")
    assert worst.good is True  # 0.28 less over three seeds
    assert accuracy.good is False
    assert gap.value == "0.040"
    assert kept.value == "yes"
    alone = sweep.rows[sweep.rows["seed"] == 0]
    one = Sweep(alone, mean_over_seeds(alone), sweep.models)
    assert {card[2].good for card in setting_kpis(one, "road", 0.1).values()} == {None}


def test_a_value_in_the_address_reads_back_as_the_value():
    axes = {"fairness_weight": [0.0, 0.263158], "normalisation": ["batch", "all"]}
    for weight in axes["fairness_weight"]:
        told = {"fairness_weight": words(weight), "normalisation": "all"}
        assert _read(axes, told) == {"fairness_weight": weight, "normalisation": "all"}
    assert _read(axes, {"fairness_weight": "7", "normalisation": "all"}) is None
    assert _read(axes, {"fairness_weight": "0"}) is None


def test_labels_have_four_digits_unless_two_would_look_alike():
    assert labels([0.05, 0.1357208808, 2.0]) == ["0.05", "0.1357", "2"]
    assert labels(["batch", "all"]) == ["batch", "all"]
    assert labels([0.12341, 0.12342]) == ["0.12341", "0.12342"]


def test_another_method_starts_at_the_nearest_value():
    assert _nearest([0.5, 2.0, 4.0], "2.6") == 2.0
    assert _nearest([0.5, 2.0], None) == 0.5
    assert _nearest(["a", "b"], "b") == "b"
    assert _nearest(["a", "b"], "c") == "a"
