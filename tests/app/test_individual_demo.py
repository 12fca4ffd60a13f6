import json

import numpy as np
import pytest
from reading import figures, words

from fairdash.methods import two_feature_networks

AXIS = np.linspace(-4, 4, 41)


@pytest.fixture
def opened(visit):
    """Return Individual fairness with the demonstration open, before any data set."""
    page = visit("Individual fairness")
    page.session_state["individual demo"] = True
    return page.run()


def largest_change(network):
    """Return the largest change of P along feature 1, computed row by row."""
    moved = []
    for second in AXIS:
        row = np.column_stack([AXIS, np.full_like(AXIS, second)])
        p = 1 / (1 + np.exp(-network.logits(row)))
        moved.append(p.max() - p.min())
    return max(moved)


def findings(page):
    return [s.value for s in page.subheader if "Feature 1 alone" in s.value]


def test_the_demonstration_is_closed_at_first_and_draws_nothing(visit):
    page = visit("Individual fairness")
    assert not page.exception
    assert any(e.label == "See it on two features" for e in page.expander)
    assert figures(page) == 0


def test_opened_it_draws_both_methods_without_data(opened):
    assert not opened.exception
    assert figures(opened) == 2
    assert len(findings(opened)) == 2
    assert "300 made-up rows" in words(opened)


@pytest.mark.parametrize(
    "key, method, setting",
    [("demo sensei", "sensei", 1.0), ("demo sensr", "sensr", 3.0)],
)
def test_a_slider_redraws_its_map_and_says_what_the_network_does(
    opened, key, method, setting
):
    slider = opened.select_slider(key=key)
    networks = two_feature_networks(method)
    assert slider.options == [f"{value:g}" for value in networks]
    slider.set_value(setting).run()
    assert not opened.exception
    expected = 100 * largest_change(networks[setting])
    at = ["sensei", "sensr"].index(method)
    assert f"{expected:.1f} pt" in findings(opened)[at]
    spec = json.loads(opened.get("plotly_chart")[at].proto.spec)
    z = spec["data"][0]["z"]
    assert np.ptp(z, axis=1).max() == pytest.approx(expected / 100, abs=2e-4)
