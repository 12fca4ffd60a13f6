"""Noise: estimated, simulated, assumed; bounds with and without equal priors."""

import json
from pathlib import Path

import numpy as np
import pytest

from fairdash.methods.noisy_groups import (
    estimate_noise,
    simulate_noise,
    symmetric_noise,
    tv_bounds,
)

CASES = json.loads((Path(__file__).parent / "certified.json").read_text())["cases"]


def certified(name):
    (case,) = [case for case in CASES if case["id"] == name]
    return case["inputs"], case["expected"]


def test_certified_bounds():
    given, expected = certified("lemma1_1")
    bounds = tv_bounds(given["joint_G_rows_Ghat_cols"])
    np.testing.assert_allclose(bounds["paper"], expected["paper_gamma"], atol=1e-12)
    np.testing.assert_allclose(bounds["general"], expected["general_gamma"], atol=1e-12)
    assert bounds["equal_priors"].all()


def test_the_general_bound_is_the_distance_itself_and_the_paper_s_can_be_too_small():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c"], p=[0.8, 0.15, 0.05], size=5000)
    noisy = simulate_noise(groups, 0.1, random_state=0)
    bounds = estimate_noise(groups, noisy).bounds
    for name in "abc":
        p, q = groups == name, noisy == name
        distance = np.abs(p / p.sum() - q / q.sum()).sum() / 2
        assert bounds.loc[name, "general"] == pytest.approx(distance)
    distance_c = bounds.loc["c", "general"]
    assert bounds.loc["c", "paper"] < 0.5 * distance_c
    assert not bounds.loc["c", "equal_priors"]


def test_estimates_are_the_conditional_shares_and_their_intervals_cover():
    rng = np.random.default_rng(1)
    groups = rng.choice(["a", "b"], p=[0.7, 0.3], size=200_000)
    noisy = simulate_noise(groups, 0.2, random_state=1)
    covered = []
    for _ in range(100):
        rows = rng.integers(len(groups), size=400)
        known = estimate_noise(groups[rows], noisy[rows]).bounds
        covered.append(
            known.loc["a", "paper_low"] <= 0.2 <= known.loc["a", "paper_high"]
        )
    assert np.mean(covered) >= 0.9
    found = estimate_noise(groups, noisy)
    np.testing.assert_allclose(found.group_given_noisy.sum(axis=1), 1)
    np.testing.assert_allclose(found.noisy_given_group.sum(axis=1), 1)
    both = ((groups == "a") & (noisy == "b")).sum()
    share = both / (noisy == "b").sum()
    assert found.group_given_noisy.loc["b", "a"] == pytest.approx(share)


def test_simulated_noise_changes_the_share_asked_for_and_never_to_the_same_group():
    groups = np.repeat(["a", "b", "c"], 1000)
    noisy = simulate_noise(groups, 0.3, random_state=0)
    assert (noisy != groups).sum() == 900
    assert (simulate_noise(groups, 0.3, random_state=0) == noisy).all()
    assert (simulate_noise(groups, 0) == groups).all()


def test_assumed_noise_is_bayes_rule_on_the_simulated_one():
    rng = np.random.default_rng(2)
    groups = rng.choice(["a", "b", "c"], p=[0.5, 0.3, 0.2], size=400_000)
    noisy = simulate_noise(groups, 0.2, random_state=2)
    known = estimate_noise(groups, noisy)
    prior = known.counts.sum(axis=0) / len(groups)
    assumed = symmetric_noise(prior, 0.2)
    np.testing.assert_allclose(assumed, known.group_given_noisy, atol=5e-3)
    np.testing.assert_allclose(assumed.sum(axis=1), 1)


def test_assumed_noise_may_differ_for_each_group():
    prior, levels = np.array([0.6, 0.3, 0.1]), np.array([0.05, 0.2, 0.3])
    channel = np.full((3, 3), 1.0) * levels[:, None] / 2
    channel[np.diag_indices(3)] = 1 - levels
    joint = prior[:, None] * channel
    assumed = symmetric_noise(joint.sum(axis=0), levels)
    np.testing.assert_allclose(assumed, (joint / joint.sum(axis=0)).T)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: estimate_noise(["a", "b"], ["a", "b"], expected=["a", "b", "c"]),
            "no row of the noisy group 'c'",
        ),
        (lambda: estimate_noise(["a", "b"], ["x", "y"]), "must have the same names"),
        (lambda: estimate_noise(["a", None], ["a", "b"]), "missing values in 1 rows"),
        (lambda: simulate_noise(["a", "b"], 1.2), r"`level` must be in \[0, 1\]"),
        (lambda: symmetric_noise([0.5, 0.5], 0.5), r"must be below 1 - 1/2, got 0.5"),
        (lambda: tv_bounds([[0.5, 0.4], [0, 0]]), "`joint` must sum to 1"),
    ],
)
def test_bad_input_names_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()
