"""The spread of weights: every step's traces have the numbers of its table."""

import numpy as np
import pandas as pd
import pytest

from fairdash import plots
from fairdash.metrics import WeightSpread
from fairdash.plots import theme

GROUPS = ["Female", "<b>x</b>"]


def tables(n_subgroups=3, steps=(1, 5)):
    rng = np.random.default_rng(0)
    n = 60 * n_subgroups
    spread = WeightSpread.of(
        np.exp(rng.normal(size=(len(steps), n))),
        steps=steps,
        sensitive_features=rng.choice(GROUPS, n),
        subgroups=pd.Categorical(rng.choice([f"s{i}" for i in range(n_subgroups)], n)),
    )
    return spread.quantile_table(), spread.density_table()


def drawn(table, density, **more):
    return plots.plot_weight_spread(table, density=density, groups=GROUPS, **more)


def test_frames_have_the_numbers_of_their_step():
    table, density = tables()
    figure = drawn(table, density).figure
    assert [frame.name for frame in figure.frames] == ["1", "5"]
    assert len(figure.data) == len(figure.frames[0].data) == 8
    for frame, step in zip(figure.frames, (1, 5), strict=True):
        of_group = table[(table["step"] == step) & (table["group"] == "Female")]
        share = density[(density["step"] == step) & (density["group"] == "Female")]
        line, _, _, medians = frame.data[:4]
        assert np.allclose(line.y, 100 * share["share"])
        assert medians.x == pytest.approx(of_group["q50"].tolist())
    assert figure.data[3].x == figure.frames[1].data[3].x  # the last step is shown
    assert figure.layout.sliders[0].active == 1


def test_names_stay_text_and_one_step_has_no_slider():
    picture = drawn(*tables(steps=(4,)), feature="sex")
    assert not picture.figure.frames
    assert not picture.figure.layout.sliders
    names = {trace.name for trace in picture.figure.data if trace.name}
    assert names == {"sex: Female", "sex: &lt;b&gt;x&lt;/b&gt;"}
    assert "sex: Female median" in picture.alt


def test_of_many_subgroups_the_largest_are_drawn():
    table, density = tables(n_subgroups=20)
    picture = drawn(table, density)
    assert len(picture.figure.layout.yaxis.tickvals) == 1 + 12
    assert "8 more in the table" in picture.caption
    assert picture.table["subgroup"].nunique() == 21


def test_a_cell_without_rows_leaves_its_place_empty():
    table, density = tables()
    cell = (table["subgroup"] == "s1") & (table["group"] == "Female")
    table.loc[cell, ["q05", "q25", "q50", "q75", "q95"]] = np.nan
    picture = drawn(table, density)
    medians = picture.figure.data[3]
    assert medians.x[2] is None
    assert "no rows" in medians.hovertext[2]


def test_what_stands_beside_is_named():
    table, density = tables()
    at_step = density[density["step"] == 5]
    picture = drawn(table, density, beside=at_step, beside_words="as trained", step=1)
    assert "Dotted: as trained." in picture.caption
    assert len(picture.figure.data) == 10
    assert picture.figure.layout.sliders[0].active == 0


def test_many_densities_stand_on_lines_of_their_own_with_names():
    rng = np.random.default_rng(1)
    groups = [f"group {letter}" for letter in "abcdef"]
    spread = WeightSpread.of(
        np.exp(rng.normal(size=(2, 600))),
        steps=(1, 5),
        sensitive_features=rng.choice(groups, 600),
        subgroups=pd.Categorical(["s"] * 600),
    )
    figure = plots.plot_weight_spread(
        spread.quantile_table(), density=spread.density_table(), groups=groups
    ).figure
    assert list(figure.layout.yaxis2.ticktext) == groups
    assert not figure.layout.showlegend
    share = spread.density_table().query("step == 5")
    for group, trace in zip(groups, figure.data[::4], strict=True):
        ground = figure.layout.yaxis2.tickvals[groups.index(group)]
        drawn = np.array(trace.y) - ground
        shares = share.loc[share["group"] == group, "share"].to_numpy()
        assert np.allclose(drawn / drawn.max(), shares / shares.max())
        assert drawn.max() < 2
    assert len(set(figure.layout.yaxis2.tickvals)) == len(groups)


def test_twelve_groups_have_colours_of_their_own():
    colours = theme.group_colours([str(number) for number in range(12)])
    assert len(set(colours.values())) == 12


def test_a_narrow_axis_has_ticks_as_well():
    spread = WeightSpread.of(
        np.linspace(0.6, 1.5, 60)[None],
        steps=(1,),
        sensitive_features=["a", "b"] * 30,
        subgroups=pd.Categorical(["s"] * 60),
    )
    figure = plots.plot_weight_spread(
        spread.quantile_table(), density=spread.density_table(), groups=("a", "b")
    ).figure
    assert {0.5, 1, 2} <= {float(tick) for tick in figure.layout.xaxis.ticktext}
