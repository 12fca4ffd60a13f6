"""Models side by side."""

import numpy as np
import pandas as pd
import pytest

from fairdash.plots import plot_comparison, plot_overview


def test_an_undefined_number_leaves_its_place_empty(models):
    figure = plot_comparison(models.assign(worst_1_di=float("nan"))).figure
    last = figure.data[-1]
    assert last.x == (None,)
    assert last.text == ("–",)


def test_alt_text_gives_the_three_numbers(models):
    assert (
        "ROAD λ 2: accuracy 65.1%, DI 0.037, Worst-1-DI 0.150 (0.050–0.250)"
        in plot_comparison(models).alt
    )


def test_the_overview_sets_accuracy_against_the_worst_gap(models):
    figure = plot_overview(models, title="Loans", chance=0.1).figure
    road = figure.data[1]
    assert (road.x, road.y) == ((0.15,), (0.651,))
    assert road.error_y.array[0] == pytest.approx(0.019)
    assert figure.layout.shapes[0].x1 == 0.1
    assert figure.layout.xaxis.title.text == "Worst-1-DI (← fairer)"
    assert not plot_overview(models, title="Loans").figure.layout.shapes


@pytest.mark.parametrize("seed", range(5))
def test_of_many_models_the_first_and_those_no_other_beats_have_names(models, seed):
    rng = np.random.default_rng(seed)
    many = pd.concat([models.iloc[[0]]] * 17, ignore_index=True)
    many["label"] = [f"model {i}" for i in range(17)]
    many["accuracy"], many["worst_1_di"] = rng.random((2, 17)).round(2)
    picture = plot_overview(many, title="A study")
    grey, *named = picture.figure.data
    best = {
        row.label
        for row in many.itertuples()
        if not (
            (many["accuracy"] >= row.accuracy)
            & (many["worst_1_di"] <= row.worst_1_di)
            & (
                (many["accuracy"] > row.accuracy)
                | (many["worst_1_di"] < row.worst_1_di)
            )
        ).any()
    }
    names = {trace.name for trace in named}
    assert len(names) <= 6
    assert "model 0" in names
    assert names - {"model 0"} <= best
    assert best <= names or len(names) >= 5
    assert set(grey.text) == set(many["label"]) - names
    assert len(picture.table) == 17
    left = next(label for label in many["label"] if label not in names)
    also = plot_overview(many, title="A study", label=left).figure.data
    assert {trace.name for trace in also[1:]} == names | {left}


def test_a_model_that_does_not_decide_is_marked_and_not_called_fair(models):
    alike = models.assign(constant=[0.0, 1.0], worst_1_di=[0.3, 0.0])
    picture = plot_comparison(alike)
    axis = picture.figure.layout.yaxis
    assert axis.ticktext == ("Unconstrained", "ROAD λ 2<br>(constant)")
    assert picture.headline == "Fewer than two models decide and can be compared"
    words = plot_comparison(alike, label="ROAD λ 2").headline
    assert words == "ROAD λ 2 is constant, or not told from chance"
