import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.plots import plot_by_tau, plot_grid, plot_ratio_by_tau


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


def test_lines_by_tau_keep_the_order_of_the_weights():
    table = pd.DataFrame(
        {
            "part": ["λ 0–1", "λ 0–1", "λ 2–4", "λ 2–4"],
            "tau": [0.1, 0.6, 0.1, 0.6],
            "mean": [0.3, 0.3, 0.1, 0.2],
            "sd": [0.01, np.nan, 0.02, 0.02],
        }
    )
    picture = plot_by_tau(table, metric="worst_1_di")
    low, high = picture.figure.data
    assert (low.name, high.name) == ("λ 0–1", "λ 2–4")
    assert low.error_y.array == (0.01, 0.0)
    assert high.y == (0.1, 0.2)
    words = picture.headline
    assert words == "At λ 2–4, τ moves Worst-1-DI by 0.100 on test rows"
    none = plot_by_tau(table.iloc[:0], metric="worst_1_di")
    assert none.headline == "At no λ do the models of every τ decide"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
)
def test_the_span_said_is_that_of_the_largest_weights(first, last):
    table = pd.concat(
        pd.DataFrame({"part": part, "tau": np.arange(len(mean)), "mean": mean})
        for part, mean in (("λ 0–1", first), ("λ 2–4", last))
    ).assign(sd=0.0)
    said = plot_by_tau(table, metric="worst_1_di").headline
    (part, span) = re.fullmatch(r"At (.*), τ moves .* by ([\d.]+) on .*", said).groups()
    assert part == "λ 2–4"
    assert float(span) == pytest.approx(np.ptp(last), abs=5.1e-4)


def test_the_distribution_of_r_has_one_line_per_tau():
    density = {0.1: [1.0, 0.0], 0.6: [0.25, 0.75]}
    picture = plot_ratio_by_tau([0.0, 1.0, 2.0], density, {0.6: 0.2, 0.1: 0.9})
    figure = picture.figure
    assert [trace.name for trace in figure.data] == ["τ 0.1", "τ 0.6"]
    assert figure.data[1].y == (0.0, 0.25, 0.25, 0.75, 0.75, 0.0)
    assert figure.data[1].x == (0.0, 0.0, 1.0, 1.0, 2.0, 2.0)
    assert "0.90 at τ 0.1, 0.20 at 0.6" in picture.headline


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.integers(1, 99).map(lambda tau: tau / 50),
        st.floats(0, 20),
        min_size=1,
        max_size=4,
    )
)
def test_the_spread_of_r_said_is_that_at_both_ends_of_tau(spread):
    density = {tau: [1.0] for tau in spread}
    said = plot_ratio_by_tau([0.0, 1.0], density, spread).headline
    values = [float(word) for word in re.findall(r"[\d.]+", said)]
    if len(spread) == 1:
        ((tau, value),) = spread.items()
        assert values == pytest.approx([value, tau], abs=5.1e-3)
        return
    low, high = min(spread), max(spread)
    assert values == pytest.approx([spread[low], low, spread[high], high], abs=5.1e-3)
