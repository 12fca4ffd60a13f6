"""The radius of a certificate under the hand, in Chromium."""

import pytest
from playwright.sync_api import expect
from toys import people_csv

pytestmark = pytest.mark.browser


@pytest.fixture
def page(server, browser, tmp_path):
    """Noisy groups on an audited upload."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(server)
    path = tmp_path / "people.csv"
    path.write_bytes(people_csv(2000))
    page.get_by_role("button", name="Upload a table").click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_text("Rows used").wait_for()
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    page.get_by_test_id("stSidebar").get_by_text("Noisy groups", exact=True).click()
    page.locator(".live_ball .value").wait_for()
    yield page
    page.close()


def test_the_certificate_follows_the_hand_and_the_server_on_release(page):
    slider = page.get_by_role("slider", name="TV radius (γ)")
    shown = page.locator(".live_ball .value")
    card = page.get_by_test_id("stMetricValue").nth(3)
    expect(card).to_have_text(shown.inner_text())
    before, on_card = shown.inner_text(), card.inner_text()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], middle)
    expect(shown).not_to_have_text(before)
    assert card.inner_text() == on_card  # the server is told on release
    page.mouse.up()
    expect(card).to_have_text(shown.inner_text())
    assert card.inner_text() != on_card


def test_the_slider_is_heard_and_moved_by_keyboard(page):
    slider = page.get_by_role("slider", name="TV radius (γ)")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0.000")
    said = page.locator(".live_ball .said")
    expect(said).to_contain_text("break the constraint")
    found = page.get_by_test_id("stMetricValue").nth(0)
    # within a radius of 0 the worst case is what was found on the noisy groups
    expect(page.locator(".live_ball .value")).to_have_text(found.inner_text())
