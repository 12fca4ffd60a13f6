"""What a page asks of its reader before anything is opened, held in Chromium."""

import sys
from pathlib import Path

import pytest
from driving import open_window, settle

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/server"))
from page_weight import MEASURE

pytestmark = pytest.mark.browser
MOST_WORDS = 250
LOWEST_FIGURE = 330  # px of 900
PHONE = 844  # px, its first screen
PAGES = ("Data", "Train", "Local_fairness")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_page_says_its_answer_on_one_screen(browser, server, audited, width):
    page = open_window(browser, width, 900 if width == 1440 else PHONE)
    for name in PAGES:
        page.goto(f"{server}/{name}?{audited}")
        page.locator(".js-plotly-plot .nsewdrag").first.wait_for()
        settle(page)
        weight = page.evaluate(MEASURE)
        assert weight["words"] <= MOST_WORDS, name
        lowest = LOWEST_FIGURE if width == 1440 else PHONE
        assert 0 < weight["figure"] < lowest, name
    page.close()
