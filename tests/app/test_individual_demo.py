"""The demonstration on two features: what the browser is sent, and the address."""

import json

import numpy as np
import pytest
from reading import words

from fairdash.methods import two_feature_networks, two_feature_people


def sent(page):
    """Return what the maps of both methods were sent, by method."""
    found = [
        json.loads(element.proto.json)
        for element in page.get("bidi_component")
        if element.proto.component_name == "fairdash.live_surface"
    ]
    return {one["name"]: one for one in found}


@pytest.fixture
def opened(visit):
    """Return Individual fairness with the demonstration open, before any data set."""
    page = visit("Individual fairness")
    page.session_state["individual demo"] = True
    return page.run()


def test_the_demonstration_is_closed_at_first_and_sends_nothing(visit):
    page = visit("Individual fairness")
    assert not page.exception
    assert any(e.label == "See it on two features" for e in page.expander)
    assert sent(page) == {}


@pytest.mark.parametrize("name, method", [("SenSeI", "sensei"), ("SenSR", "sensr")])
def test_opened_the_browser_gets_every_network_once(opened, name, method):
    assert not opened.exception
    assert "Figures 1 and 3" in words(opened)
    data = sent(opened)[name]
    networks = two_feature_networks(method)
    assert data["settings"] == list(networks)
    assert data["start"] == next(iter(networks))
    X, y, group = two_feature_people()
    np.testing.assert_allclose(
        data["points"], np.column_stack([X, y, group]), atol=1e-4
    )
    for one, network in zip(data["networks"], networks.values(), strict=True):
        hidden = np.maximum(X @ one["weights"][0] + one["biases"][0], 0)
        logit = hidden @ one["weights"][1] + one["biases"][1]
        np.testing.assert_allclose(logit[:, 0], network.logits(X), atol=1e-3)


def test_an_address_with_settings_opens_the_demonstration_there(visit):
    page = visit("Individual fairness", rho="3", eps="0.1")
    assert not page.exception
    assert sent(page)["SenSeI"]["start"] == 3
    assert sent(page)["SenSR"]["start"] == 0.1


def test_an_address_with_another_setting_starts_at_the_first(visit):
    page = visit("Individual fairness", rho="much")
    assert not page.exception
    assert sent(page)["SenSeI"]["start"] == 0
