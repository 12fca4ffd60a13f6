"""Runs, in Chromium: rows are chosen on a canvas that no other test can reach."""

import pytest
from conftest import wait_until
from driving import still
from playwright.sync_api import expect
from toys import ROLES, people_csv

from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

pytestmark = pytest.mark.browser
QUICK = {"n_epochs": 4, "batch_size": 128}


def choose_first(page):
    """Tick the first row of the table."""
    box = still(page.get_by_test_id("stDataFrame").first)
    page.mouse.click(box["x"] + 18, box["y"] + 52)
    page.get_by_text("1 run chosen").wait_for()


def delete(page):
    """Press the button of what was chosen; own models have another one each."""
    page.get_by_test_id("stBaseButton-secondary").filter(has_text="Delete").click()


def trained(store, grid, name):
    """Train a grid in the engine of the app and return the run."""
    table = store.add_table(people_csv(), "people.csv")
    data = DataSource(table=table, roles=ROLES, name="People")
    run = submit(store, SweepSpec(data=data, methods=(grid,)), name=name)
    wait_until(lambda: store.run(run).over)
    return run


@pytest.mark.usefixtures("audited")
def test_a_run_is_deleted(page, server, home):
    store = open_store(home)
    run = trained(store, MethodGrid(method="unconstrained", params=QUICK), "Old name")
    page.goto(f"{server}/Runs")
    page.get_by_text("Old name").first.wait_for(state="attached")
    choose_first(page)

    delete(page)
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Old name")).to_have_count(0)
    assert run not in [record.id for record in store.runs()]
    store.close()


@pytest.mark.usefixtures("audited")
def test_a_table_offers_no_csv_but_ours(page, server):
    """The browser's own download writes what a spreadsheet runs."""
    page.goto(f"{server}/Runs")
    table = page.get_by_test_id("stDataFrame").first
    table.hover()
    expect(page.get_by_role("button", name="Search").first).to_be_visible()
    download = page.get_by_test_id("stElementToolbarButton").filter(
        has=page.locator("[aria-label^='Download as CSV']")
    )
    expect(download).not_to_have_count(0)
    expect(download.first).to_be_hidden()
