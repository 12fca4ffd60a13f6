"""A decision rule is the share, the cost or the threshold that was asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.scored import DecisionRule


@given(st.integers(0, 10_000), st.sampled_from(["top 20", "top 83", "as_many"]))
def test_a_share_is_met_as_nearly_as_ties_allow(seed, text):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    scores = rng.integers(0, 12, n) / 12
    y = rng.integers(0, 2, n)
    weight = rng.random(n) + 0.1
    rule = DecisionRule.of(text)
    share = rng.random()
    at = rule.threshold(scores, y, base_rate=share, sample_weight=weight)
    wanted = share if text == "as_many" else rule.amount / 100
    reached = weight[scores > at].sum() / weight.sum()
    rates = [weight[scores > cut].sum() / weight.sum() for cut in (-1, *scores)]
    assert abs(reached - wanted) == pytest.approx(min(abs(np.array(rates) - wanted)))


@given(st.integers(0, 10_000), st.sampled_from([0.2, 1.0, 5.0]))
def test_costs_are_least_among_all_thresholds(seed, ratio):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 9, 40) / 9
    y = rng.integers(0, 2, 40)
    at = DecisionRule("costs", ratio).threshold(scores, y, base_rate=0.5)

    def cost(cut):
        decided = scores > cut
        return ratio * (decided & (y == 0)).sum() + (~decided & (y == 1)).sum()

    assert cost(at) == pytest.approx(min(cost(cut) for cut in (-1, *scores)))


@pytest.mark.parametrize("text", ["above", "top 0", "top 100", "costs -1", "top x"])
def test_what_is_no_rule_is_refused_with_what_would_be(text):
    with pytest.raises(ValueError, match=f"'{text}' is no decision rule"):
        DecisionRule.of(text)


@given(st.floats(-1e300, 1e300))
def test_the_text_of_a_rule_is_read_as_the_same_rule(value):
    rule = DecisionRule("custom", value)
    assert DecisionRule.of(rule.text) == rule


@pytest.mark.parametrize(
    "value, text", [(20.0, "20"), (12.5, "12.5"), (1e6, "1e+06"), (1e-5, "1e-05")]
)
def test_a_short_value_is_written_as_before(value, text):
    assert DecisionRule("costs", value).text == f"costs {text}"
