"""The ramp in the playground: random decisions between two scores, by group."""

import numpy as np
import pytest
from scipy.special import expit

from fairdash.audits import playground
from fairdash.audits.playground import GROUPS, METHODS, SCENES, SIDE
from fairdash.methods import CATALOG
from fairdash.postprocessing import ramp_threshold


def test_methods_are_those_of_the_catalog_and_the_ramp():
    assert set(METHODS) - set(CATALOG) == {"ramp"}
    assert all(METHODS[key] is method for key, method in CATALOG.items())


def test_the_ramp_rises_from_its_start_by_its_width():
    people = SCENES["hidden_corner"].people(n=300)
    surfaces = playground.train(people, "ramp", stops=(0.1, 0.6))
    logistic = CATALOG["logistic"].estimator({}, random_state=0)
    logistic.fit(people.X, people.outcome)
    weights = logistic.network_.weights[0]
    bias = logistic.network_.biases[0]
    margin = 2 * expit(people.X @ weights + bias)[:, 0] - 1
    plane = 2 * expit(playground.grid_points() @ weights + bias)[:, 0] - 1
    for place, gamma in enumerate((0.1, 0.6)):
        sight = surfaces.sights[place]
        for code in (0, 1):
            members = people.group == code
            # the share accepted says where the ramp of this group starts
            rate = surfaces.scores[place][members].mean()
            start = ramp_threshold(margin[members], gamma, float(rate))
            rising = np.clip((plane - start) / gamma, 0, 1).reshape(SIDE, SIDE)
            np.testing.assert_allclose(surfaces.grid[place, code], rising, atol=1e-4)
            drawn = (rising > 0) & (rising < 1)
            low, high, _ = sight.bands[code][0]
            inside = (sight.before > low) & (sight.before < high)
            assert np.mean(inside == drawn) > 0.999
            chance = np.clip((margin[members] - start) / gamma, 0, 1)
            share = np.mean((chance > 0) & (chance < 1))
            assert sight.shares[code] == pytest.approx(share, abs=0.01)
            words = f"chance decides, for {100 * sight.shares[code]:.1f}% of"
            assert words in sight.caption(GROUPS)
    # both groups have one rate, whatever the width
    np.testing.assert_allclose(surfaces.path["gap"], 0, atol=1e-6)


def test_a_ramp_wider_than_the_scores_ends_at_their_edges():
    surfaces = playground.train(SCENES["rare"].people(), "ramp", stops=(2.0,))
    (sight,) = surfaces.sights
    assert sight.knots.min() >= 0
    assert sight.knots.max() <= 1
    below = sight.knots[:, 0, 1] > 0  # chance of the lowest score
    assert below.any()
    assert (sight.bands[below, 0, 0] == 0).all()
