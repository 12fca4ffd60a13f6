import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.sweep import mean_over_seeds, pareto_front, select
from fairdash.sweep._front import is_gain, within
from fairdash.sweep._seeds import param_columns

GAP, ACCURACY = AXES = ("test_worst_1_di", "test_accuracy")
PARITY = "test_demographic_parity_difference"
coarse = st.integers(0, 6).map(lambda value: value / 8)  # ties are the hard part
point = st.tuples(st.one_of(coarse, st.just(np.nan)), coarse, coarse)


def models(points):
    return pd.DataFrame(points, columns=[*AXES, PARITY], dtype=float)


def dominated(rows, i):
    me = rows.iloc[i]
    better = [
        (other_row[GAP] < me[GAP] and other_row[ACCURACY] >= me[ACCURACY])
        or (other_row[GAP] <= me[GAP] and other_row[ACCURACY] > me[ACCURACY])
        for _, other_row in rows.iterrows()
    ]
    return any(better)


@examples(40)
@given(st.lists(point, max_size=14))
def test_the_front_is_what_no_model_within_the_limits_dominates(points):
    rows = models(points)
    front = pareto_front(rows, limits={PARITY: 0.4})
    allowed = rows[(rows[PARITY] <= 0.4) & rows[GAP].notna()]
    expected = [
        allowed.index[i] for i in range(len(allowed)) if not dominated(allowed, i)
    ]
    assert sorted(front.index) == sorted(expected)
    assert front[GAP].is_monotonic_increasing
    assert front[ACCURACY].is_monotonic_increasing


def test_the_direction_of_a_metric_follows_from_its_name():
    assert is_gain("test_auc")
    assert is_gain("accuracy")
    assert not is_gain("validation_log_loss")
    rows = pd.DataFrame({"test_auc": [0.7, 0.8], "test_accuracy": [0.6, 0.5]})
    assert len(pareto_front(rows, axes=("test_auc", "test_accuracy"))) == 2
    assert within(rows, {"test_auc": 0.75}).tolist() == [False, True]


LIMITS = {"demographic_parity_difference": 0.4, "worst_1_di": 0.5}
COLUMNS = [
    "validation_accuracy",
    "validation_demographic_parity_difference",
    "validation_worst_1_di",
    "test_accuracy",
]


@examples(40)
@given(st.lists(st.tuples(coarse, coarse, coarse, coarse), max_size=12))
def test_the_choice_is_the_most_accurate_that_keeps_limits_on_validation_rows(points):
    rows = pd.DataFrame(points, columns=COLUMNS, dtype=float)
    allowed = [p for p in points if p[1] <= 0.4 and p[2] <= 0.5]
    chosen = select(rows, limits=LIMITS)
    if not allowed:
        assert chosen is None
    else:
        assert chosen["validation_accuracy"] == max(p[0] for p in allowed)
        assert tuple(chosen) in allowed


def test_test_rows_have_no_part_in_the_choice():
    rows = pd.DataFrame(
        {"validation_accuracy": [0.6, 0.7], "test_accuracy": [0.9, 0.5]}
    )
    assert select(rows)["test_accuracy"] == 0.5
    rows["test_accuracy"] = [0.5, 0.9]
    assert select(rows).name == 1


def test_an_undefined_gap_keeps_no_limit_and_a_loss_is_best_small():
    rows = pd.DataFrame(
        {
            "validation_accuracy": [0.9, 0.6],
            "validation_worst_1_di": [np.nan, 0.1],
            "validation_log_loss": [0.7, 0.3],
        }
    )
    assert select(rows, limits={"worst_1_di": 0.5}).name == 1
    assert select(rows, best="log_loss").name == 1
    with pytest.raises(ValueError, match="validation_beauty"):
        select(rows, best="beauty")


def test_settings_are_averaged_over_seeds_and_methods_kept_apart():
    rows = pd.DataFrame(
        {
            "key": list("abcd"),
            "method": ["road", "road", "broad", "road"],
            "seed": [0, 1, 0, 0],
            "tau": [0.1, 0.1, 0.1, np.nan],
            "seconds": 1.0,
            "test_accuracy": [0.6, 0.8, 0.5, 0.9],
        }
    )
    assert param_columns(rows) == ["tau"]
    means = mean_over_seeds(rows)
    assert means["method"].tolist() == ["road", "broad", "road"]
    assert means["test_accuracy"].tolist() == pytest.approx([0.7, 0.5, 0.9])
    assert means["n_seeds"].tolist() == [2, 1, 1]
    assert means["test_accuracy_sd"].iloc[0] == pytest.approx(
        np.std([0.6, 0.8], ddof=1)
    )


def test_further_folds_have_other_rows_and_are_not_compared():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"method": "road", "tau": np.tile([0.1, 0.3, 1.0], 4)})
    rows["seed"] = np.repeat(range(4), 3)
    for name in ("validation_accuracy", "test_accuracy"):
        rows[name] = rng.uniform(0.6, 0.8, len(rows))
    turned = {name: 1 - rows[name] for name in rows if "accuracy" in name}
    folds = [rows.assign(fold=np.nan), rows.assign(fold=1.0, **turned)]
    crossed = pd.concat(folds, ignore_index=True)
    pd.testing.assert_frame_equal(mean_over_seeds(crossed), mean_over_seeds(rows))
