"""Fair log-loss and the classical baselines on the Train page."""

import pytest
from reading import figures, numbers, words

from fairdash.sweep import MethodGrid
from fairdash.ui import start_training


@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
def test_fair_log_loss_shows_its_players_and_truncation(visit, dataset_id, constraints):
    grid = MethodGrid(method="fair_log_loss", params={"constraints": constraints})
    run = start_training(dataset_id, grid, 1)
    page = visit("Train", run=run)
    assert not page.exception
    said = words(page)
    assert "What the predictor plays against" in said
    assert "after rounding" in said
    assert figures(page) >= 3


@pytest.mark.parametrize("method", ["reductions", "hardt", "covariance"])
def test_a_baseline_trains_and_shows_no_truncation(visit, dataset_id, method):
    run = start_training(dataset_id, MethodGrid(method=method), 1)
    page = visit("Train", run=run)
    assert not page.exception
    assert "What the predictor plays against" not in words(page)
    assert figures(page) >= 1


def test_two_features_show_what_the_multiplier_does(visit, dataset_id):
    run = start_training(dataset_id, MethodGrid(method="fair_log_loss"), 1)
    page = visit("Train", run=run)
    assert abs(float(numbers(page)["Gap in probability"].replace("−", "-"))) < 0.01
    (held,) = [one for one in page.slider if one.label == "Multiplier (λ)"]
    held.set_value(0.0).run()
    assert not page.exception
    assert float(numbers(page)["Gap in probability"]) > 0.1
    assert float(numbers(page)["λ* here"]) > 0.1


def test_error_is_held_against_violation_for_the_constraint_asked_for(
    visit, dataset_id
):
    grid = MethodGrid(method="fair_log_loss", params={"constraints": "equalized_odds"})
    page = visit("Train", run=start_training(dataset_id, grid, 2))
    assert "standard deviation over 2 splits. Equalized odds." in words(page)
    choice = [one for one in page.get("button_group") if one.label == "Constraint"][-1]
    choice.set_value("demographic_parity").run()
    assert not page.exception
    assert "over 2 splits. Parity." in words(page)
