"""Playground in a browser: all follows the slider, and the server hears nothing."""

import pytest
from driving import open_window
from playwright.sync_api import expect

from fairdash.audits import playground

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser, server):
    page = open_window(browser)
    page.goto(f"{server}/Playground?scene=proxy&shown_method=hardt")
    page.wait_for_selector(".live_plane .words:not(:empty)")
    yield page
    page.close()


def said(page):
    return page.locator(".live_plane .words").inner_text()


def test_words_follow_the_slider_without_the_server(page):
    people = playground.SCENES["proxy"].people()
    trained = playground.train(people, "hardt")
    words = playground.payload(trained)["words"]
    assert said(page) == words[0]
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.on("websocket", lambda socket: sent.append(socket.url))
    slider = page.locator(".live_plane input")
    last = len(words) - 1
    for place in (last, 2, 1):
        slider.evaluate(
            "(input, at) => { input.value = at * 20;"
            " input.dispatchEvent(new Event('input')) }",
            place,
        )
        expect(page.locator(".live_plane .words")).to_have_text(words[place])
        stop = trained.slider.stops[place]
        assert f"{stop:g} (trained)" in page.locator(".live_plane output").inner_text()
    slider.press("ArrowRight")
    expect(page.locator(".live_plane output")).to_contain_text("between ")
    assert sent == []


def test_play_runs_to_the_end_and_stops(page):
    button = page.get_by_role("button", name="Play")
    button.click()
    page.get_by_role("button", name="Stop").wait_for()
    slider = page.locator(".live_plane input")
    expect(slider).to_have_value(slider.get_attribute("max"), timeout=20_000)
    button.wait_for()
