"""Playground in a browser: all follows the slider, and the server hears nothing."""

import pytest
from driving import lasting_faults, open_window, still
from playwright.sync_api import expect

from fairdash.audits import playground

pytestmark = pytest.mark.browser
COLOUR = "element => getComputedStyle(element).color"
PICTURE = "canvas => canvas.toDataURL()"


@pytest.fixture
def page(browser, server):
    page = open_window(browser)
    page.goto(f"{server}/Playground?scene=proxy&shown_method=hardt")
    page.wait_for_selector(".live_plane .words:not(:empty)")
    yield page
    page.close()


@pytest.fixture
def compared(browser, server):
    page = open_window(browser)
    page.goto(f"{server}/Playground?scene=proxy&shown_method=hardt&beside=logistic")
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
    # all stops are trained
    expect(page.locator(".live_plane .status")).to_have_text("")
    expect(page.locator(".live_plane .first .stops i")).to_have_count(len(words))
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.on("websocket", lambda socket: sent.append(socket.url))
    slider = page.locator(".live_plane .first input")
    output = page.locator(".live_plane .first output")
    last = len(words) - 1
    for place in (last, 2, 1):
        slider.evaluate(
            "(input, at) => { input.value = at * 20;"
            " input.dispatchEvent(new Event('input')) }",
            place,
        )
        expect(page.locator(".live_plane .words")).to_have_text(words[place])
        stop = trained.slider.stops[place]
        expect(output).to_have_text(f"{stop:g} (trained)")
    slider.press("ArrowRight")
    expect(output).to_contain_text("between ")
    assert sent == []


def test_play_goes_from_stop_to_stop_where_motion_is_reduced(page):
    page.emulate_media(reduced_motion="reduce")
    # Nothing is drawn between two models.
    output = page.locator(".live_plane .first output")
    output.evaluate(
        """output => {
          window.said = new Set([output.textContent])
          new MutationObserver(() => window.said.add(output.textContent))
            .observe(output, { childList: true, characterData: true, subtree: true })
        }"""
    )
    button = page.get_by_role("button", name="Play")
    button.click()
    page.get_by_role("button", name="Stop").wait_for()
    slider = page.locator(".live_plane .first input")
    expect(slider).to_have_value(slider.get_attribute("max"), timeout=20_000)
    button.wait_for()
    texts = page.evaluate("[...window.said]")
    assert len(texts) > 2
    assert all(text.endswith("(trained)") for text in texts)


def test_on_a_phone_in_the_dark_plane_slider_and_words_follow_one_another(page):
    page.set_viewport_size({"width": 390, "height": 844})
    before = page.locator(".live_plane").evaluate(COLOUR)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        f"before => ({COLOUR})(document.querySelector('.stApp')) !== before", arg=before
    )
    canvas = still(page.locator(".live_plane canvas"))
    slider = still(page.locator(".live_plane .first input"))
    words = still(page.locator(".live_plane .words"))
    assert canvas["y"] < slider["y"] < words["y"]
    assert canvas["x"] >= 0
    assert canvas["x"] + canvas["width"] <= 390
    page.locator(".live_plane .first input").press("End")
    expect(page.locator(".live_plane .first output")).to_contain_text("(trained)")
    assert lasting_faults(page) == {}


def test_two_methods_follow_one_slider(compared):
    people = playground.SCENES["proxy"].people()
    trained = playground.train(people, "hardt")
    words = compared.locator(".live_plane .words")
    expect(compared.locator(".live_plane .status")).to_have_text("")
    plain = words.nth(1).inner_text()
    slider = compared.locator(".live_plane .first input")
    slider.press("End")
    expect(words.nth(0)).to_have_text(playground.payload(trained)["words"][-1])
    expect(words.nth(1)).to_have_text(plain)
    names = compared.locator(".live_plane .view .name")
    stop = trained.slider.stops[-1]
    expect(names).to_have_text([f"Hardt: ε {stop:g} (trained)", "Logistic: one model"])


def test_people_are_painted_by_keys_trained_and_undone(compared):
    words = compared.locator(".live_plane .words").nth(1)
    status = compared.locator(".live_plane .status")
    expect(status).to_have_text("")
    before = words.inner_text()
    compared.get_by_role("button", name="Paint").click()
    compared.get_by_label("Brush").select_option("A, outcome 0")
    plane = compared.locator(".live_plane canvas").nth(1)
    drawn = plane.evaluate(PICTURE)
    plane.focus()
    for _ in range(8):
        plane.press("ArrowRight")
        plane.press("Space")
    expect(words).not_to_have_text(before)
    expect(status).to_have_text("")
    assert lasting_faults(compared) == {}
    undo = compared.get_by_role("button", name="Undo")
    while undo.is_enabled():
        undo.click()
    expect(words).to_have_text(before)
    expect(status).to_have_text("")
    for _ in range(8):
        plane.press("ArrowRight")
        plane.press("Space")
    expect(words).not_to_have_text(before)
    assert plane.evaluate(PICTURE) != drawn
    plane.blur()  # which takes the cursor away
    compared.get_by_role("button", name="Back to the people of the scene").click()
    expect(words).to_have_text(before)
    expect(status).to_have_text("")
    assert plane.evaluate(PICTURE) == drawn
