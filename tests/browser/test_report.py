"""A report opened from disk: drawn without network, in both themes, for paper."""

from pathlib import Path

import pytest
from driving import faults
from toys import people, train_sweep

from fairdash.reports import report
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
    made = report(store, run)
    (folder / "report.html").write_text(made.to_html())
    store.close()
    return folder / "report.html"


@pytest.mark.parametrize(
    "which, width, scheme", [("hostile", 1440, "dark"), ("example", 390, "light")]
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
    assert page.locator(".plot .main-svg").count() >= 4
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
