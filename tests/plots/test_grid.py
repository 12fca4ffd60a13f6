import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.plots import plot_grid


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "fairness_weight": [0.5, 0.5, 2.0, 2.0, 4.0],
            "tau": [0.1, 0.6, 0.1, 0.6, 0.1],
            "value": [0.3, 0.2, 0.1, np.nan, 0.15],
            "within": [False, False, True, True, True],
            "constant": False,
        }
    )


def test_a_cell_stands_at_its_weight_and_tau_and_a_missing_one_is_empty(table):
    heat, marks, *_ = plot_grid(table, metric="worst_1_di").figure.data
    assert [list(row) for row in heat.z] == [[0.3, 0.1, 0.15], [0.2, None, None]]
    assert list(zip(marks.x, marks.y, strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0),
    ]  # fmt: skip
    assert "λ 2, τ 0.1" in marks.text[2]
    assert "0.100" in marks.text[2]


def test_a_line_runs_between_cells_within_and_beyond_the_limit(table):
    edge = plot_grid(table, metric="worst_1_di").figure.data[2]
    upright = [x for x in edge.x if x is not None]
    assert upright.count(0.5) >= 4  # both rows, between λ 0.5 and 2


def test_words_name_the_ends(table):
    picture = plot_grid(table, metric="worst_1_di")
    assert picture.headline == "Worst-1-DI runs from 0.100 to 0.300 on test rows"
    assert "from 0.100 at λ 2, τ 0.1 to 0.300 at λ 0.5, τ 0.1" in picture.alt
    empty = plot_grid(table.assign(value=np.nan), metric="accuracy")
    assert "undefined" in empty.headline
    assert "undefined" in empty.alt


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=12))
def test_the_headline_spans_the_models_that_decide(cells):
    table = pd.DataFrame(cells, columns=["value", "constant"])
    table = table.assign(fairness_weight=np.arange(len(cells)), tau=0.1, within=True)
    picture = plot_grid(table, metric="worst_1_di")
    values = table.loc[~table["constant"], "value"]
    if values.empty:
        assert picture.headline == "Worst-1-DI is undefined at every setting"
        return
    low, high = re.findall(r"[\d.]+(?= )", picture.headline.split("from")[1])
    assert float(low) == pytest.approx(values.min(), abs=5.1e-4)
    assert float(high) == pytest.approx(values.max(), abs=5.1e-4)
    heat, *_, crosses = picture.figure.data
    drawn = [value for value in heat.z[0] if value is not None]
    assert sorted(drawn) == sorted(values)
    assert len(crosses.x) == table["constant"].sum()
