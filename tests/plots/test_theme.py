"""Colours are tokens of the app's own configuration, fixed by role."""

import tomllib
from pathlib import Path

import pytest

from fairdash.methods import CATALOG
from fairdash.plots import plot_comparison, resolve, theme
from fairdash.plots.theme import CATEGORICAL, METHODS, model_marks

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_files_get_the_colours_that_the_app_shows(name):
    colours = tomllib.loads(CONFIG.read_text())["theme"][name]["chartCategoricalColors"]
    assert [f"#{colour}" for colour in CATEGORICAL[name].split()] == colours
    ground = tomllib.loads(CONFIG.read_text())["theme"][name]["chartSequentialColors"]
    assert list(theme.palette(name).values())[10:20] == ground


def test_every_method_of_the_catalog_has_a_colour_and_a_shape_of_its_own():
    roles = [method.colour_role for method in CATALOG.values()]
    assert set(roles) <= set(METHODS)
    assert len(set(model_marks(roles))) == len(roles)


@pytest.mark.parametrize("name, ink", [("light", "#262730"), ("dark", "#FAFAFA")])
def test_resolving_leaves_no_token_and_the_figure_as_it_was(models, name, ink):
    import streamlit.elements.plotly_chart  # noqa: F401  (its template has tokens too)

    figure = plot_comparison(models).figure
    before = figure.to_json()
    resolved = resolve(figure, name)
    assert "#0000" not in resolved.to_json().lower()
    assert ink in resolved.to_json()
    assert figure.to_json() == before


def test_colours_of_a_component_are_those_of_the_theme():
    assert theme.group_colours_of(["a", "b"], "light") == ["#0072B2", "#C15500"]
    assert theme.group_colours_of(["a"], "dark") == ["#56B4E9"]


def test_a_figure_for_a_room_has_larger_type_and_the_same_numbers():
    figure = theme.finish(
        [{"type": "bar", "x": [1, 2], "y": [3, 4], "width": 0.5}],
        {"annotations": [theme.text("words", x=1, y=3)], "xaxis": {"title": "x"}},
        height=200,
    )
    large = theme.enlarged(figure, 1.5)
    assert large.layout.height == 300
    assert large.layout.xaxis.tickfont.size == 18
    assert large.layout.annotations[0].font.size == 18
    assert (large.layout.annotations[0].x, large.data[0].width) == (1, 0.5)
    assert list(large.data[0].y) == [3, 4]
    assert figure.layout.height == 200
