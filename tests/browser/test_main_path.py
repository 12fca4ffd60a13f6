"""The way a newcomer goes, in Chromium, with a real engine."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from driving import audit, fill_in, upload
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def train(page, **settings):
    """Train ROAD with settings of the form of the open page."""
    page.get_by_role("button", name="More settings").click()
    for name, value in settings.items():
        fill_in(page, name.replace("_", " "), value)
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile(r"Train \d seeds")).click()


def share(page):
    """Return which share of the run's work the page says is done, in percent."""
    return float(page.get_by_role("progressbar").get_attribute("aria-valuenow"))


def choose_road(page):
    """Choose ROAD on the open page Train."""
    expect(page.get_by_role("heading", name="What does training")).to_be_visible()
    if not page.get_by_text("Locality (τ)").is_visible():
        page.get_by_label("Method", exact=False).first.click()
        page.get_by_role("option", name=re.compile(r"^ROAD\b")).click()
    page.get_by_text("Locality (τ)").wait_for()


def test_from_upload_over_audit_and_refresh_to_result(page, server, tmp_path):
    page.goto(server)
    upload(page, tmp_path)
    expect(page.get_by_text("2,000 rows read")).to_be_visible()
    audit(page)

    page.get_by_test_id("stSidebar").get_by_text("Train", exact=True).click()
    choose_road(page)
    train(page, Epochs=500, Batch_size=16)  # cancelled long before its end
    page.get_by_text("safe to close this page").wait_for()
    page.get_by_text(re.compile(r"epoch \d+ of 500")).wait_for()
    before = share(page)
    address = page.url
    page.reload()
    page.get_by_text(re.compile(r"epoch \d+ of 500")).wait_for()
    assert page.url == address
    assert share(page) >= before
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled after").wait_for()
    train(page, Epochs=10, Batch_size=512)
    page.get_by_text("Largest by chance").first.wait_for()
    page.get_by_role("button", name="how sure?").click()
    expect(page.get_by_text("The largest gap changes by")).to_be_visible()
    query = parse_qs(urlparse(page.url).query)
    assert query.keys() == {"run", "data", "models", "model"}
