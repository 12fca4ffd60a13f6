"""Fair log-loss and the classical baselines on the Train page."""

import pytest
from reading import figures, words

from fairdash import ui
from fairdash.sweep import MethodGrid


@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_fair_log_loss_shows_its_players_and_truncation(visit, dataset_id, constraints):
    grid = MethodGrid(method="fair_log_loss", params={"constraints": constraints})
    run = ui.train(dataset_id, grid, 1)
    page = visit("Train", run=run)
    assert not page.exception
    said = words(page)
    assert "What the predictor plays against" in said
    assert "after rounding" in said
    assert figures(page) >= 3


@pytest.mark.parametrize("method", ["reductions", "hardt", "covariance"])
def test_a_baseline_trains_and_shows_no_truncation(visit, dataset_id, method):
    run = ui.train(dataset_id, MethodGrid(method=method), 1)
    page = visit("Train", run=run)
    assert not page.exception
    assert "What the predictor plays against" not in words(page)
    assert figures(page) >= 1
