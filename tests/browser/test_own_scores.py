"""A model that exists already: from its file to its error rates in three clicks."""

import re

import pytest
from driving import settle
from playwright.sync_api import expect
from toys import prisoners

pytestmark = pytest.mark.browser


def test_error_rates_and_calibration_stand_on_one_screen(page, server, tmp_path):
    path = tmp_path / "rated.csv"
    prisoners().to_csv(path, index=False)
    page.goto(server)
    page.get_by_role("button", name="Upload a table").click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name="Audit decile_score").click()
    heading = page.get_by_role("heading", name="Every measure of")
    heading.wait_for()
    expect(page).to_have_url(re.compile("measure=false_positive_rate"))
    settle(page)
    heading.evaluate("node => node.scrollIntoView()")
    settle(page)
    column = page.get_by_test_id("stColumn").filter(
        has=page.get_by_test_id("stDataFrame")
    )
    table = column.get_by_test_id("stDataFrame").first.bounding_box()
    curve = page.locator(".js-plotly-plot").nth(1).bounding_box()
    for box in (table, curve):
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    assert table["x"] + table["width"] <= curve["x"]
