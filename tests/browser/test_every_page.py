"""Every page of a run whose names try to be markup: by axe, by keyboard, on a phone.

Names and values stay text, and nothing beyond the app is asked for.
"""

from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from conftest import wait_until
from driving import at_rest, faults, follow, open_window, settle

from fairdash.datasets import Roles
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import BASELINE, DataSource, MethodGrid, SweepSpec

pytestmark = pytest.mark.browser
EVIL = "evil.invalid"
IMAGE = f"![x](http://{EVIL}/i.png)"
HTML = f"<img src=http://{EVIL}/t.png>"
TICKS = f"`` ` ![x](http://{EVIL}/b.png) `"
LINK = f'<a href="http://{EVIL}/a">x</a>'
BARE = f"http://{EVIL}/bare www.{EVIL} a@{EVIL}"
SCRIPT = f"[x](javascript:fetch('http://{EVIL}/j'))"
QUICK = {"n_epochs": 2, "batch_size": 256}
PAGES = (
    "", "Data", "Train", "Local_fairness", "Weights", "Post-process", "Noisy_groups",
    "Individual_fairness", "Drift", "Runs", "Sweep",
)  # fmt: skip
NAMELESS = "Home", "Runs", "Drift"  # their tables are canvases, or not chosen yet
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


def hostile_table(n=600):
    rng = np.random.default_rng(0)
    group = rng.choice([f"{LINK} {IMAGE}", f"{TICKS} {HTML}"], n)
    branch = rng.choice([SCRIPT, f"{IMAGE} {BARE}"], n)
    skill = rng.normal(size=n).round(3)
    paid = np.where(skill + rng.logistic(size=n) > 0, f"yes {IMAGE}", f"no {LINK}")
    score = (1 / (1 + np.exp(-skill))).round(3)
    return pd.DataFrame(
        {
            f"skill {IMAGE}": skill,
            f"score {TICKS}": score,
            f"branch {LINK}": branch,
            f"group {HTML} {BARE}": group,
            f"paid {SCRIPT}": paid,
        }
    )


@pytest.fixture(scope="module")
def hostile(home, audited):
    """The query of a run, trained on a table all of whose names are hostile."""
    frame = hostile_table()
    skill, _, branch, group, paid = frame.columns
    roles = Roles(
        target=paid,
        positive=f"yes {IMAGE}",
        sensitive_feature=group,
        features=(skill, branch),
        subgroup_columns=(branch,),
    )
    with closing(open_store(home)) as store:
        content = frame.to_csv(index=False).encode()
        table = store.add_table(content, f"{IMAGE} {LINK}.csv")
        data = store.add_dataset(table, roles, f"{TICKS} {IMAGE} {BARE}")
        name = f"{IMAGE} {HTML} {LINK} {TICKS} {BARE} {SCRIPT}"
        grids = (
            MethodGrid(method=BASELINE, params=QUICK),
            MethodGrid(method="road", params=QUICK | {"tau": (0.1, 1.0)}),
        )
        source = DataSource(table=table, roles=roles, name=name)
        run = submit(store, SweepSpec(data=source, methods=grids), name=name)
        wait_until(lambda: store.run(run).over)
        assert store.run(run).status == "finished"
        yield f"data={data}&run={run}"


@pytest.fixture(scope="module")
def window(browser, server, hostile):
    """A window on the run, for all pages; and what it asked for beyond the app."""
    found = []

    def watch(route):
        url = route.request.url
        if url.startswith(("http://localhost", "data:", "blob:")):
            route.continue_()
        else:
            found.append(url)
            route.abort()

    page = open_window(browser)
    page.route("**/*", watch)
    page.goto(f"{server}/?{hostile}")
    yield page, found
    page.close()


@pytest.fixture(scope="module", params=PAGES)
def opened(request, window, server, hostile):
    """A page of the run, at rest on a desktop."""
    page, _ = window
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    at_rest(page, DESK["width"])  # a menu that still comes in swallows a click
    if request.param == "Sweep":
        page.goto(f"{server}/Sweep?{hostile}")
        page.get_by_role("heading", level=1).wait_for()
        settle(page)
    else:
        follow(page, request.param)
    return page


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


def test_a_hostile_name_is_text(opened, window):
    _, asked = window
    opened.set_viewport_size(DESK)
    for expander in opened.locator("summary").all():
        expander.click()
    settle(opened)
    assert asked == []
    evil = f"a[href*='{EVIL}'], a[href^='javascript'], [src*='{EVIL}']"
    links = opened.evaluate(
        """() => [...document.querySelectorAll('a, img')].map(
             e => e.outerHTML + ' in ' + (e.closest('[data-testid^=st]')
               ?.outerHTML ?? '').slice(0, 300))"""
    )
    assert opened.locator(evil).count() == 0, [one for one in links if EVIL in one]
    svg = opened.evaluate(
        """() => [...document.querySelectorAll('svg a')].map(
             e => e.getAttribute('xlink:href') ?? e.getAttribute('href') ?? '')"""
    )
    assert [link for link in svg if link] == []
    assert opened.get_by_text("Traceback").count() == 0
    if opened.title().partition(" · ")[0] not in NAMELESS:
        assert EVIL in opened.content()  # the name is there, as text
