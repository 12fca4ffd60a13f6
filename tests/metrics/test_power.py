"""What a number of rows can show is what simulated tables show."""

import numpy as np
import pytest
from scipy.stats import norm

from fairdash.metrics import base_rates, gap_power, plan_rows


def seen(gap, rate, n, rng, times=4000):
    """Return the share of tables in which a test of two shares sees the gap."""
    n = np.asarray(n)
    rates = rate, rate + gap if rate < 0.5 else rate - gap
    k = rng.binomial(n[:, None], np.array(rates)[:, None], (2, times))
    joint = k.sum(0) / n.sum()
    error = np.sqrt(joint * (1 - joint) * (1 / n).sum())
    z = np.abs(k[0] / n[0] - k[1] / n[1]) / np.where(error > 0, error, np.inf)
    return np.mean(z > norm.ppf(0.975))


@pytest.mark.parametrize(
    "gap, rate, n",
    [(0.1, 0.3, (400, 300)), (0.2, 0.8, (60, 150)), (0.05, 0.5, (900, 900))],
)
def test_power_is_that_of_simulated_tables(gap, rate, n):
    share = seen(gap, rate, n, np.random.default_rng(0))
    assert gap_power(gap, rate, n) == pytest.approx(share, abs=0.03)


def test_a_plan_says_what_is_seen_in_four_of_five_tables():
    rng = np.random.default_rng(1)
    subgroup = np.repeat(["big", "small", "one"], [4000, 600, 100])
    group = np.where(subgroup == "one", "a", rng.choice(["a", "b"], 4700, p=[0.7, 0.3]))
    y = (rng.random(4700) < np.where(subgroup == "big", 0.3, 0.7)).astype(int)
    rates = base_rates(y, sensitive_features=group, subgroups=subgroup, min_size=20)
    plan = plan_rows(rates, 0.1, share=0.5).set_index("subgroup")
    assert plan["n"].to_dict() == {"big": 2000, "small": 300, "one": 50}
    for name in ("big", "small"):
        inside = subgroup == name
        n = np.array([np.sum(inside & (group == s)) for s in "ba"])
        assert plan.loc[name, "smallest"] == round(n[0] / 2)
        rate = y[inside].mean()
        visible, needed = plan.loc[name, ["visible", "needed"]]
        half = np.round(n / 2).astype(int)
        assert seen(visible, rate, half, rng) == pytest.approx(0.8, abs=0.03)
        scaled = np.round(n / 2 * needed / inside.sum()).astype(int)
        assert seen(0.1, rate, scaled, rng) == pytest.approx(0.8, abs=0.03)
    assert np.isnan(plan.loc["one", ["visible", "needed"]].astype(float)).all()
    with pytest.raises(ValueError, match="`gap` must lie between 0 and 1"):
        plan_rows(rates, 0.0)
