"""A quick sweep in Chromium: grow, refresh, slide, click, open the model elsewhere."""

import re

import pytest
from driving import boxes, still
from playwright.sync_api import expect
from toys import ROLES, people_csv

from fairdash._wording import gap_size
from fairdash.audits import trials
from fairdash.jobs import cancel, submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

pytestmark = pytest.mark.browser


NAMED = "(marks, label) => marks.findIndex(m => m.__data__.setting.label === label)"


def mark_of(page, label):
    """Return the mark of a setting on the front."""
    marks = page.locator(".front .marks path")
    return marks.nth(marks.evaluate_all(NAMED, label))


def middle_of(locator):
    """Return where an element's middle is."""
    (box,) = boxes(locator)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def keep_busy(store):
    """Give each of the two workers of the engine something without end to train."""
    data = DataSource(table=store.add_table(people_csv(), "p.csv"), roles=ROLES)
    for tau in (0.3, 0.6):
        params = {"n_epochs": 100_000, "batch_size": 128, "tau": tau}
        methods = (MethodGrid(method="road", params=params),)
        yield submit(store, SweepSpec(data=data, methods=methods))


def test_a_quick_sweep_grows_survives_a_refresh_and_leads_to_its_models(
    page, server, audited, home
):
    page.set_viewport_size({"width": 1440, "height": 1400})
    page.goto(f"{server}/Sweep?{audited}")
    page.get_by_text("No sweep opened", exact=True).wait_for()
    expect(page.get_by_text(re.compile("31 models.*about"))).to_be_visible()
    store = open_store(home)
    busy = list(keep_busy(store))
    page.get_by_role("button", name="Run sweep").click()
    page.get_by_text("safe to close this page").wait_for()
    address = page.url
    page.reload()
    page.get_by_text("safe to close this page").wait_for()
    for run in busy:
        cancel(store, run)
    # models appear in the pictures while others train
    page.locator(".front .marks path").first.wait_for()
    page.get_by_text("safe to close this page").wait_for(state="detached")
    page.locator(".card").first.wait_for()
    assert page.url.startswith(address)  # and says which setting is shown
    rows = store.snapshot(store.runs()[0].id).table()
    assert len(rows) == 31
    # the right arrow moves a slider one value on, and the numbers with it
    road = rows[rows["method"] == "road"]
    page.get_by_role("combobox", name="Method").first.click()
    page.get_by_role("option", name="ROAD", exact=True).click()
    document = page.get_by_role("slider", name="Locality (τ)")
    document.wait_for()
    slider = page.get_by_role("slider", name="Fairness weight (λ)")
    pages = page.evaluate("history.length")
    for key in ("Home", "ArrowRight"):
        slider.press(key)
    weights = sorted(road["fairness_weight"].unique())
    tau = float(document.get_attribute("aria-valuetext"))
    mine = road[(road["fairness_weight"] == weights[1]) & (road["tau"] == tau)]
    worst = page.locator(".card").filter(has_text="Largest local gap")
    expect(worst).to_have_count(1)  # that of the other method is gone
    expect(worst).to_contain_text(gap_size(mine["test_worst_1_di"].item()))
    models = trials.known_models(store, store.runs()[0].dataset_id)
    ids = {model.label: model.id for model in models}
    store.close()
    page.wait_for_url(re.compile(ids[f"ROAD λ {weights[1]:g} τ {tau:g}"]))
    assert page.evaluate("history.length") == pages  # Back leads to another page

    # a click on a mark of the front leads to that model
    grid = road.sort_values(["fairness_weight", "tau"]).reset_index(drop=True)
    row = grid.iloc[20]
    mark_of(page, f"ROAD λ {row['fairness_weight']:g} τ {row['tau']:g}").click(
        force=True  # another mark may lie on it
    )
    expect(worst).to_contain_text(gap_size(grid["test_worst_1_di"][20]))

    # while λ is dragged all follows in the browser; the address does on release
    box = still(slider)
    middle = box["y"] + box["height"] / 2
    tau = grid["tau"][20]
    before = page.url
    page.mouse.move(box["x"] + box["width"] - 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 8, middle, steps=4)
    low = grid[grid["tau"] == tau].iloc[0]
    expect(worst).to_contain_text(gap_size(low["test_worst_1_di"]))
    label = f"ROAD λ {low['fairness_weight']:g} τ {tau:g}"
    ring = middle_of(page.locator(".front .ring"))
    assert ring == pytest.approx(middle_of(mark_of(page, label)), abs=1.5)
    assert page.url == before
    page.mouse.up()
    page.wait_for_url(re.compile(ids[label]))

    # the chosen model stands open on the pages that look at one
    page.get_by_test_id("stSidebar").get_by_text("Weights", exact=True).click()
    page.get_by_role("heading", name="Which rows carry weight?").wait_for()
    expect(page.get_by_text(label).first).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_text("Sweep", exact=True).click()
    page.wait_for_url(re.compile(ids[label]))
    page.get_by_test_id("stSidebar").get_by_text("Local fairness").click()
    page.get_by_role("heading", name="Where is the model unfair?").wait_for()
    expect(page.get_by_text(re.compile(re.escape(label))).first).to_be_visible()
