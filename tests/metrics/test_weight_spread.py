"""How weights spread: counted again, and BROAD's formula at other temperatures."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import WeightSpread, weight_spread

HOSTILE = ("", "step", "<b>#000001</b>", "share", "q50")


def rows(n=400, seed=0):
    """Return weights of two steps, groups and subgroups with hostile names."""
    rng = np.random.default_rng(seed)
    ratio = np.exp(rng.normal(0, [[0.5], [2.0]], (2, n)))
    group = rng.choice(["Female", HOSTILE[2]], n)
    subgroup = pd.Series(rng.choice(["old", "step", "q50"], n)).astype("category")
    subgroup[rng.random(n) < 0.1] = np.nan
    return ratio, group, subgroup


def spread_of(ratio, group, subgroup, steps=(3, 9)):
    return WeightSpread.of(
        ratio, steps=steps, sensitive_features=group, subgroups=subgroup
    )


def test_quantiles_are_those_of_pandas_in_every_cell():
    ratio, group, subgroup = rows()
    table = spread_of(ratio, group, subgroup).quantile_table()
    assert len(table) == 2 * (3 + 1) * 2
    for row in table.to_dict("records"):
        inside = group == row["group"]
        if row["subgroup"]:
            inside &= (subgroup == row["subgroup"]).to_numpy()
        weights = pd.Series(ratio[[3, 9].index(row["step"])][inside])
        expected = weights.quantile(list(weight_spread.LEVELS))
        quantiles = [row[name] for name in weight_spread.QUANTILES]
        assert quantiles == pytest.approx(expected.tolist(), rel=1e-5)
        assert row["n"] == inside.sum()


def test_a_density_counts_every_row_of_a_group_once():
    ratio, group, subgroup = rows()
    ratio[1, :3] = 0, 1e-9, 5e4  # beyond both ends
    table = spread_of(ratio, group, subgroup).density_table()
    for (step, name), part in table.groupby(["step", "group"]):
        weights = ratio[[3, 9].index(step)][group == name]
        middle = part[(part["low"] >= 0.5) & (part["high"] <= 1.3)]
        low = middle["low"].min()
        high = middle["high"].max()
        inside = ((weights >= low) & (weights < high)).mean()
        assert part["share"].sum() == pytest.approx(1)
        assert middle["share"].sum() == pytest.approx(inside)


def test_a_cell_of_one_row_has_no_quantiles():
    group = np.array(["a", "b", "b", "b"])
    subgroup = ["x", "x", "x", "y"]
    table = spread_of(np.ones((1, 4)), group, subgroup, steps=[0]).quantile_table()
    cells = table.set_index(["subgroup", "group"])
    assert np.isnan(cells.loc[("x", "a"), "q50"])
    assert np.isnan(cells.loc[("y", "b"), "q50"])
    assert cells.loc[("y", "a"), "n"] == 0
    assert cells.loc[("x", "b"), "q50"] == 1


def test_a_spread_of_counts_is_that_of_repeated_rows():
    ratio, group, subgroup = rows()
    times = np.random.default_rng(1).integers(0, 4, len(group))
    index = np.repeat(np.arange(len(group)), times)
    steps = {"steps": (3, 9), "sensitive_features": group, "subgroups": subgroup}
    from_counts = WeightSpread.of(ratio, people=times, **steps)
    from_rows = spread_of(ratio[:, index], group[index], subgroup.iloc[index])
    tables = from_counts.quantile_table(), from_rows.quantile_table()
    pd.testing.assert_frame_equal(*tables, rtol=1e-6)
    pd.testing.assert_frame_equal(
        from_counts.density_table(), from_rows.density_table()
    )
    for step in ratio:
        half = weight_spread.rows_with_half(step, times)
        assert half == pytest.approx(weight_spread.rows_with_half(step[index]))


def test_half_precision_keeps_weights_within_a_thousandth():
    ratio, group, subgroup = rows()
    spread = spread_of(ratio, group, subgroup)
    arrays = spread.arrays()
    assert arrays["quantiles"].dtype == arrays["density"].dtype == np.float16
    again = WeightSpread.from_arrays(
        arrays, subgroups=spread.subgroups[1:], groups=spread.groups
    )
    np.testing.assert_allclose(again.quantiles, spread.quantiles, rtol=1e-3)
    np.testing.assert_allclose(again.density, spread.density, atol=5e-4)
    with pytest.raises(ValueError, match="not those of these subgroups"):
        WeightSpread.from_arrays(arrays, subgroups=["other"], groups=spread.groups)


def test_weights_are_refused_where_they_are_no_weights():
    _, group, subgroup = rows()
    with pytest.raises(ValueError, match="not negative"):
        spread_of(np.full((1, 400), -1.0), group, subgroup, steps=[0])


def test_half_of_equal_weights_lies_on_half_of_the_rows():
    assert weight_spread.rows_with_half(np.ones(100)) == 0.5
    assert weight_spread.rows_with_half([98, 1, 1]) == pytest.approx(1 / 3)


def by_hand(loss, tau, group):
    """Return the formula of BROAD as it stands, in the longest floats."""
    raised = np.exp(-(loss - loss.min()).astype(np.longdouble) / tau)
    result = np.empty(len(loss), np.longdouble)
    for name in np.unique(group):
        of_group = group == name
        result[of_group] = raised[of_group] * of_group.sum() / raised[of_group].sum()
    return result.astype(float)


@given(
    st.integers(0, 10_000),
    st.floats(0.05, 2, exclude_min=True),
    st.floats(0.05, 2, exclude_min=True),
)
def test_weights_at_another_tau_are_those_of_the_same_losses(seed, trained, tau):
    rng = np.random.default_rng(seed)
    loss = rng.uniform(0, 2, 60)
    group = rng.choice(["a", "b", "c"], 60)
    stored = by_hand(loss, trained, group).astype(np.float32)  # as an artifact has it
    weights = weight_spread.weights_at(
        stored, trained=trained, tau=tau, sensitive_features=group
    )
    # an error of 6e-8 of a stored weight is raised to trained / tau
    tolerance = 1e-6 * max(1, trained / tau)
    np.testing.assert_allclose(weights, by_hand(loss, tau, group), rtol=tolerance)
    direct = weight_spread.boltzmann_weights(loss, tau=tau, sensitive_features=group)
    np.testing.assert_allclose(direct, by_hand(loss, tau, group), rtol=1e-9)


def test_weights_of_counts_average_to_one_over_people():
    rng = np.random.default_rng(3)
    loss = rng.uniform(0, 2, 60)
    group = rng.choice(["a", "b"], 60)
    times = rng.integers(1, 5, 60)
    index = np.repeat(np.arange(60), times)
    from_counts = weight_spread.boltzmann_weights(
        loss, tau=0.3, sensitive_features=group, sample_weight=times
    )
    from_rows = by_hand(loss[index], 0.3, group[index])
    np.testing.assert_allclose(from_counts[index], from_rows, rtol=1e-9)


def test_without_groups_the_mean_is_one_over_all_rows():
    loss = np.random.default_rng(0).uniform(0, 1, 50)
    weights = weight_spread.boltzmann_weights(loss, tau=0.2, sensitive_features=None)
    np.testing.assert_allclose(weights, by_hand(loss, 0.2, np.zeros(50)), rtol=1e-9)


def test_losses_that_no_exponential_holds_and_temperatures_of_nothing():
    loss = np.array([1000.0, 1001.0, 5.0, 6.0])
    weights = weight_spread.boltzmann_weights(
        loss, tau=1e-3, sensitive_features=["a", "a", "b", "b"]
    )
    assert weights.tolist() == [2, 0, 2, 0]
    with pytest.raises(ValueError, match="`tau` must be a finite number > 0"):
        weight_spread.boltzmann_weights(loss, tau=0, sensitive_features=None)
