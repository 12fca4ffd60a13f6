"""What a sweep found against plain recomputations."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st

from fairdash.sweep import PARITY, SweepResult

WEIGHTS = (0.5, 1.0, 2.0, 3.0, 4.0)
TAUS = (0.1, 0.6)
SEEDS = (0, 1, 2)


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
    return SweepResult.of(rows)


def test_only_methods_with_several_settings_can_be_slid_through(sweep):
    assert sweep.methods == ["adversarial", "road"]
    assert sweep.axes("road") == {"fairness_weight": list(WEIGHTS), "tau": list(TAUS)}
    assert sweep.axes("adversarial") == {"fairness_weight": list(WEIGHTS)}
    assert sweep.n_seeds == 3


def test_the_best_setting_keeps_both_limits_on_validation_rows(sweep):
    place = sweep.best({PARITY: 0.1, "worst_1_di": 0.25})
    chosen = sweep.means.iloc[place]
    within_limit = sweep.means[
        (sweep.means[f"validation_{PARITY}"] <= 0.1)
        & (sweep.means["validation_worst_1_di"] <= 0.25)
    ]
    assert chosen["validation_accuracy"] == within_limit["validation_accuracy"].max()
    assert sweep.best({"worst_1_di": 0.0}) is None
    assert sweep.means["method"][sweep.start(0.1, "adversarial")] == "adversarial"


def test_of_several_starts_of_an_earlier_version_the_first_counts(sweep):
    again = sweep.rows.assign(initialisation=1.0, test_accuracy=0.1)
    rows = pd.concat(
        [sweep.rows.assign(initialisation=np.nan), again], ignore_index=True
    )
    combined = SweepResult.of(rows)
    pd.testing.assert_frame_equal(combined.means, sweep.means)


def test_models_that_do_not_decide_keep_no_limit_and_are_on_no_front(sweep):
    axes = ("worst_1_di", "accuracy")
    best = sweep.best({})
    rows = sweep.rows.copy()
    rows["validation_constant"] = 0.0
    rows["test_constant"] = 0.0
    mine = sweep.place_of_row == best
    rows.loc[mine & (rows["seed"] < 2), "validation_constant"] = 1.0
    marked = SweepResult.of(rows)
    assert marked.best({}) not in (best, None)
    points = marked.points(axes, 9.0)
    assert points.index[points["constant"]].tolist() == [best]
    assert not points.loc[best, ["within", "within_test", "front", "line"]].any()
    assert points.drop(best)[["within", "within_test"]].all(axis=None)
    rows.loc[mine, "validation_constant"] = [1.0, 0.0, 0.0]  # of one seed of three
    assert SweepResult.of(rows).best({}) == best
    rows["validation_constant"] = 1.0
    none = SweepResult.of(rows)
    assert none.best({}) is None
    assert none.fairest() is None
    assert none.means["method"][none.start(0.1)] == "unconstrained"
    assert none.means["method"][none.start(0.1, "road")] == "road"
    bare = SweepResult.of(rows[rows["method"] != "unconstrained"])
    assert bare.start(0.1) == 0
    assert not none.points(axes, 9.0)["front"].any()


@examples(25)
@given(st.data())
def test_fronts_and_limits_are_those_of_a_plain_recomputation(data):
    share = st.integers(0, 8).map(lambda value: value / 8)
    n = data.draw(st.integers(2, 8))
    names = [
        f"{part}_{metric}"
        for part in ("validation", "test")
        for metric in ("accuracy", PARITY, "worst_1_di", "constant")
    ]
    values = data.draw(
        st.lists(st.tuples(*[share] * len(names)), min_size=n, max_size=n)
    )
    rows = pd.DataFrame(values, columns=names)
    for part in ("validation", "test"):
        rows[f"{part}_constant"] = (rows[f"{part}_constant"] > 0.8).astype(float)
    rows = rows.assign(
        key=[str(i) for i in range(n)],
        method="road",
        seed=0,
        fairness_weight=np.arange(n) / 2,
    )
    limit = data.draw(share)
    points = SweepResult.of(rows).points(("worst_1_di", "accuracy"), limit)
    able = rows["validation_constant"] == 0
    keeps = able & (rows[f"validation_{PARITY}"] <= limit)
    assert points["within"].tolist() == keeps.tolist()
    on_test = able & (rows[f"test_{PARITY}"] <= limit)
    assert points["within_test"].tolist() == on_test.tolist()
    gap, gain = (rows[f"validation_{metric}"] for metric in ("worst_1_di", "accuracy"))
    for i in range(n):
        beaten = any(
            keeps[j]
            and gap[j] <= gap[i]
            and gain[j] >= gain[i]
            and (gap[j] < gap[i] or gain[j] > gain[i])
            for j in range(n)
        )
        assert points["front"][i] == (keeps[i] and not beaten)


def test_a_front_of_local_gaps_is_chosen_by_the_ranking_where_all_models_have_it(sweep):
    axes = ("worst_1_di", "accuracy")
    on_validation = sweep.points(axes, 1.0)["front"]
    assert "validation rows" in sweep.ranking_words("worst_1_di")
    ranking = 1.0 - sweep.rows["validation_accuracy"]  # the most accurate is fairest
    ranked = SweepResult.of(sweep.rows.assign(ranking_local_gap=ranking))
    front = ranked.points(axes, 1.0)
    best = ranked.means.groupby("method")["validation_accuracy"].idxmax()
    assert sorted(np.flatnonzero(front["front"])) == sorted(best)
    assert "root mean square" in ranked.ranking_words("worst_1_di")
    assert ranked.fairest(metric="worst_1_di") in best.to_list()
    some = sweep.rows.assign(ranking_local_gap=ranking.where(sweep.rows["seed"] > 0))
    pd.testing.assert_series_equal(
        SweepResult.of(some).points(axes, 1.0)["front"], on_validation
    )
