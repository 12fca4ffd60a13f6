"""Ablations: what a preset trains, and its comparison against plain recomputations."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from fairdash.datasets import SAMPLES
from fairdash.metrics import seed_interval
from fairdash.sweep import (
    ABLATIONS,
    PARITY,
    DataSource,
    SweepSpec,
    ablations_of,
    compare_values,
    expand,
    mean_over_seeds,
    pareto_front,
    rank_agreement,
    with_ablation,
)
from fairdash.sweep._front import hypervolume
from fairdash.sweep._seeds import variance_components

LOANS = SAMPLES["loans"]
DATA = DataSource(sample="loans", roles=LOANS.roles, name=LOANS.title)
VALUES, SEEDS = ("conditional", "global"), (0, 1, 2, 3)


@pytest.fixture
def rows():
    """Models of one method under two choices; under the second gaps are wider."""
    rng = np.random.default_rng(1)
    found = []
    for seed in SEEDS:
        points = [("unconstrained", None)]
        points += [("road", value) for value in VALUES for _ in range(6)]
        for method, value in points:
            row = {"method": method, "normalisation": value, "seed": seed}
            for part in ("validation", "test"):
                wider = 0.15 * (value == "global")
                row[f"{part}_accuracy"] = rng.uniform(0.6, 0.8)
                row[f"{part}_worst_1_di"] = rng.uniform(0.05, 0.3) + wider
                row[f"{part}_{PARITY}"] = rng.uniform(0, 0.08)
                row[f"{part}_constant"] = float(rng.uniform() < 0.1 and bool(value))
            found.append(row)
    return pd.DataFrame(found)


def test_a_preset_crosses_its_values_with_the_grid_and_adds_what_is_open():
    spec = SweepSpec(data=DATA, methods=({"method": "road", "params": {"tau": 0.3}},))
    trials = expand(with_ablation(spec, "capacity"), "data")
    road = [one.params for one in trials if one.method == "road"]
    assert len(trials) - len(road) == 1  # the unconstrained model
    pairs = {(one["adversary_layers"], one["ratio_layers"]) for one in road}
    assert len(pairs) == 9
    assert len(road) == 9 * len({one["fairness_weight"] for one in road}) > 9
    assert {one["tau"] for one in road} == {0.3}


def test_only_methods_with_all_that_is_varied_have_a_preset():
    assert ablations_of(["adversarial", "road"]) == list(ABLATIONS)
    assert ablations_of(["broad"]) == ["normalisation"]
    assert ablations_of(["adversarial"]) == []
    spec = SweepSpec(data=DATA, methods=({"method": "broad"},))
    with pytest.raises(ValueError, match=r"needs one of road among `methods`"):
        with_ablation(spec, "capacity")
    with pytest.raises(ValueError, match="capacity"):
        with_ablation(spec, "depth")


def test_marks_are_those_chosen_on_validation_rows_and_drawn_on_test_rows(rows):
    table = compare_values(rows, "road", "normalisation", di_limit=0.06)
    for _, told in table.iterrows():
        worst, areas = [], {value: [] for value in VALUES}
        for seed in SEEDS:
            of_seed = rows[rows["seed"] == seed]
            plain = of_seed[of_seed["method"] == "unconstrained"].iloc[0]
            mine = of_seed[of_seed["normalisation"] == told["value"]]
            least = plain["validation_accuracy"] - told["given_up"]
            best = plain
            for _, row in mine[mine["validation_constant"] == 0].iterrows():
                if (
                    row["validation_accuracy"] >= least
                    and row["validation_worst_1_di"] < best["validation_worst_1_di"]
                ):
                    best = row
            worst.append(best["test_worst_1_di"])
            for value in VALUES:
                front = pareto_front(
                    of_seed[of_seed["normalisation"] == value],
                    axes=("validation_worst_1_di", "validation_accuracy"),
                    limits={f"validation_{PARITY}": 0.06},
                )
                areas[value].append(hypervolume(front, reference=(0.5, 0.45)))
        interval = ttest_1samp(worst, 0).confidence_interval()
        assert told["worst_1_di"] == pytest.approx(np.mean(worst))
        assert told["worst_1_di_low"] == pytest.approx(interval.low)
        assert told["worst_1_di_high"] == pytest.approx(interval.high)
        apart = np.subtract(areas[told["value"]], areas["conditional"])
        assert told["area_apart"] == pytest.approx(apart.mean())
        if told["value"] == "global":
            ends = ttest_1samp(apart, 0).confidence_interval()
            assert told["area_apart_low"] == pytest.approx(ends.low)
    idle = (rows[["validation_constant", "test_constant"]] == 1).any(axis=1)
    by_value = rows[idle].groupby("normalisation").size()
    known = table.drop_duplicates("value").set_index("value")["n_idle"]
    assert known.to_dict() == {value: by_value.get(value, 0) for value in VALUES}


def test_further_folds_have_other_rows_and_are_not_compared(rows):
    turned = {name: 1 - rows[name] for name in rows if "accuracy" in name}
    folds = [rows.assign(fold=np.nan), rows.assign(fold=1.0, **turned)]
    crossed = pd.concat(folds, ignore_index=True)
    pd.testing.assert_frame_equal(mean_over_seeds(crossed), mean_over_seeds(rows))
    apart = [variance_components(one, "test_accuracy") for one in (rows, crossed)]
    pd.testing.assert_frame_equal(*apart)
    one, both = (
        compare_values(table, "road", "normalisation") for table in (rows, crossed)
    )
    pd.testing.assert_frame_equal(both, one)
    one, both = (rank_agreement(table, "accuracy") for table in (rows, crossed))
    assert both == pytest.approx(one, nan_ok=True)


def test_one_seed_has_no_interval_and_a_missing_baseline_is_named(rows):
    one = compare_values(rows[rows["seed"] == 2], "road", "normalisation")
    assert one["worst_1_di"].notna().all()
    assert one[["worst_1_di_low", "area_high", "area_apart_low"]].isna().all(axis=None)
    bare = rows[(rows["method"] == "road") | (rows["seed"] != 2)]
    with pytest.raises(ValueError, match=r"Seeds \[2\] lack the unconstrained"):
        compare_values(bare, "road", "normalisation")
    same = rows[rows["normalisation"] != "global"]
    with pytest.raises(ValueError, match="nothing to compare"):
        compare_values(same, "road", "normalisation")


def test_undefined_seeds_do_not_enter_an_interval():
    found = seed_interval([0.1, np.nan, 0.4, 0.3], confidence=0.9)
    ends = ttest_1samp([0.1, 0.4, 0.3], 0).confidence_interval(0.9)
    assert np.allclose(found, [0.8 / 3, ends.low, ends.high])
    assert np.isnan(seed_interval([0.1, np.nan])[1:]).all()
    assert np.isnan(seed_interval([np.nan])[0])
