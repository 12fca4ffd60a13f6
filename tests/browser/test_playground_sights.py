"""What a method sees, drawn: every method in every scene, without a fault."""

from pathlib import Path

import pytest
from cases import paired
from driving import open_window
from playwright.sync_api import expect

from fairdash.audits import playground
from fairdash.ui.playground import plane

pytestmark = pytest.mark.browser

LITTLE = {"n_epochs": 1, "max_iter": 1, "n_samples": 1, "max_prefixes": 20}
STYLE = """<style>:root { --st-text-color: #262730; --st-primary-color: #0072B2;
  --st-background-color: #FFFFFF; --st-font: sans-serif }</style>
  <div id="host"><div class="live_plane"></div></div>"""
LOAD = """async (script) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }))
  window.component = (await import(url)).default
}"""
DRAW = """(data) => window.component({
  data, parentElement: document.querySelector("#host"), setTriggerValue: () => {} })"""
SHORT = 10_000  # ms: nothing is waited for but a frame
MOVE = """(input, place) => {
  input.value = place * input.max
  input.dispatchEvent(new Event("input"))
}"""


@pytest.fixture(scope="module")
def component(browser):
    """A page with the component alone, and what went wrong in it."""
    page = open_window(browser)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_content(STYLE)
    folder = Path(plane.__file__).parent
    scripts = [(folder / f"{name}.js").read_text() for name in plane._SCRIPTS]
    page.evaluate(LOAD, "\n".join(scripts))
    yield page, faults
    page.close()


def payload_of(method, people):
    """Train a little at two stops of each slider."""
    entry = playground.METHODS[method]
    names = {param.name for param in entry.params}
    slider = playground.slider_of(entry, people)
    second = playground.second_slider_of(entry)
    surfaces = playground.train(
        people,
        method,
        stops=None if slider is None else slider.stops[::8],
        second_stops=() if second is None else second.stops[::2],
        params={name: value for name, value in LITTLE.items() if name in names},
    )
    return playground.payload(surfaces)


@pytest.mark.parametrize(
    ("method", "scene"),
    paired(list(playground.METHODS), list(playground.SCENES), together=1),
)
def test_every_method_is_drawn_in_every_scene(component, method, scene):
    """At both ends of the slider and between; without what the method sees as well."""
    page, faults = component
    people = playground.SCENES[scene].people(n=150)
    view = payload_of(method, people)
    data = {
        "id": f"{method} {scene}",
        "scene": scene,
        "edit": 0,
        "most": playground.MOST_PEOPLE,
        "colours": ["#0072B2", "#C15500"],
        "truth": True,
        "problem": "",
        "rest": False,
        "waiting": False,
        "views": [view],
        **playground.plane_payload(people),
    }
    page.evaluate(DRAW, data)
    sight = page.locator(".sight")
    canvas = page.locator("canvas")
    sees = view["sees"]
    if sees is None:
        expect(sight).to_be_hidden()
        expect(page.locator(".see")).to_be_hidden()
    else:
        n_stops = len(view["slider"]["stops"])
        # the second slider begins in its middle
        row = n_stops * (len(sees["stops"]) // n_stops // 2)
        for place, stop in ((0.5, None), (1.0, row + n_stops - 1), (0.0, row)):
            page.locator(".first input").evaluate(MOVE, place)
            if stop is not None:
                words = sees["stops"][stop]
                expect(page.locator(".caption")).to_have_text(
                    words["caption"], timeout=SHORT
                )
                expect(page.locator(".key")).to_contain_text(
                    words["key"], timeout=SHORT
                )
            expect(sight.locator("svg")).to_have_count(1)
            assert "NaN" not in sight.locator(".seen").inner_html()
        drawn = canvas.evaluate("(canvas) => canvas.toDataURL()")
        page.get_by_label("What the method sees").uncheck()
        expect(sight).to_be_hidden()
        # where nothing is truncated, nothing is hatched
        if sees["kind"] != "rules":
            assert drawn != canvas.evaluate("(canvas) => canvas.toDataURL()")
        page.get_by_label("What the method sees").check()
        expect(sight).to_be_visible()
    assert faults == []
