"""The interval of a standardised difference: the jackknife, and a simulation."""

import numpy as np
import pytest
from scipy.stats import t as student

from fairdash.analysis import standardised_difference


def cohens_d(scores, reference):
    n = len(scores)
    m = len(reference)
    squares = (n - 1) * scores.var(ddof=1) + (m - 1) * reference.var(ddof=1)
    return (scores.mean() - reference.mean()) / np.sqrt(squares / (n + m - 2))


def test_its_error_is_that_of_the_jackknife_of_skewed_scores():
    rng = np.random.default_rng(0)
    scores = rng.lognormal(0.4, 0.6, 80)
    reference = rng.lognormal(0, 0.6, 120)
    d = standardised_difference(scores, reference)
    assert d.value == pytest.approx(cohens_d(scores, reference))
    variance = 0.0
    for side, opposite in ((scores, reference), (reference, scores)):
        sign = 1 if side is scores else -1
        n = len(side)
        without = [sign * cohens_d(np.delete(side, i), opposite) for i in range(n)]
        variance += (n - 1) / n * np.sum((without - np.mean(without)) ** 2)
    half = student.ppf(0.975, 79) * np.sqrt(variance)
    assert (d.high - d.low) / 2 == pytest.approx(half, rel=0.05)
    assert d.value == pytest.approx((d.low + d.high) / 2)


def test_its_interval_holds_the_true_difference():
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        d = standardised_difference(rng.normal(1, 1, 25), rng.normal(0, 1, 60))
        covered.append(d.low <= 1 <= d.high)
    assert np.mean(covered) >= 0.93


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0]])
def test_without_a_spread_there_is_none(scores):
    d = standardised_difference(np.array(scores), np.array([2.0, 2.0, 2.0]))
    assert np.isnan(d).all()
