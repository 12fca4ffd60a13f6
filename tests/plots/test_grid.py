import numpy as np
import pandas as pd
import pytest

from fairdash.plots import (
    by_tau_finding,
    describe_grid,
    grid_finding,
    plot_by_tau,
    plot_grid,
    plot_ratio_by_tau,
    ratio_by_tau_finding,
)


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "fairness_weight": [0.5, 0.5, 2.0, 2.0, 4.0],
            "tau": [0.1, 0.6, 0.1, 0.6, 0.1],
            "value": [0.3, 0.2, 0.1, np.nan, 0.15],
            "within": [False, False, True, True, True],
        }
    )


def test_a_cell_stands_at_its_weight_and_tau_and_a_missing_one_is_empty(table):
    heat, marks, _ = plot_grid(table, metric="worst_1_di").data
    assert [list(row) for row in heat.z] == [[0.3, 0.1, 0.15], [0.2, None, None]]
    assert list(zip(marks.x, marks.y, strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0),
    ]  # fmt: skip
    assert "λ 2, τ 0.1" in marks.text[2]
    assert "0.100" in marks.text[2]


def test_a_line_runs_between_cells_within_and_beyond_the_limit(table):
    edge = plot_grid(table, metric="worst_1_di").data[2]
    upright = [x for x in edge.x if x is not None]
    assert upright.count(0.5) >= 4  # both rows, between λ 0.5 and 2


def test_words_name_the_ends(table):
    assert grid_finding(table, "worst_1_di") == "Worst-1-DI runs from 0.100 to 0.300"
    words = describe_grid(table, "worst_1_di")
    assert "from 0.100 at λ 2, τ 0.1 to 0.300 at λ 0.5, τ 0.1" in words
    empty = table.assign(value=np.nan)
    assert "undefined" in grid_finding(empty, "accuracy")
    assert "undefined" in describe_grid(empty, "accuracy")


def test_lines_by_tau_keep_the_order_of_the_weights():
    table = pd.DataFrame(
        {
            "part": ["λ 0–1", "λ 0–1", "λ 2–4", "λ 2–4"],
            "tau": [0.1, 0.6, 0.1, 0.6],
            "mean": [0.3, 0.3, 0.1, 0.2],
            "sd": [0.01, np.nan, 0.02, 0.02],
        }
    )
    low, high = plot_by_tau(table, metric="worst_1_di").data
    assert (low.name, high.name) == ("λ 0–1", "λ 2–4")
    assert low.error_y.array == (0.01, 0.0)
    assert high.y == (0.1, 0.2)
    words = by_tau_finding(table, "worst_1_di")
    assert words == "With the largest λ, τ moves Worst-1-DI by 0.100"


def test_the_distribution_of_r_has_one_line_per_tau():
    density = {0.1: [1.0, 0.0], 0.6: [0.25, 0.75]}
    figure = plot_ratio_by_tau([0.0, 1.0, 2.0], density)
    assert [trace.name for trace in figure.data] == ["τ 0.1", "τ 0.6"]
    assert figure.data[1].y == (0.0, 0.25, 0.25, 0.75, 0.75, 0.0)
    assert figure.data[1].x == (0.0, 0.0, 1.0, 1.0, 2.0, 2.0)
    assert "0.90 at τ 0.1, 0.20 at 0.6" in ratio_by_tau_finding({0.6: 0.2, 0.1: 0.9})
