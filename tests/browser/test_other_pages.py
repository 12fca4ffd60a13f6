"""Drift, the search of subgroups and kept data, on a phone and then on a desktop."""

import pytest
from driving import open_window, settle
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
PHONE, DESKTOP = 390, 1440


@pytest.fixture
def window(browser):
    page = open_window(browser, width=PHONE)
    yield page
    page.close()


def fits(page):
    """Wait until nothing of the page lies beyond its right edge, at both widths."""
    for width in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        # tables are drawn anew some time after a window has changed its width
        page.wait_for_function(
            """width => {
              const main = document.querySelector("[data-testid=stMain]")
              return innerWidth === width && main.scrollWidth <= main.clientWidth + 1
            }""",
            arg=width,
        )


def test_drift_compares_parts_of_the_table(window, server, audited):
    window.goto(f"{server}/Drift?{audited}&parts=branch")
    figure = window.locator(".js-plotly-plot").first
    expect(figure).to_be_visible()
    expect(window.get_by_text("branch works").first).to_be_visible()
    expect(window.get_by_test_id("stMetric")).to_have_count(4)
    box = figure.bounding_box()
    assert box["x"] + box["width"] <= window.viewport_size["width"]
    fits(window)


def test_subgroups_are_searched(window, server, audited):
    window.goto(f"{server}/Local_fairness?{audited}")
    window.get_by_text("Worst-1-DI by chance").first.wait_for()
    settle(window)
    figures = window.locator(".js-plotly-plot").count()
    search = window.get_by_role("button", name="Find subgroups")
    search.scroll_into_view_if_needed()
    search.click()
    expect(search).to_have_count(0)
    expect(window.locator(".js-plotly-plot")).to_have_count(figures + 1)
    settle(window)
    fits(window)


@pytest.mark.usefixtures("audited")
def test_data_kept_here_lists_the_files(window, server):
    window.goto(f"{server}/Runs")
    window.get_by_text("Data kept here").click()
    kept = window.get_by_test_id("stExpander").get_by_test_id("stDataFrame")
    kept.scroll_into_view_if_needed()
    expect(kept.locator("canvas").first).to_be_visible()
    assert kept.bounding_box()["width"] <= window.viewport_size["width"]
    fits(window)
