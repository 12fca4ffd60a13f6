"""Intervals against published examples and against simulated coverage."""

import numpy as np
import pytest
from by_hand import gap_interval, newcombe_interval
from cases import sampled
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import intervals

SIZES = (10, 20, 35, 50, 100)
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


@pytest.mark.parametrize(
    "positives, n, expected",  # Newcombe 1998 (one sample), table I, method 3
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilson_gives_the_published_examples(positives, n, expected):
    assert np.allclose(intervals.wilson_interval(positives, n), expected, atol=5e-5)


def test_two_groups_get_newcombe_folded_at_zero():
    low, high = newcombe_interval(48, 80, 56, 70)
    assert high < 0
    assert np.allclose(gap_interval([48, 56], [80, 70]), (-high, -low))
    low, high = newcombe_interval(20, 50, 21, 50)
    assert low < 0 < high
    assert np.allclose(gap_interval([20, 21], [50, 50]), (0, max(-low, high)))


counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(counts, min_size=2, max_size=5), st.randoms())
def test_the_interval_holds_the_gap_whatever_the_order_of_groups(samples, random):
    positives, n = np.array(samples, dtype=float).T
    rates = positives / n
    low, high = gap_interval(positives, n)
    assert 0 <= low <= np.ptp(rates) + 1e-12
    assert np.ptp(rates) - 1e-12 <= high <= 1
    random.shuffle(samples)
    positives, n = np.array(samples, dtype=float).T
    assert np.allclose(gap_interval(positives, n), (low, high))


def test_a_ratio_ends_where_a_multiple_of_the_second_differs_by_nothing():
    ends = np.array([[0.4, 0.31, 0.5], [0.6, 0.52, 0.67]])
    left, right = (intervals.Interval(*bounds[:, None]) for bounds in ends)
    for side, end in enumerate(intervals.ratio_of(left, right, 0.2)):
        multiple = intervals.Interval(*(end * part for part in right))
        differs = intervals.difference_of(left, multiple, 0.2)
        assert differs[side] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n_groups", sampled([2, 3, 5], 2))
def test_coverage_is_95_percent_at_small_n(n_groups):
    rng = np.random.default_rng(1)
    coverage = []
    for design in range(120):
        n = rng.choice(SIZES, n_groups)
        unlike = 1 if design % 3 == 0 else n_groups
        p = np.resize(rng.choice(RATES, unlike), n_groups)
        drawn = rng.binomial(n, p, (1000, n_groups))
        (low, high), gap = gap_interval(drawn, n), np.ptp(p)
        coverage.append(np.mean((low <= gap) & (gap <= high)))
    assert 0.955 < np.mean(coverage) < 0.99
    assert np.min(coverage) > 0.90
