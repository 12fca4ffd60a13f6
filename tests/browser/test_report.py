"""A report opened from disk: drawn without network, in both themes, for paper."""

from pathlib import Path

import numpy as np
import pytest
from driving import faults
from toys import ROLES, people, train_sweep

from fairdash.reports import report
from fairdash.store import open_store

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[2] / "docs"
COLOURS = """() => [...document.querySelectorAll(".plot .xtick text")]
  .map(text => getComputedStyle(text).fill)"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of a small sweep of six groups; names try to be more than text."""
    folder = tmp_path_factory.mktemp("report")
    store = open_store(folder / "home")
    hostile = "<img src=x onerror=alert(1)>"
    frame = people().replace({"branch": {"works": hostile}})
    frame["shift"] = np.arange(len(frame)) % 3
    roles = ROLES.model_copy(update={"crossed_with": ("shift",)})
    run = train_sweep(store, frame, f"</title>{hostile}", roles=roles)
    document = report(store, run)
    (folder / "report.html").write_text(document.to_html())
    store.close()
    return folder / "report.html"


def linked_pictures_follow_a_slider(page):
    """Move λ by key; every picture is of another setting then, names stay text."""
    page.locator(".moving[data-drawn]").wait_for()
    names = page.locator(".local .row .name").all_text_contents()
    assert any(name.startswith("<img") for name in names), names
    assert page.locator(".moving img").count() == 0
    # six densities would hide each other on one line, and six boxes on a row
    grounds = page.locator(".density .areas path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('transform'))"
    )
    assert len(set(grounds)) == len(grounds) == 6
    assert page.locator(".density .name").count() == 6
    assert page.locator(".quantiles .outer").count() == 0
    weight = page.get_by_role("slider", name="Fairness weight (λ)")
    weight.press("Home")
    cards = page.locator(".linked .cards")
    ring = page.locator(".front .ring")
    before = cards.inner_text(), page.locator(".map .chosen").get_attribute("y")
    weight.press("ArrowRight")
    page.wait_for_function(
        "was => document.querySelector('.moving').shadowRoot"
        ".querySelector('.map .chosen').getAttribute('y') !== was",
        arg=before[1],
    )
    assert cards.inner_text() != before[0]
    assert ring.count() == 1
    ink = page.locator(".linked .value").first.evaluate(
        "n => getComputedStyle(n).color"
    )
    assert ink == page.locator("h1").evaluate("n => getComputedStyle(n).color")


@pytest.mark.parametrize(
    "which, width, scheme", [("hostile", 1440, "dark"), ("example", 390, "light")]
)
def test_it_draws_itself_and_asks_for_nothing(browser, request, which, width, scheme):
    example = which == "example"
    path = DOCS / "report.html" if example else request.getfixturevalue("path")
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    calls = []
    texts = []
    page.on("request", lambda request: calls.append(request.url))
    page.on("console", lambda message: texts.append(message.text))
    page.on("pageerror", lambda error: texts.append(str(error)))
    page.on("dialog", lambda dialog: texts.append(dialog.message))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]")
    assert page.locator(".plot .main-svg").count() >= 4
    assert page.evaluate("document.documentElement.scrollWidth") == width
    (ink,) = set(page.evaluate(COLOURS))
    assert ("38, 39, 48" in ink) == (scheme == "light"), ink

    if not example:
        linked_pictures_follow_a_slider(page)
    if example:  # on a telephone: what does not fit there does not fit anywhere
        assert faults(page) == {}
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"{COLOURS[6:]}.every(fill => fill.includes('38, 39, 48'))")
    assert page.locator("details:not([open])").count() == 0  # on paper all is open
    assert page.get_by_role("slider").count() == 0  # linked pictures are a still
    assert calls == [path.as_uri()]
    assert texts == []
    page.close()
