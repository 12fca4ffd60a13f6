"""Weights by subgroup, by epoch, and their correlation with local DI."""

import numpy as np
import pandas as pd
import pytest

from fairdash._counts import RowCounts
from fairdash.metrics import intervals, local_di, weights

FRAME = pd.DataFrame(
    {
        "sex": ["Female", "Male"] * 50,
        "age": np.repeat(np.arange(20, 70), 2),
        "income": np.linspace(0.5, 9.5, 100),
        "member": [True, False, False, False] * 25,
        "region": ["north", None, "south", "south"] * 25,
    }
)


@pytest.fixture
def ratio(rows):
    """Weights that are large where the rows' own subgroup is young."""
    draw = np.random.default_rng(0).exponential(size=len(rows.y))
    return draw + 2 * (rows.subgroup == "young").to_numpy()


def test_effective_rows_are_all_rows_only_for_equal_weights():
    assert weights.effective_rows(np.full(7, 3.0)) == pytest.approx(7)
    assert weights.effective_rows([1, 0, 0, 0]) == pytest.approx(1)
    assert weights.effective_rows([1, 3]) == pytest.approx(16 / 10)


def test_mean_weight_stands_beside_local_di(rows, ratio):
    table = weights.ratio_by_subgroup(ratio, rows.y_pred[0], **rows.where)
    plain = local_di(rows.y_pred[0], **rows.where)
    assert table[plain.columns].equals(plain)
    for _, row in table.iterrows():
        inside = ratio[(rows.subgroup == row["subgroup"]).to_numpy()]
        half = 1.959964 * inside.std(ddof=1) / np.sqrt(len(inside))
        assert row["mean_ratio"] == pytest.approx(inside.mean())
        assert row["ratio_high"] - row["mean_ratio"] == pytest.approx(half)


def test_correlation_is_pearsons_over_estimable_subgroups(rows, ratio):
    related = weights.ratio_correlation(ratio, rows.y_pred[0], **rows.where)
    table = weights.ratio_by_subgroup(ratio, rows.y_pred[0], **rows.where).query(
        "estimable"
    )
    expected = np.corrcoef(table["local_di"], table["mean_ratio"])[0, 1]
    assert related.value == pytest.approx(expected)
    assert related.n_subgroups == 3
    line = np.polyfit(table["local_di"], table["mean_ratio"], 1)
    assert (related.slope, related.intercept) == pytest.approx(tuple(line))
    # three equal rows of a person say no more than one
    again = np.repeat(np.arange(len(ratio)), 3)
    results = []
    for of, unit in ((np.arange(len(ratio)), None), (again, again)):
        arguments = {k: np.asarray(part)[of] for k, part in rows.where.items()}
        arguments |= {"cluster": unit, "min_size": 1}
        weighed = ratio[of], rows.y_pred[0][of]
        means = weights.ratio_by_subgroup(*weighed, **arguments).set_index("subgroup")
        results.append(means["ratio_low"].sort_index().tolist())
    assert results[0] == pytest.approx(results[1])


def test_a_subgroup_that_lacks_one_of_three_groups_is_a_dot_like_others():
    rng = np.random.default_rng(4)
    subgroup = np.repeat(["a", "b", "c", "d"], 150)
    group = np.where(subgroup == "d", rng.integers(0, 2, 600), rng.integers(0, 3, 600))
    decided = rng.integers(0, 2, 600)
    rows = {"sensitive_features": group, "subgroups": subgroup}
    ratio = rng.exponential(size=600)
    table = weights.ratio_by_subgroup(ratio, decided, **rows)
    assert table["estimable"].all()
    related = weights.ratio_correlation(ratio, decided, **rows)
    expected = np.corrcoef(table["local_di"], table["mean_ratio"])[0, 1]
    assert related.value == pytest.approx(expected)
    assert related == weights.correlation_of(table)


def test_correlation_of_two_subgroups_or_of_equal_weights_is_undefined(rows, ratio):
    pair = rows.subgroup.where(rows.subgroup.isin(["young", "old"]))
    pair_of = {"sensitive_features": rows.group, "subgroups": pair}
    two = weights.ratio_correlation(ratio, rows.y_pred[0], **pair_of)
    assert np.isnan(two.value)
    assert two.n_subgroups == 2
    ones = np.ones(len(rows.y))
    flat = weights.ratio_correlation(ones, rows.y_pred[0], **rows.where)
    assert np.isnan(flat.value)


def test_correlation_counts_a_row_as_often_as_it_weighs(rows, ratio):
    times = np.random.default_rng(0).integers(1, 4, len(ratio))
    index = np.repeat(np.arange(len(ratio)), times)
    labels = {name: np.asarray(part) for name, part in rows.where.items()}
    labels["min_size"] = 1
    weighed = weights.ratio_correlation(
        ratio, rows.y_pred[0], **labels, sample_weight=times
    )
    labels = {k: v if k == "min_size" else v[index] for k, v in labels.items()}
    repeated = weights.ratio_correlation(ratio[index], rows.y_pred[0][index], **labels)
    assert weighed == pytest.approx(repeated)
    assert weighed != weights.ratio_correlation(
        ratio, rows.y_pred[0], **rows.where | {"min_size": 1}
    )


def test_the_top_rows_are_the_largest_in_falling_order():
    assert weights.top_rows([0.1, 3.0, 2.0, 3.0], 0.5).rows.tolist() == [1, 3]
    assert weights.top_rows(np.arange(200), 0.001).rows.tolist() == [199]
    with pytest.raises(ValueError, match="`share` must lie in"):
        weights.top_rows([1.0], 0)


def test_a_trait_is_a_share_among_the_top_against_all():
    top = np.arange(0, 10, 2)  # five women among the youngest
    table = weights.traits(FRAME, top).set_index("column")
    sex = table.loc["sex"]
    assert (sex["trait"], sex["share_all"], sex["share_top"]) == ("sex Female", 0.5, 1)
    assert sex["lift"] == 2
    n_values = 2 + 4 + 4 + 2 + 3  # sex, quarters of age and income, member, region
    low, high = intervals.wilson_interval(5, 5, confidence=1 - 0.05 / n_values)
    assert (sex["ci_low"], sex["ci_high"]) == (low, high)
    assert table.loc["age", "trait"] == "age 20–32"
    assert table.loc["member", "trait"] == "member = 1"
    gain = table["share_top"] - table["share_all"]
    assert gain.is_monotonic_decreasing


def test_of_rows_drawn_at_random_few_have_a_trait_beyond_its_interval(times):
    rng = np.random.default_rng(2)
    claimed = 0
    n_tables = times(40)
    for _ in range(n_tables):
        columns = {f"c{i}": rng.choice(list("abcd"), 1000) for i in range(8)}
        table = weights.traits(
            pd.DataFrame(columns), rng.choice(1000, 100, replace=False)
        )
        claimed += (table["ci_low"] > table["share_all"]).any()
    assert claimed <= 0.1 * n_tables


def test_the_heaviest_of_counts_are_those_of_repeated_rows(ratio):
    times = np.random.default_rng(1).integers(0, 5, len(FRAME))
    counts = RowCounts.of("n", times)
    index = np.repeat(np.arange(len(FRAME)), times)
    ratio = ratio[: len(FRAME)].round(1)  # with ties
    people = FRAME.iloc[index].reset_index(drop=True)
    assert weights.effective_rows(ratio, times) == pytest.approx(
        weights.effective_rows(ratio[index])
    )
    for share in (0.001, 0.1, 0.37, 1):
        of_counts = weights.top_rows(ratio, share, times)
        of_people = weights.top_rows(ratio[index], share)
        assert of_counts.n == of_people.n == len(of_people.rows)
        repeated = np.repeat(of_counts.rows, of_counts.people.astype(int))
        assert index[of_people.rows].tolist() == repeated.tolist()
        pd.testing.assert_frame_equal(
            weights.traits(FRAME, of_counts, sample_weight=counts),
            weights.traits(people, of_people),
        )
