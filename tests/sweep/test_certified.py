"""The choice with a guarantee: exact p-values, and how often it is wrong."""

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from fairdash.metrics import measure_by_group
from fairdash.sweep import Part, choose_certified
from fairdash.sweep._certified import _SET, COLUMNS, gap_p_value

LIMIT = {"demographic_parity_difference": 0.1}


def counts(rates, n, rng, gap=None):
    """Return the table of models with these rates of two groups."""
    rows = []
    for model, (item, other_rate) in enumerate(rates):
        for group, rate in enumerate((item, other_rate)):
            far = abs(item - other_rate) if gap is None else gap[model]
            drawn = rng.binomial(n, rate)
            rows.append((model, 0.6 + 0.01 * model, far, "", group, n, drawn))
    return pd.DataFrame(rows, columns=COLUMNS)


@examples(25)
@given(st.integers(2, 14), st.integers(2, 14), st.floats(0.05, 0.4), st.data())
def test_the_p_value_is_the_largest_chance_on_the_border(n1, n0, limit, data):
    x1 = data.draw(st.integers(0, n1))
    x0 = data.draw(st.integers(0, n0))
    first, second = np.mgrid[: n1 + 1, : n0 + 1]
    extreme = first / n1 - second / n0 <= x1 / n1 - x0 / n0 + 1e-12
    rates = np.linspace(0, 1 - limit, 1501)[:, None]
    chance = binom.pmf(np.arange(n1 + 1), n1, rates + limit)
    other_chance = binom.pmf(np.arange(n0 + 1), n0, rates)
    chances = np.einsum("ri,rj,ij->r", chance, other_chance, extreme)
    # at a rate outside, as few or as many positives are less likely than that
    tails = np.minimum(binom.cdf(x0, n0, rates), binom.sf(x0 - 1, n0, rates))
    chances = chances[tails[:, 0] >= _SET / 2]
    expected = min(1, chances.max(initial=0) + _SET)
    assert gap_p_value((x1, x0), (n1, n0), limit) == pytest.approx(expected, abs=2e-3)


def test_error_costs_on_the_border_are_certified_as_seldom_as_stated_exactly():
    """Costs of 1, 1/3 and 0 by enumeration of every pair of tables of twelve rows."""
    n = 12
    limit = 0.4
    name = "error_cost_difference 3:1"
    amounts = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)])
    of_all = np.column_stack([amounts, n - amounts.sum(1)])
    cost = (amounts @ [1, 1 / 3]).round().astype(int)
    first_cost, second_cost = np.meshgrid(cost, cost, indexing="ij")
    passed = np.zeros((n + 1, n + 1), bool)
    for x1 in range(n + 1):
        for x0 in range(n + 1):
            pairs = ((x1, x0), (n, n)), ((x0, x1), (n, n))
            p_value = max(gap_p_value(*pair, limit / 1.5) for pair in pairs)
            passed[x1, x0] = p_value <= 0.05
    for of_one, of_other in (
        ((limit / 1.5, 0.0), (0.0, 0.0)),
        ((limit / 1.5, 0.6), (0.0, 0.6)),
        ((0.1, 3 * (limit / 1.5 - 0.1)), (0.0, 0.0)),
    ):
        drawn = [
            multinomial.pmf(of_all, n, [*shares, 1 - sum(shares)])
            for shares in (of_one, of_other)
        ]
        assert (np.outer(*drawn) * passed[first_cost, second_cost]).sum() <= 0.05
    rng = np.random.default_rng(0)
    y, decided = rng.integers(0, 2, (2, 4000))
    group = np.arange(4000) % 2
    wrong = Part(y, group, {}).tested(decided, "error_cost 3:1").set_index("group")
    costs = measure_by_group("error_cost 3:1", y, decided, sensitive_features=group)
    shares = wrong["positives"] / wrong["n"]
    assert np.allclose(1.5 * shares, costs["value"])
    table = wrong.reset_index().assign(model="m", accuracy=0.5, gap=0.0)
    assert choose_certified(table, limits={name: 0.2}).model == "m"
    weighted = Part(y, group, {}, np.where(decided, 2.0, 1.0), np.arange(4000) // 2)
    assert np.allclose(
        1.5 * weighted.tested(decided, "error_cost 3:1")["rate"],
        measure_by_group(
            "error_cost 3:1", y, decided, sensitive_features=group,
            sample_weight=weighted.sample_weight,
        )["value"],
    )  # fmt: skip


def test_groups_recorded_wrongly_widen_every_gap_as_far_as_they_can():
    n = 20_000
    share = 0.03
    table = counts([(0.42, 0.4)], n, np.random.default_rng(3))
    table = table.assign(positives=[8400, 8000])
    exchanged = round(share * n)  # rows of each that are the worst ones for it
    worst = (8400 + exchanged) / n - (8000 - exchanged) / n
    for limit, certified in ((worst + 0.015, True), (worst - 0.001, False)):
        limits = {"demographic_parity_difference": limit}
        choice = choose_certified(table, limits=limits, wrong_groups=share)
        assert (choice.model == 0) == certified
    assert choice.rows_needed == np.inf
    with pytest.raises(ValueError, match="`wrong_groups` must lie"):
        choose_certified(table, limits=limits, wrong_groups=1.0)


def test_a_limit_that_does_not_hold_is_certified_as_seldom_as_stated(times):
    rng = np.random.default_rng(0)
    wrong = 0
    n_tables = times(50)
    for _ in range(n_tables):
        rate = rng.uniform(0.1, 0.7)
        # the first is fair and all but always certified; a later one is wrong
        gaps = np.array([0.0, 0.1, 0.12])
        rates = [(rate + gap, rate) for gap in gaps]
        choice = choose_certified(counts(rates, 400, rng), limits=LIMIT, confidence=0.9)
        wrong += choice.model is not None and choice.model >= 1
    assert wrong / n_tables <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / n_tables)


def test_with_rows_enough_the_most_accurate_fair_model_is_chosen():
    rng = np.random.default_rng(1)
    rates = [(0.4, 0.4), (0.43, 0.4), (0.45, 0.4), (0.6, 0.4)]
    choice = choose_certified(counts(rates, 20_000, rng), limits=LIMIT)
    assert choice.model == 2
    assert choice.tested["certified"].tolist() == [True, True, True, False]
    assert choice.rows_needed == 0
    assert (choice.tested["p_value"][:3] <= 0.05).all()


def test_too_few_rows_are_answered_with_how_many_more_it_takes():
    rng = np.random.default_rng(2)
    few = counts([(0.4, 0.4)], 50, rng).assign(positives=20)
    choice = choose_certified(few, limits=LIMIT)
    assert choice.model is None
    assert 100 < choice.rows_needed < 2_000
    n = 50 + round(choice.rows_needed / 2) + 1
    enough = few.assign(n=n, positives=round(0.4 * n))
    assert choose_certified(enough, limits=LIMIT).model == 0
    unfair = few.assign(positives=[20, 40])
    assert choose_certified(unfair, limits=LIMIT).rows_needed == np.inf


def test_with_as_many_more_rows_a_model_is_certified_in_four_of_five_tables(times):
    rng = np.random.default_rng(3)
    few = counts([(0.44, 0.4)], 300, rng).assign(positives=[132, 120])
    needed = choose_certified(few, limits=LIMIT).rows_needed
    assert needed > 0
    n = 300 + round(needed / 2)
    certified = [
        choose_certified(counts([(0.44, 0.4)], n, rng), limits=LIMIT).model == 0
        for _ in range(times(200, 0.15))
    ]
    assert 0.72 <= np.mean(certified) <= 0.9


def test_a_limit_inside_subgroups_is_not_certified_by_all_rows_alone():
    fair = counts([(0.4, 0.4)], 20_000, np.random.default_rng(5))
    two = LIMIT | {"worst_1_di": 0.1}
    with pytest.raises(ValueError, match="'worst_1_di' is tested inside"):
        choose_certified(fair, limits=two)
    inside = pd.concat([fair, fair.assign(subgroup="young")])
    assert choose_certified(inside, limits=two).model == 0
    with pytest.raises(ValueError, match="is tested over all"):
        choose_certified(fair.assign(subgroup="young"), limits=two)
    assert choose_certified(fair[:0], limits=two).model is None


def test_what_does_not_fit_is_refused():
    table = counts([(0.4, 0.4)], 50, np.random.default_rng(0))
    for wrong, message in (
        ({"limits": {}}, "`limits` must name"),
        ({"limits": {"accuracy": 0.5}}, "`limits` must name"),
        ({"limits": {"worst_1_di": 1.5}}, "`worst_1_di` must lie"),
        ({"limits": LIMIT, "confidence": 1.0}, "`confidence` must lie"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_certified(table, **wrong)
    with pytest.raises(ValueError, match="no columns \\['positives'\\]"):
        choose_certified(table.drop(columns="positives"), limits=LIMIT)
    with pytest.raises(ValueError, match="`n` must be at least 1"):
        choose_certified(table.assign(n=0), limits=LIMIT)


def test_a_column_may_have_the_name_of_a_method_of_a_sweep():
    table = counts([(0.4, 0.4)], 4_000, np.random.default_rng(0))
    plain = choose_certified(table, limits=LIMIT)
    named = choose_certified(table.assign(certification_table=1), limits=LIMIT)
    assert plain.model == 0
    assert named.model == plain.model
