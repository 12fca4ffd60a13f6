"""Every page by axe, in both themes, by a keyboard alone, and on a phone."""

import pytest
from conftest import wait_until
from driving import at_rest, faults, follow, open_window, settle
from toys import ROLES, people_csv

from fairdash.datasets import Subgroups
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import BASELINE, DataSource, MethodGrid, SweepSpec

pytestmark = pytest.mark.browser
QUICK = {"n_epochs": 4, "batch_size": 128}
PAGES = (
    "", "Data", "Train", "Local_fairness", "Weights", "Post-process", "Noisy_groups",
    "Individual_fairness", "Drift", "Runs", "Sweep",
)  # fmt: skip
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
REACHABLE = """
() => {
  const found = []
  const walk = root => root.querySelectorAll("*").forEach(element => {
    if (element.shadowRoot) walk(element.shadowRoot)
    const control = "a[href], button, input, textarea, canvas[tabindex], [role=slider]"
    if (!element.matches(control) || element.disabled || element.tabIndex < 0) return
    if (element.type === "radio" && !element.checked) return  // arrows go to it
    const group = element.closest("[role=radiogroup], [role=toolbar], [role=tablist]")
    if (group && element !== group.querySelector("[tabindex='0']")) return
    if (element.checkVisibility({ visibilityProperty: true })) found.push(element)
  })
  walk(document.querySelector("[data-testid=stMain]"))
  window.toReach = new Set(found)
}
"""
STEP = """
() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  window.toReach.delete(element)
  return [...window.toReach].map(one => one.outerHTML.slice(0, 120))
}
"""


@pytest.fixture(scope="module")
def runs(server, home):
    """The run of a sweep with weights and that of one ROAD model, finished."""
    store = open_store(home)
    table = store.add_table(people_csv(2000), "people.csv")
    data = DataSource(table=table, roles=ROLES, name="People")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    plain = MethodGrid(method=BASELINE, params=QUICK)
    ids = {}
    for name, weight in {"Sweep": [0.5, 1.0], "ROAD": 1.0}.items():
        road = MethodGrid(method="road", params={**QUICK, "fairness_weight": weight})
        spec = SweepSpec(data=data, methods=(plain, road), subgroups=subgroups)
        ids[name] = submit(store, spec, name=f"{name} of people")
        wait_until(lambda name=name: store.run(ids[name]).over)
    store.close()
    return ids


@pytest.fixture(scope="module")
def window(browser, server, runs):
    """A window on the run of one model; one for all pages, since loading is slow."""
    page = open_window(browser)
    page.goto(f"{server}/?run={runs['ROAD']}")
    yield page
    page.close()


@pytest.fixture(scope="module", params=PAGES)
def opened(request, window, server, runs):
    """A page on the run it shows most of."""
    window.set_viewport_size(DESK)
    window.emulate_media(color_scheme="light")
    at_rest(window, DESK["width"])  # a menu that still comes in swallows a click
    if request.param == "Sweep":
        window.goto(f"{server}/Sweep?run={runs['Sweep']}")
        window.get_by_role("heading", level=1).wait_for()
        settle(window)
    else:
        follow(window, request.param)
    return window


def test_axe_finds_nothing_serious_in_light_and_dark(opened):
    light = opened.evaluate("getComputedStyle(document.querySelector('.stApp')).color")
    assert faults(opened) == {}
    opened.emulate_media(color_scheme="dark")
    opened.wait_for_function(
        "was => getComputedStyle(document.querySelector('.stApp')).color !== was",
        arg=light,
    )
    settle(opened)
    assert faults(opened) == {}


@pytest.mark.parametrize("opened", ["", "Sweep", "Post-process", "Runs"], indirect=True)
def test_the_keyboard_alone_reaches_every_control(opened):
    opened.evaluate(REACHABLE)
    left = opened.evaluate(STEP)
    assert left
    for _ in range(150):
        opened.keyboard.press("Tab")
        left = opened.evaluate(STEP)
        if not left:
            break
    assert left == []


def test_no_page_is_wider_than_a_phone(opened):
    opened.set_viewport_size(PHONE)
    opened.wait_for_function("innerWidth < 400")
    settle(opened)
    main = opened.get_by_test_id("stMain")
    wide = main.evaluate("main => main.scrollWidth - main.clientWidth")
    assert wide <= 0, f"scrolls sideways by {wide} px"
