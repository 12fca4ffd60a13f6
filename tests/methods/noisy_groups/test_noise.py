"""Noise: estimated, simulated, assumed; bounds with and without equal priors."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from toys import simulate_noise

from fairdash.methods.noisy_groups import (
    estimate_noise,
    largest_noise,
    symmetric_limits,
    symmetric_noise,
    tv_bounds,
)

CASES = json.loads((Path(__file__).parent / "certified.json").read_text())["cases"]
COUNTS = np.array([[380, 20], [30, 170]])  # by true and noisy group


def people(counts):
    """True and noisy groups of people, as many of each kind as counted."""
    names = np.array(["a", "b"])
    coordinates = np.mgrid[:2, :2]
    return [np.repeat(names[at.ravel()], counts.ravel()) for at in coordinates]


def test_certified_bounds():
    (case,) = [case for case in CASES if case["id"] == "lemma1_1"]
    bounds = tv_bounds(case["inputs"]["joint_G_rows_Ghat_cols"])
    for column, name in (("paper", "paper_gamma"), ("general", "general_gamma")):
        np.testing.assert_allclose(bounds[column], case["expected"][name], atol=1e-12)


def test_the_general_bound_is_the_distance_itself_and_the_paper_s_can_be_too_small():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c"], p=[0.8, 0.15, 0.05], size=5000)
    noisy = simulate_noise(groups, 0.1, random_state=0)
    estimate = estimate_noise(groups, noisy)
    for name in "abc":
        p = groups == name
        q = noisy == name
        distance = np.abs(p / p.sum() - q / q.sum()).sum() / 2
        assert estimate.bounds.loc[name, "general"] == pytest.approx(distance)
    paper = tv_bounds(estimate.counts / 5000)["paper"]
    assert paper[2] < 0.5 * estimate.bounds.loc["c", "general"]


def test_estimates_are_the_conditional_shares_with_exact_intervals():
    estimate = estimate_noise(*people(COUNTS))
    np.testing.assert_array_equal(estimate.counts, COUNTS)
    np.testing.assert_allclose(estimate.group_given_noisy, (COUNTS / COUNTS.sum(0)).T)
    wrong = {"a": [(20, 400), (30, 410)], "b": [(30, 200), (20, 190)]}
    for name, pairs in wrong.items():
        exact = [  # four rates, so that all hold with 95 %
            binomtest(k, n).proportion_ci(1 - 0.05 / 4, method="exact")
            for k, n in pairs
        ]
        bounds = estimate.bounds.loc[name]
        assert bounds["general_high"] == pytest.approx(max(end.high for end in exact))
        assert bounds["general"] == pytest.approx(max(k / n for k, n in pairs))
    shares = estimate.group_given_noisy
    assert ((estimate.low < shares) & (shares < estimate.high)).all(axis=None)


def test_assumed_noise_is_bayes_rule():
    prior = np.array([0.6, 0.3, 0.1])
    level = 0.2
    channel = np.full((3, 3), level / 2)
    channel[np.diag_indices(3)] = 1 - level
    joint = prior[:, None] * channel
    assumed = symmetric_noise(joint.sum(axis=0), level)
    np.testing.assert_allclose(assumed, (joint / joint.sum(axis=0)).T)


def test_the_largest_noise_leaves_nobody_in_the_smallest_group():
    prior = np.array([0.6, 0.3, 0.1])
    most = largest_noise(prior)
    assert symmetric_noise(prior, most)[:, 2] == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match=r"can be at most 0.2 here, got 0.21"):
        symmetric_noise(prior, most + 0.01)


def test_limits_of_assumed_noise_hold_for_every_share_within_its_limits():
    n = np.array([300, 140, 60])
    level = 0.15
    low, high = symmetric_limits(n, level, 0.95)
    ends = [
        binomtest(k, n.sum()).proportion_ci(1 - 0.05 / 3, method="exact") for k in n
    ]
    rng = np.random.default_rng(0)
    reached = []
    for _ in range(2000):
        prior = np.array([rng.uniform(end.low, end.high) for end in ends[:2]])
        prior = np.append(prior, 1 - prior.sum())
        if ends[2].low <= prior[2] <= ends[2].high:
            reached.append(symmetric_noise(prior, level))
    assert (np.min(reached, axis=0) >= low - 1e-12).all()
    assert (np.max(reached, axis=0) <= high + 1e-12).all()
    nearest = np.diag(np.min(reached, axis=0))
    np.testing.assert_allclose(nearest, np.diag(low), atol=0.03)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: estimate_noise(["a", "b"], ["a", "b"], expected=["a", "b", "c"]),
            "no row of the noisy group 'c'",
        ),
        (lambda: estimate_noise(["a", "b"], ["x", "y"]), "must have the same names"),
        (lambda: estimate_noise(["a", None], ["a", "b"]), "missing values in 1 rows"),
        (lambda: symmetric_noise([0.5, 0.5], 0.5), r"must be below 1 - 1/2, got 0.5"),
        (lambda: tv_bounds([[0.5, 0.4], [0, 0]]), "`joint` must sum to 1"),
    ],
)
def test_bad_input_names_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()
