"""Linked pictures on the pages of a sweep's models: fewer, of the model in question."""

import pytest
from reading import place_of, sent, widget

from fairdash import ui
from fairdash.audits import sweeps
from fairdash.linked import EVERY_PART

PARTS = {"Local fairness": ["local", "map"], "Weights": ["density", "quantiles"]}


def offered(page):
    """Return the names of the evidence that a page offers."""
    return widget(page, "button_group", "Evidence").options


@pytest.mark.parametrize("name", PARTS)
def test_a_page_of_a_sweep_moves_through_its_settings(visit, two_methods, name):
    sweep = sweeps.finished_sweep(ui.store(), two_methods)
    place = sweep.result.means["method"].tolist().index("road")
    model = sweep.ids[place]
    page = visit(name, run=two_methods, model=model, opened="settings")
    assert not page.exception
    pictures = sent(page, "linked")
    assert pictures["shows"] == PARTS[name]
    assert place_of(page) == place
    closed = visit(name, run=two_methods, model=model)
    assert sent(closed, "linked") is None
    assert closed.header[0].value == page.header[0].value


@pytest.mark.parametrize("name", PARTS)
def test_a_run_of_one_setting_offers_none(visit, trained, name):
    page = visit(name, run=trained("road", n_epochs=2), opened="settings")
    assert not page.exception
    assert "All settings" not in str(offered(page))
    assert sent(page, "linked") is None


def test_in_the_tour_the_sweep_shows_what_one_screen_holds(visit, two_methods):
    shows = sent(visit("Sweep", run=two_methods, tour="1"), "linked")["shows"]
    all_shows = sent(visit("Sweep", run=two_methods), "linked")["shows"]
    assert all_shows == list(EVERY_PART)
    assert set(shows) < set(all_shows)
