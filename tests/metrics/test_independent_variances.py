"""Standard errors against three other implementations: Taylor, jackknife, replicates.

One weighted, one clustered and one skewed table, and one that is all of these.
"""

import numpy as np
import pytest
from scipy.stats import t as student

from fairdash.metrics import Measured, evaluate, gap_change, measure_by_group

N_UNITS = 60


def table(*, weighted=False, clustered=False, skewed=False, seed=0):
    """Return values of rows, their weights and units."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, N_UNITS) if clustered else np.full(N_UNITS, 1)
    unit = np.repeat(np.arange(N_UNITS), sizes)
    shared = rng.normal(size=N_UNITS)[unit]
    values = shared + 0.5 * rng.normal(size=len(unit))
    values = np.exp(values) if skewed else (values > 0.2).astype(float)
    weight = rng.lognormal(0, 0.8, len(unit)) if weighted else np.ones(len(unit))
    return values, weight, unit


def taylor(values, weight, unit):
    """Return the linearised variance of a weighted mean, as R's `survey` has it."""
    mean = np.average(values, weights=weight)
    totals = np.zeros(N_UNITS)
    for place, value, mass in zip(unit, values, weight, strict=True):
        totals[place] += mass * (value - mean) / weight.sum()
    return N_UNITS / (N_UNITS - 1) * sum(total**2 for total in totals)


def jackknife(values, weight, unit):
    """Return the variance from means without one unit at a time (JKn)."""
    without = [
        np.average(values[unit != omitted], weights=weight[unit != omitted])
        for omitted in range(N_UNITS)
    ]
    return (N_UNITS - 1) / N_UNITS * np.sum((without - np.mean(without)) ** 2)


def replicates(values, weight, unit, times=4000):
    """Return the variance from replicate weights: units drawn again (Rao and Wu)."""
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(N_UNITS - 1, np.full(N_UNITS, 1 / N_UNITS), times)
    mass = weight * (drawn * N_UNITS / (N_UNITS - 1))[:, unit]
    means = mass @ values / mass.sum(axis=1)
    return means.var(ddof=1)


KINDS = {
    "weighted": {"weighted": True},
    "clustered": {"clustered": True},
    "skewed": {"skewed": True},
    "all": {"weighted": True, "clustered": True, "skewed": True},
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_variances_agree_with_three_other_implementations(kind):
    how = KINDS[kind]
    values, weight, unit = table(**how)
    measure = "mean_prediction" if "skewed" in how else "selection_rate"
    measured = Measured.of(measure, None, values, weight, cluster=unit)
    (error,) = measured.estimate(np.zeros(len(unit), np.int64), (1,)).error
    assert error**2 == pytest.approx(taylor(values, weight, unit))
    assert error**2 == pytest.approx(jackknife(values, weight, unit), rel=0.1)
    assert error**2 == pytest.approx(replicates(values, weight, unit), rel=0.15)


def test_an_interval_of_a_weighted_clustered_rate_is_that_of_its_variance():
    """Korn and Graubard: Wilson's, at the number of rows that has the variance."""
    values, weight, unit = table(weighted=True, clustered=True)
    join = np.concatenate
    rows = measure_by_group(
        "selection_rate",
        None,
        join([values, values]),
        sensitive_features=np.repeat(["a", "b"], len(unit)),
        sample_weight=join([weight, weight]),
        cluster=join([unit, unit + N_UNITS]),
    )
    rate = np.average(values, weights=weight)
    n = rate * (1 - rate) / taylor(values, weight, unit)
    masses = np.bincount(unit, weight)
    degrees = (masses**2).sum() ** 2 / (masses**4).sum() - 1
    t = float(student.ppf(0.975, degrees))
    middle = (rate + t**2 / (2 * n)) / (1 + t**2 / n)
    half = np.sqrt(t**2 * rate * (1 - rate) / n + t**4 / (4 * n**2)) / (1 + t**2 / n)
    first = rows.iloc[0]
    assert first["value"] == pytest.approx(rate)
    assert first["ci_low"] == pytest.approx(middle - half)
    assert first["ci_high"] == pytest.approx(middle + half)


def test_the_change_of_a_gap_agrees_with_the_jackknife():
    """Of a gap that is far from 0 both before and after, so that nothing is folded."""
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(400), 3)
    group = (np.arange(400) % 2)[unit]
    shared = rng.random(400)[unit]
    before = (0.6 * shared + 0.4 * rng.random(1200) < 0.25 + 0.4 * group).astype(int)
    after = (0.6 * shared + 0.4 * rng.random(1200) < 0.35 + 0.2 * group).astype(int)
    weight = rng.uniform(0.5, 2, 1200)

    def change(kept):
        gaps = []
        for decided in (before, after):
            rates = [
                np.average(decided[kept & in_group], weights=weight[kept & in_group])
                for in_group in (group == 1, group == 0)
            ]
            gaps.append(rates[0] - rates[1])
        return gaps[1] - gaps[0]

    without = np.array([change(unit != omitted) for omitted in range(400)])
    error = np.sqrt(399 / 400 * np.sum((without - without.mean()) ** 2))
    result = gap_change(
        before, after, sensitive_features=group, sample_weight=weight, cluster=unit
    )
    assert float(result.value) == pytest.approx(change(unit >= 0))
    half = float(result.high - result.low) / 2
    # wider by two changed decisions more in each group
    assert half == pytest.approx(1.959964 * error, rel=0.08)
    assert half > 1.959964 * error


def test_intervals_of_evaluate_agree_with_the_jackknife():
    """Of a weighted, clustered table whose scores and losses are skewed."""
    rng = np.random.default_rng(4)
    n_units = 150
    unit = np.repeat(np.arange(n_units), rng.integers(1, 6, n_units))
    group = (np.arange(n_units) % 2)[unit]
    shared = rng.normal(size=n_units)[unit]
    logit = 1.5 * shared + rng.normal(size=len(unit)) + 1.5 * group
    score = (1 / (1 + np.exp(-logit))) ** 2
    y = (rng.random(len(unit)) < score * np.where(group, 1.0, 0.6)).astype(int)
    weight = rng.lognormal(0, 0.5, len(unit))

    def metrics(kept):
        table = evaluate(
            y[kept],
            score[kept],
            sensitive_features=group[kept],
            threshold=0.25,
            sample_weight=weight[kept],
        )
        return table.iloc[0]

    names = ["balanced_accuracy", "auc", "log_loss", "equal_opportunity_difference"]
    without = np.array(
        [metrics(unit != omitted)[names] for omitted in range(n_units)], float
    )
    around = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    errors = np.sqrt((n_units - 1) / n_units * around)
    evaluated = evaluate(
        y,
        score,
        sensitive_features=group,
        threshold=0.25,
        sample_weight=weight,
        cluster=unit,
    ).iloc[0]
    for name, error in zip(names, errors, strict=True):
        half = (evaluated[f"{name}_high"] - evaluated[f"{name}_low"]) / 2
        assert evaluated[f"{name}_low"] <= evaluated[name] <= evaluated[f"{name}_high"]
        assert half == pytest.approx(1.96 * error, rel=0.15), name
