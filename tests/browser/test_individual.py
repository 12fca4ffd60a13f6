"""Individual fairness in Chromium: the maps of two features."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from fairdash.methods import two_feature_networks

pytestmark = pytest.mark.browser
AXIS = np.linspace(-4, 4, 81)


def finding(network):
    """Return what a network is said to do, computed row by row."""
    moved = []
    for second in AXIS:
        p = network.positive(np.column_stack([AXIS, np.full_like(AXIS, second)]))
        moved.append(p.max() - p.min())
    return f"Feature 1 alone moves P by up to {100 * max(moved):.1f} pt"


@pytest.fixture
def page(page, server):
    """Individual fairness on a phone, its demonstration open at ρ = 1."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/Individual_fairness?rho=1")
    return page


def test_a_map_follows_its_slider_without_the_server_and_survives_a_refresh(page):
    networks = two_feature_networks("sensei")
    settings = list(networks)
    told = []  # what the page tells the server
    page.on(
        "websocket", lambda socket: socket.on("framesent", lambda _: told.append(1))
    )
    page.reload()
    slider = page.get_by_label("Fairness weight (ρ) of SenSeI")
    said = page.locator(".live_surface .finding").first
    said.wait_for()
    expect(said).to_have_text(finding(networks[1.0]))
    page.wait_for_timeout(1000)
    before = len(told)
    slider.evaluate("i => { i.value = 2; i.dispatchEvent(new Event('input')) }")
    expect(said).to_have_text(finding(networks[settings[2]]))
    assert told
    assert len(told) == before
    slider.focus()
    slider.press("ArrowRight")
    expect(said).to_have_text(finding(networks[settings[3]]))
    page.wait_for_url(re.compile(rf"rho={settings[3]:g}(&|$)"))
    page.reload()
    said.wait_for()
    expect(said).to_have_text(finding(networks[settings[3]]))
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0
