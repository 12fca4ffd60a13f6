"""The way a newcomer goes, in Chromium, with a real engine."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import expect
from toys import people_csv

pytestmark = pytest.mark.browser
PAGES = ("", "Data", "Train", "Local_fairness", "Weights", "Runs")
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(server, browser):
    """A desktop window on Home."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(server)
    yield page
    page.close()


@pytest.fixture
def upload(page, tmp_path):
    """Return a function that uploads the applicants."""

    def go():
        path = tmp_path / "people.csv"
        path.write_bytes(people_csv(2000))
        page.get_by_role("button", name="Upload a table").click()
        page.locator("input[type=file]").set_input_files(path)
        page.get_by_text("Rows used").wait_for()

    return go


def train(page, *, epochs):
    """Train ROAD for a number of epochs from the form of the open page."""
    page.get_by_role("button", name="More settings").click()
    field = page.get_by_role("spinbutton", name="Epochs")
    field.fill(str(epochs))
    field.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile(r"Train \d models")).click()


def epoch(page):
    """Return the epoch of the model in training that the page shows."""
    text = page.get_by_text(re.compile(r"Epoch \d+ of")).inner_text()
    return int(re.search(r"Epoch (\d+)", text).group(1))


def open_train(page):
    """Follow the menu to Train and choose ROAD."""
    page.get_by_test_id("stSidebar").get_by_text("Train", exact=True).click()
    expect(page.get_by_role("heading", name="What does training")).to_be_visible()
    if not page.get_by_text("Locality (τ)").is_visible():
        page.get_by_label("Method", exact=False).first.click()
        page.get_by_role("option", name="ROAD", exact=True).click()
    page.get_by_text("Locality (τ)").wait_for()


def test_from_upload_over_audit_and_refresh_to_result(page, upload):
    upload()
    expect(page.get_by_text("2,000 rows read")).to_be_visible()
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Worst-1-DI by chance").first.wait_for()

    open_train(page)
    train(page, epochs=300)
    page.get_by_text("safe to close this page").wait_for()
    page.get_by_text(re.compile(r"Epoch \d+ of 300")).wait_for()
    before, address = epoch(page), page.url
    page.reload()
    page.get_by_text(re.compile(r"Epoch \d+ of 300")).wait_for()
    assert page.url == address
    assert epoch(page) >= before
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    expect(page.get_by_text("Paired change of Worst-1-DI")).to_be_visible()
    assert parse_qs(urlparse(page.url).query).keys() == {"run", "data"}


def test_a_run_can_be_cancelled_and_another_tab_says_so(page, upload, browser):
    upload()
    open_train(page)
    train(page, epochs=500)
    page.get_by_text(re.compile(r"Epoch \d+ of 500")).wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled after").wait_for()
    second = browser.new_page()
    second.goto(page.url)
    second.get_by_text("Cancelled after").wait_for()
    second.close()


def test_no_page_is_wider_than_a_phone(page, upload, server):
    upload()
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    address = urlparse(page.url).query
    page.set_viewport_size(PHONE)
    for name in PAGES:
        page.goto(f"{server}/{name}?{address}")
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_timeout(1500)  # figures take their width after they mount
        main = page.get_by_test_id("stMain")
        wide = main.evaluate("main => main.scrollWidth - main.clientWidth")
        assert wide <= 0, f"{name or 'Home'} scrolls sideways by {wide} px"
