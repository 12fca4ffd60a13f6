import importlib.util
from pathlib import Path

import numpy as np
import pytest

from fairdash.methods import Network, two_feature_networks, two_feature_people

AXIS = np.linspace(-4, 4, 21)
SQUARE = np.column_stack([part.ravel() for part in np.meshgrid(AXIS, AXIS)])


def surface(network):
    p = 1 / (1 + np.exp(-network.logits(SQUARE)))
    return p.reshape(len(AXIS), len(AXIS))


def changes(method):
    """Return the largest change of P along feature 1, by setting."""
    networks = two_feature_networks(method)
    return {at: np.ptp(surface(n), axis=1).max() for at, n in networks.items()}


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parents[2] / "docs" / "two_features.py"
    spec = importlib.util.spec_from_file_location("two_features", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("method", ["sensei", "sensr"])
def test_training_again_gives_the_stored_surfaces(method, script):
    stacks = script.trained(method)
    stored = two_feature_networks(method)
    settings = stacks.pop("settings")
    assert list(stored) == settings.tolist() == list(script.GRIDS[method][1])
    for i, network in enumerate(stored.values()):
        again = Network.from_arrays({key: stack[i] for key, stack in stacks.items()})
        np.testing.assert_allclose(surface(network), surface(again), atol=0.02)


def test_sensei_moves_less_along_the_free_direction_as_the_weight_grows():
    moved = list(changes("sensei").values())
    assert moved[0] > 0.95
    assert (np.diff(moved) < 0).all()
    assert moved[-1] < 0.05


def test_sensr_does_not_move_along_the_free_direction_at_any_radius():
    moved = changes("sensr")
    assert 0.0 in moved
    assert max(moved.values()) < 0.03


def test_people_are_always_the_same_and_the_groups_differ():
    X, y, group = two_feature_people()
    again, *_ = two_feature_people()
    np.testing.assert_array_equal(X, again)
    apart = X[group == 1].mean(0) - X[group == 0].mean(0)
    np.testing.assert_allclose(apart, 0.7, atol=0.25)
    assert y[group == 1].mean() > y[group == 0].mean()


def test_a_method_without_stored_networks_is_refused():
    with pytest.raises(ValueError, match=r"`method` must be one of .*'clp'"):
        two_feature_networks("clp")
