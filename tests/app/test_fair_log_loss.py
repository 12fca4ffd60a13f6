"""Fair log-loss and the classical baselines on the Train page."""

import pytest
from reading import figures, words

from fairdash.sweep import MethodGrid
from fairdash.ui import start_training


@pytest.mark.parametrize(
    ("method", "constraints"),
    [
        ("fair_log_loss", "demographic_parity"),
        ("fair_log_loss", "equalized_odds"),
        ("fair_log_loss_cv", "demographic_parity"),
    ],
)
def test_fair_log_loss_shows_where_it_truncates(visit, dataset_id, method, constraints):
    grid = MethodGrid(method=method, params={"constraints": constraints})
    run = start_training(dataset_id, grid, 1)
    page = visit("Train", run=run)
    assert not page.exception
    said = words(page)
    assert "apart in probability" in said
    assert figures(page) >= 2


@pytest.mark.parametrize("method", ["reductions", "hardt", "covariance"])
def test_a_baseline_trains_and_shows_no_truncation(visit, dataset_id, method):
    run = start_training(dataset_id, MethodGrid(method=method), 1)
    page = visit("Train", run=run)
    assert not page.exception
    assert "apart in probability" not in words(page)
    assert figures(page) >= 1


def test_error_is_held_against_violation_for_the_constraint_asked_for(
    visit, dataset_id
):
    grid = MethodGrid(method="fair_log_loss", params={"constraints": "equalized_odds"})
    page = visit("Train", run=start_training(dataset_id, grid, 2))
    assert "standard deviation over 2 splits. Equalized odds." in words(page)
    choice = [one for one in page.get("button_group") if one.label == "Constraint"][-1]
    choice.set_value("demographic_parity").run()
    assert not page.exception
    assert "over 2 splits. Demographic parity." in words(page)
