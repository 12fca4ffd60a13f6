"""The ramp under the hand, in Chromium: by mouse and by keyboard."""

import re

import pytest
from driving import open_window, settle, still
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
RELEASE = """
(slider, value) => {
  slider.value = value
  slider.dispatchEvent(new Event("input"))
  slider.dispatchEvent(new Event("change"))
}
"""


@pytest.fixture(scope="module")
def page(browser, server, audited):
    """Post-process on an audited upload; one window, since loading is slow."""
    page = open_window(browser)
    page.goto(f"{server}/Post-process?{audited}")
    page.get_by_text("Expected accuracy", exact=True).first.wait_for()
    slider(page, "Ramp width (γ)").wait_for()
    yield page
    page.close()


def slider(page, name):
    return page.get_by_role("slider", name=name)


def ramp(page):
    return page.locator("polyline").first.get_attribute("points")


def cards(page):
    return page.get_by_test_id("stMetricValue").all_inner_texts()


def test_the_ramp_follows_the_hand_and_the_server_on_release(page):
    before = ramp(page)
    figures = cards(page)
    box = still(slider(page, "Ramp width (γ)"))
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 9, middle)
    page.mouse.down()
    drawn = page.locator("polyline").first
    for step in range(1, 11):  # a picture for every step
        last = ramp(page)
        page.mouse.move(box["x"] + 9 + 8 * step, middle)
        expect(drawn).not_to_have_attribute("points", last)
    assert ramp(page) != before
    assert cards(page) == figures  # the server has not heard of it
    page.mouse.up()
    expect(page.get_by_test_id("stMetricValue").nth(2)).not_to_have_text(figures[2])


def test_the_keyboard_moves_sliders_and_a_screen_reader_hears_values(page):
    page.get_by_role("radio", name="By hand").click()
    rate = slider(page, "Target rate (ρ)")
    expect(rate).to_be_enabled()
    first = float(rate.get_attribute("aria-valuetext"))
    rate.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    moved = first + 8 * 0.005
    expect(rate).to_have_attribute("aria-valuetext", f"{moved:.3f}")
    sentence = page.locator(".said")
    percent = f"{100 * moved:.1f}%"
    everybody = re.compile(
        rf"Decided 1: origin: \w+ {percent}, origin: \w+ {percent}\."
    )
    expect(sentence).to_have_text(everybody)
    assert sentence.get_attribute("aria-live") == "polite"
    expect(page.get_by_role("img", name=re.compile("Scores by group"))).to_be_visible()


def test_play_runs_gamma_and_the_figure_says_whom_chance_decides(page):
    gamma = slider(page, "Ramp width (γ)")
    button = page.get_by_role("button", name="Play γ")
    gamma.evaluate(RELEASE, "0.01")
    page.wait_for_url(re.compile(r"gamma=0\.01"))
    effect = page.locator(".effect")
    narrow = share_by_chance(effect)
    assert narrow < 0.05
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("slider => slider.value > 0.3", arg=gamma.element_handle())
    assert "gamma=0.01" in page.url  # the server has not heard of it
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    page.wait_for_url(re.compile(rf"gamma={float(gamma.input_value()):g}"))
    settle(page)
    assert share_by_chance(effect) > narrow
    assert re.search(r"Accuracy: [−+]\d+\.\d points", effect.inner_text())
    page.locator(".drawn").first.hover()
    tip = page.locator(".live_ramp .tip")
    expect(tip).to_have_text(re.compile(r"origin: .* people decided by chance"))
    expect(tip).to_contain_text("1 by chance of")


def share_by_chance(effect):
    """Return the share that the words above the ramps say, checked by their count."""
    words = effect.inner_text()
    drawn, people, share = re.match(
        r"By chance: ([\d,]+) of ([\d,]+) people, ([\d.]+)%", words
    ).groups()
    drawn, people = (int(text.replace(",", "")) for text in (drawn, people))
    assert 100 * drawn / people == pytest.approx(float(share), abs=0.2)
    return drawn / people


def starts(page):
    """Where each ramp starts, as written beside its name."""
    return page.locator("svg tspan.faint").all_inner_texts()


def test_what_was_released_stands_in_the_address_and_survives_a_reload(page):
    page.get_by_role("radio", name="By hand").click()
    rate = slider(page, "Target rate (ρ)")
    gamma = slider(page, "Ramp width (γ)")
    expect(rate).to_be_enabled()
    for control, value in ((gamma, "0.98"), (rate, "0.345")):
        control.evaluate(RELEASE, value)
    page.wait_for_url(re.compile(r"(?=.*gamma=0\.98)(?=.*target_rate=0\.345)"))
    at_target = re.compile(r"starts at .*, 34\.5% decided 1")
    expect(page.locator("svg tspan.faint").first).to_have_text(at_target)
    settle(page)
    bounds = starts(page)
    figures = cards(page)
    page.reload()
    slider(page, "Ramp width (γ)").wait_for()
    expect(page.locator("svg tspan.faint").first).to_have_text(at_target)
    assert starts(page) == bounds
    page.get_by_test_id("stMetricValue").nth(len(figures) - 1).wait_for()
    settle(page)
    assert cards(page) == figures
    assert slider(page, "Ramp width (γ)").input_value() == "0.98"
