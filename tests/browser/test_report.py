"""A report opened from disk: drawn without network, in both themes, for paper."""

import contextlib
import re
import zlib
from pathlib import Path

import pytest
from driving import faults, settle
from playwright.sync_api import expect
from toys import people, train_sweep

from fairdash.reports import report, to_pdf
from fairdash.store import open_store

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[2] / "docs"
COLOURS = """() => [...document.querySelectorAll(".plot .xtick text")]
  .map(text => getComputedStyle(text).fill)"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of a small sweep whose names try to be more than text."""
    folder = tmp_path_factory.mktemp("report")
    store = open_store(folder / "home")
    hostile = "<img src=x onerror=alert(1)>"
    frame = people().replace({"branch": {"works": hostile}})
    run = train_sweep(store, frame, f"</title>{hostile}")
    made = report(store, run, comments={"local": hostile})
    (folder / "report.html").write_text(made.to_html())
    store.close()
    return folder / "report.html"


@pytest.mark.parametrize(
    "which, width, scheme",
    [("hostile", 1440, "light"), ("hostile", 390, "dark"), ("example", 390, "light")],
)
def test_it_draws_itself_and_asks_for_nothing(browser, request, which, width, scheme):
    example = which == "example"
    path = DOCS / "report.html" if example else request.getfixturevalue("path")
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]")
    assert page.locator(".plot .main-svg").count() >= 5
    assert page.evaluate("document.documentElement.scrollWidth") == width
    (ink,) = set(page.evaluate(COLOURS))
    assert ("38, 39, 48" in ink) == (scheme == "light"), ink

    if example:  # on a telephone: what does not fit there does not fit anywhere
        assert faults(page) == {}
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"{COLOURS[6:]}.every(fill => fill.includes('38, 39, 48'))")
    assert page.locator("details:not([open])").count() == 0  # on paper all is open
    assert asked == [path.as_uri()]
    assert said == []
    page.close()


def test_it_is_printed_with_its_figures(browser):
    """By a browser of its own; ``browser`` says what to do where there is none."""
    made = to_pdf((DOCS / "report.html").read_text())
    assert made.startswith(b"%PDF-")
    assert len(made) < 5e6
    assert len(re.findall(rb"/Type\s*/Page\b", made)) > 8
    lines = 0
    for packed in re.findall(rb"stream\r?\n(.*?)endstream", made, re.DOTALL):
        with contextlib.suppress(zlib.error):
            lines += zlib.decompress(packed).count(b" l\n")
    assert lines > 500  # without figures 32


def test_it_can_be_read_without_scripts(browser, path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.get_by_role("table", name="Models on test rows").is_visible()
    said = page.locator("noscript").first
    assert "Models with 95% intervals" in said.inner_text()
    assert said.is_visible()
    assert not page.locator(".plot").first.is_visible()  # no empty frames
    context.close()


def test_a_report_is_downloaded_from_the_page_of_a_run(page, server, audited, tmp_path):
    page.goto(f"{server}/Local_fairness?{audited}")
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    said = page.locator("body").inner_text()
    said = said.replace("Unconstrained, fast", "Unconstrained")  # beside other runs
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    saved = tmp_path / "report.html"
    download.value.save_as(saved)

    page.get_by_role("button", name="Compose the report").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Smallest group shown").wait_for()
    expect(page.get_by_test_id("stPopoverBody")).to_be_hidden()  # or it covers this
    shown = dialog.get_by_test_id("stMultiSelect")
    first = shown.get_by_text("What was found")
    first.locator("xpath=following-sibling::*").first.click()  # comes last now
    expect(first).to_have_count(0)
    shown.get_by_role("combobox").click()
    page.get_by_role("option", name="What was found").click()
    page.keyboard.press("Escape")
    dialog.get_by_text("Comments").click()
    words = dialog.get_by_role("textbox", name="What was found")
    words.fill("We decided to wait.")
    words.blur()
    settle(page)
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Report (HTML)").click()
    composed = tmp_path / "composed.html"
    download.value.save_as(composed)

    page.goto(saved.as_uri())
    page.wait_for_selector("html[data-drawn]")
    findings = page.locator(".finding").all_inner_texts()
    assert findings[0] in said
    page.goto(composed.as_uri())
    assert page.get_by_role("heading", level=2).last.inner_text() == "What was found"
    assert page.locator("section").last.locator(".comment").inner_text() == (
        "We decided to wait."
    )
