import tracemalloc

import numpy as np
import pytest

from fairdash.postprocessing.target_rate import by_outcome, most_accurate_rate


def every_bend(margins, codes, y, weight, gamma):
    """Rate and gain of every group at all its bends, one ramp after the other."""
    curves = []
    for k in np.unique(codes):
        rows = codes == k
        f = margins[rows]
        w = weight[rows]
        signed = (weight * (2 * y - 1))[rows]
        starts = -np.unique(-np.concatenate([f, f - gamma]))
        h = np.clip((f - starts[:, None]) / gamma, 0, 1)
        curves.append((h @ w / w.sum(), h @ signed))
    return curves


def problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 300))
    n_groups = int(rng.integers(1, 5))
    codes = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n)])
    n = len(codes)
    margins = [
        rng.uniform(-1, 1, n),
        rng.choice([-1, -0.5, 0, 0.3, 1.0], n),
        np.tanh(rng.normal(0, 3, n)).round(2),
    ][seed % 3]
    informed = rng.choice([0.0, 0.3, 1.0])
    y = (rng.uniform(-1, 1, n) < informed * margins).astype(np.int8)
    weight = rng.choice([0.5, 1.0, 3.0], n) if seed % 2 else np.ones(n)
    return margins, codes, y, weight, float(10 ** rng.uniform(-3, 0.3))


def test_ties_of_many_groups_do_not_fill_the_memory():
    n_rows = 60_000
    n_groups = 100
    margins = np.repeat(np.linspace(-1, 1, n_rows // 2), 2)
    y = np.tile([0, 1], n_rows // 2).astype(np.int8)  # whatever the rate, no gain
    groups = by_outcome(
        margins, np.arange(n_rows) // 2 % n_groups, y, n_groups=n_groups
    )
    tracemalloc.start()
    try:
        assert 0 <= most_accurate_rate(groups, 0.1) <= 1
        assert tracemalloc.get_traced_memory()[1] < 64 << 20  # all at once: 280 MiB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("seed", range(12))
def test_no_bend_is_more_accurate_than_the_rate_found(seed):
    margins, codes, y, weight, gamma = problem(seed)
    rate = most_accurate_rate(
        by_outcome(margins, codes, y, weight, n_groups=codes.max() + 1), gamma
    )
    curves = every_bend(margins, codes, y, weight, gamma)
    rates = np.concatenate([curve[0] for curve in curves])
    best = max(sum(np.interp(rates, *curve) for curve in curves))
    assert sum(np.interp(rate, *curve) for curve in curves) >= best - 1e-9


def test_a_group_of_one_outcome_is_no_obstacle():
    margins = np.array([-0.5, 0.5, 0.7, -0.2, 0.1])
    codes = np.array([0, 0, 0, 1, 1])
    y = np.array([1, 1, 1, 0, 1], dtype=np.int8)
    assert most_accurate_rate(by_outcome(margins, codes, y, n_groups=2), 0.1) == 1
