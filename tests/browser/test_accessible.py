"""Every page by axe, in both themes, by a keyboard alone, on a phone; what it asks."""

import sys
from contextlib import closing
from pathlib import Path

import pytest
from cases import sampled
from driving import at_rest, follow, lasting_faults, open_window, settle

from fairdash.jobs import finished_file, unpack_runs
from fairdash.store import open_store
from fairdash.ui import pages

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/server"))
from page_weight import MEASURE

pytestmark = pytest.mark.browser
PAGES = [page.url_path for page in pages.pages()]
NO_FIGURE = ("", "Drift", "Runs", "Monitor")  # Drift: no other table
LOWEST_FIGURE = 345  # pixels of 900, where plotting begins below two lines
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
REACHABLE = """
() => {
  const controls = []
  const walk = root => root.querySelectorAll("*").forEach(element => {
    if (element.shadowRoot) walk(element.shadowRoot)
    const control = "a[href], button, input, textarea, canvas[tabindex], [role=slider]"
    if (!element.matches(control) || element.disabled || element.tabIndex < 0) return
    if (element.type === "radio" && !element.checked) return  // arrows go to it
    const group = element.closest("[role=radiogroup], [role=toolbar], [role=tablist]")
    if (group && element !== group.querySelector("[tabindex='0']")) return
    if (element.checkVisibility({ visibilityProperty: true })) controls.push(element)
  })
  walk(document.querySelector("[data-testid=stMain]"))
  window.toReach = new Set(controls)
}
"""
STEP = """
() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  window.toReach.delete(element)
  return [...window.toReach].map(element => element.outerHTML.slice(0, 120))
}
"""


@pytest.fixture(scope="module")
def window(browser, server, home):
    """A window on a finished sweep; one for all pages, since loading is slow."""
    with closing(open_store(home)) as store:
        (run,), _ = unpack_runs(store, finished_file("hiring"))
    page = open_window(browser)
    page.goto(f"{server}/?run={run}")
    yield page
    page.close()


@pytest.fixture(scope="module", params=sampled(PAGES, 5))
def opened(request, window):
    """A page on the run."""
    window.set_viewport_size(DESK)
    window.emulate_media(color_scheme="light")
    at_rest(window, DESK["width"])  # a menu that still comes in swallows a click
    follow(window, request.param)
    return window


def test_axe_finds_nothing_serious_in_light_and_dark(opened):
    light = opened.evaluate("getComputedStyle(document.querySelector('.stApp')).color")
    assert lasting_faults(opened) == {}
    opened.emulate_media(color_scheme="dark")
    opened.wait_for_function(
        "was => getComputedStyle(document.querySelector('.stApp')).color !== was",
        arg=light,
    )
    assert lasting_faults(opened, "color-contrast") == {}


@pytest.mark.parametrize(
    "opened",
    sampled(["Playground", "", "Sweep", "Post-process", "Runs"], 2),
    indirect=True,
)
def test_the_keyboard_alone_reaches_every_control(opened):
    opened.evaluate(REACHABLE)
    remaining = opened.evaluate(STEP)
    assert remaining
    for _ in range(150):
        opened.keyboard.press("Tab")
        remaining = opened.evaluate(STEP)
        if not remaining:
            break
    assert remaining == []


def test_a_page_says_its_answer_on_one_screen(opened, request):
    name = request.node.callspec.params["opened"]
    drawn = f"() => {{ const page = ({MEASURE})(); return page.figure > 0 && page }}"
    if name in NO_FIGURE:
        weight = opened.evaluate(MEASURE)
    else:  # one look, as a figure may be drawn anew between two
        weight = opened.wait_for_function(drawn).json_value()
    assert weight["words"] <= 250
    assert weight["row"] <= 4
    assert name in NO_FIGURE or 0 < weight["figure"] <= LOWEST_FIGURE
    assert name in NO_FIGURE or weight["cards"] <= 4


def test_no_page_is_wider_than_a_phone(opened, request):
    opened.set_viewport_size(PHONE)
    opened.wait_for_function("innerWidth < 400")
    settle(opened)
    main = "document.querySelector('[data-testid=stMain]')"  # tables follow late
    opened.wait_for_function(f"{main}.scrollWidth <= {main}.clientWidth")
    if request.node.callspec.params["opened"] not in NO_FIGURE:
        assert 0 < opened.evaluate(MEASURE)["figure"] < PHONE["height"]
