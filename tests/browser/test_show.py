"""The show mode in Chromium, by a keyboard alone, in both themes."""

from contextlib import closing
from pathlib import Path

import pytest
from cases import sampled
from driving import at_rest, lasting_faults, open_window, settle
from playwright.sync_api import expect

from fairdash import ui
from fairdash.audits import scenes
from fairdash.jobs import finished_file, unpack_runs
from fairdash.store import open_store

pytestmark = pytest.mark.browser
FOCUSED = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element?.ariaLabel || element?.textContent || ""
}"""
KEYS = Path(ui.__file__).parent / "widgets" / "show_keys.js"
# Draws scenes as the server does: 1, then after two keys what it made of the first.
QUICK_KEYS = """async source => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }))
  const draw = (await import(url)).default
  const told = []
  const setStateValue = (name, value) => told.push(value)
  const press = key => dispatchEvent(new KeyboardEvent("keydown", { key }))
  const drawn = (at, heard) => draw({ data: { at, n: 6, heard }, setStateValue })
  drawn(1, 0)
  press("ArrowRight")
  press("ArrowRight")
  const leave = drawn(2, told[0][1])
  press("ArrowRight")
  drawn(4, told[2][1])
  press("ArrowLeft")
  const scenes = told.map(([scene]) => scene)
  leave()
  return scenes
}"""
COUNT_WATCHERS = """
window.watchers = new Set()
const { setInterval: start, clearInterval: end } = window
window.setInterval = (...how) => {
  const id = start(...how)
  watchers.add(id)
  return id
}
window.clearInterval = id => { watchers.delete(id); end(id) }
window.ResizeObserver = class extends ResizeObserver {
  observe(...what) { watchers.add(this); super.observe(...what) }
  disconnect() { watchers.delete(this); super.disconnect() }
}
"""
SIZE = "node => parseFloat(getComputedStyle(node).fontSize)"


@pytest.fixture(scope="module")
def page(browser, server, home):
    """A window on a finished sweep."""
    with closing(open_store(home)) as store:
        (run,), _ = unpack_runs(store, finished_file("hiring"))
    page = open_window(browser)
    page.goto(f"{server}/Sweep?run={run}")
    page.locator(".linked .map rect").first.wait_for()
    at_rest(page, 1440)
    yield page
    page.close()


def tab_to(page, name):
    """Press Tab until something whose name ends so has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).strip().endswith(name):
            return
    raise AssertionError(f"Tab does not reach {name!r}")


def test_a_keyboard_alone_presents_a_sweep_and_returns_to_it(page, thorough):
    before = page.get_by_role("heading", level=1).evaluate(SIZE)
    tab_to(page, "Present")
    page.keyboard.press("Enter")
    for at, scene in enumerate(scenes.SCENES, 1):
        page.get_by_role("heading", name=scene.question).wait_for()
        expect(page.get_by_text(f"{at} of {len(scenes.SCENES)}")).to_be_visible()
        settle(page)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
        if thorough or at % 3 == 1:
            assert lasting_faults(page) == {}, scene.name
            page.emulate_media(color_scheme="dark")
            assert lasting_faults(page, "color-contrast") == {}, scene.name
            page.emulate_media(color_scheme="light")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width == 1440, scene.name
        page.keyboard.press("PageDown" if at % 2 else "ArrowRight")
    assert page.get_by_role("heading", level=1).evaluate(SIZE) > 1.2 * before
    for scene in scenes.SCENES[-2::-1]:
        page.keyboard.press("ArrowLeft")
        page.get_by_role("heading", name=scene.question).wait_for()
    page.locator(".linked.stage .front .ring").wait_for()
    tab_to(page, "Locality (τ)")
    slider = page.get_by_role("slider", name="Locality (τ)")
    page.keyboard.press("Home")
    first = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")  # of a slider that has the focus
    expect(slider).not_to_have_attribute("aria-valuetext", first)
    chosen = slider.get_attribute("aria-valuetext")
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(scenes.SCENES[0].question)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Present").wait_for()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(slider).to_have_attribute("aria-valuetext", chosen)
    assert "show=" not in page.url


def test_a_key_pressed_before_the_last_one_was_drawn_counts(browser):
    page = open_window(browser)
    assert page.evaluate(QUICK_KEYS, KEYS.read_text("utf-8")) == [2, 3, 4, 3]
    page.close()


@pytest.mark.parametrize(
    ("name", "drawn"),
    sampled([("Sweep", ".linked .map rect"), ("Post-process", ".live_ramp")], 2),
)
def test_drawing_anew_leaves_no_watcher_behind(browser, server, page, name, drawn):
    address = page.url.partition("?")[2]
    window = open_window(browser)
    window.add_init_script(COUNT_WATCHERS)
    window.goto(f"{server}/{name}?{address}")
    counts = []
    for theme in ("light", "dark", "light", "dark", "light"):
        window.emulate_media(color_scheme=theme)
        window.locator(drawn).first.wait_for()
        window.wait_for_timeout(1000)  # the page is asked for anew within .3 s
        settle(window)
        counts.append(window.evaluate("watchers.size"))
    window.close()
    assert counts[0] == counts[2] == counts[4]
