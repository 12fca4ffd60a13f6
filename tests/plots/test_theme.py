"""Colours are tokens of the app's own configuration, fixed by role."""

import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest

from fairdash.methods import CATALOG
from fairdash.plots import palette, plot_comparison, plot_local_di, resolve
from fairdash.plots._theme import (
    CATEGORICAL,
    METHODS,
    fade,
    finish,
    group_colours,
    model_marks,
)

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_files_get_the_colours_that_the_app_shows(theme):
    shown = tomllib.loads(CONFIG.read_text())["theme"][theme]["chartCategoricalColors"]
    assert [f"#{colour}" for colour in CATEGORICAL[theme].split()] == shown
    ground = tomllib.loads(CONFIG.read_text())["theme"][theme]["chartSequentialColors"]
    assert list(palette(theme).values())[10:20] == ground


def test_every_method_of_the_catalog_has_a_colour_and_a_shape_of_its_own():
    roles = [method.colour_role for method in CATALOG.values()]
    assert set(roles) <= set(METHODS)
    assert len(set(model_marks(roles))) == len(roles)


def test_models_of_one_method_share_the_colour_and_differ_in_shape():
    marks = model_marks(["road", "broad", "road", "road", "road"])
    assert {colour for colour, _ in marks[::2]} == {METHODS["road"][0]}
    assert len(set(marks)) == 5
    assert model_marks(["of a plugin"])[0] not in METHODS.values()


def test_eight_groups_have_eight_colours_in_fixed_order():
    names = [f"g{i}" for i in range(8)]
    colours = group_colours(names)
    assert len(set(colours.values())) == 8
    assert list(group_colours(names[:3]).items()) == list(colours.items())[:3]


def test_fading_adds_two_hex_digits():
    assert fade("#000001", 1) == "#000001ff"
    assert fade("#000001", 0.5) == "#00000180"
    assert fade(fade("#000001", 0.5), 0.5) == "#00000140"


@pytest.mark.parametrize("theme, ink", [("light", "#262730"), ("dark", "#FAFAFA")])
def test_resolving_leaves_no_token_and_the_figure_as_it_was(models, theme, ink):
    import streamlit.elements.plotly_chart  # noqa: F401  (its template has tokens too)

    figure = plot_comparison(models).figure
    before = figure.to_json()
    resolved = resolve(figure, theme)
    assert "#0000" not in resolved.to_json().lower()
    assert ink in resolved.to_json()
    assert figure.to_json() == before


def test_margins_fonts_and_titles_stand_on_the_figure_not_in_a_template():
    layout = {"xaxis": {"title": "left"}, "xaxis2": {"title": "right", "nticks": 3}}
    figure = finish([], layout, height=300, right=50)
    assert isinstance(figure, go.Figure)
    assert figure.layout.margin.r == 50
    assert figure.layout.xaxis2.title.text == "right"
    assert figure.layout.xaxis2.title.font.size == 13
    assert figure.layout.xaxis2.nticks == 3
    assert figure.layout.yaxis.showgrid
    assert not figure.layout.xaxis.showgrid
    assert figure.layout.dragmode is False


def test_a_figure_does_not_follow_the_mouse_or_show_plotlys_logo(shown):
    from fairdash.plots import CONFIG

    figure = plot_local_di(**shown, groups=("Caucasian", "Other")).figure
    assert figure.layout.xaxis.fixedrange
    assert CONFIG["displaylogo"] is False
