"""The figure of local DI shows the table, all of it."""

import json

import pandas as pd
import pytest

from fairdash._wording import PEOPLE
from fairdash.plots import plot_local_di


def marks(figure):
    return scatters(figure, "markers")


def scatters(figure, mode):
    return [t for t in figure.data if t.type == "scatter" and t.mode == mode]


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def notes(figure):
    """Return what stands on the figure, without the names of the groups."""
    texts = [note.text for note in figure.layout.annotations]
    return [text for text in texts if "<span" not in text]


def test_global_di_is_dashed_and_named(shown, groups):
    figure = plot_local_di(**shown, groups=groups).figure
    lines = scatters(figure, "lines")
    assert [line.x[0] for line in lines] == [0.114, 0.037]
    assert {line.line.dash for line in lines} == {"dash"}
    assert marks(figure)[1].name == "ROAD λ 2 · all rows 3.7 pt"


def test_what_is_not_estimable_says_why_and_has_no_mark(shown, groups):
    figure = plot_local_di(**shown, groups=groups).figure
    assert notes(figure) == ["not estimable: 29 rows"]
    assert all(trace.x[2] is None for trace in marks(figure))
    assert "NaN" not in figure.to_json()


def test_row_counts_stand_beside_in_the_colours_of_the_groups(shown, groups):
    figure = plot_local_di(**shown, groups=groups).figure
    assert [bar.name for bar in bars(figure)] == list(groups)
    assert list(bars(figure)[0].x) == [40, 40, 9, 40, 40]
    assert list(bars(figure)[1].x) == [60, 60, 20, 60, 60]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    assert "gap in P(ŷ = 1)" in figure.layout.xaxis.title.text
    named = figure.layout.annotations[-1]
    assert named.text == (
        'Caucasian <span style="color:#000001">■</span><br>'
        'Other <span style="color:#000002">■</span>'
    )
    assert figure.layout.margin.b > -named.yshift


def test_people_are_counted_as_people(shown, groups):
    figure = plot_local_di(**shown, groups=groups, noun=PEOPLE).figure
    assert figure.layout.xaxis2.title.text == "people"
    assert bars(figure)[0].hovertext[2] == "Caucasian: 9 people"
    drawn = figure.to_json()
    assert "100 people" in drawn
    assert "100 rows" not in drawn


def test_the_grey_band_ends_where_chance_does(shown, groups):
    figure = plot_local_di(**shown, groups=groups, chance=0.086).figure
    (band,) = figure.layout.shapes
    assert (band.x0, band.x1, band.layer) == (0, 0.086, "below")
    assert "by chance 8.6 pt" in notes(figure)
    assert not plot_local_di(**shown, groups=groups).figure.layout.shapes


def test_the_planted_truth_of_a_sample_is_a_quiet_mark_in_its_row(shown, groups):
    row = str(shown["table"]["subgroup"].iloc[0])
    figure = plot_local_di(**shown, groups=groups, truth={row: 0.8, "gone": 0.9}).figure
    (truth,) = [trace for trace in figure.data if str(trace.name).startswith("planted")]
    first = marks(figure)[0]
    assert list(truth.x) == [0.8]
    assert 0.8 < figure.layout.xaxis.range[1] < 0.9  # in sight
    assert abs(truth.y[0] - first.y[0]) < 0.5
    assert all(
        not str(t.name).startswith("planted")
        for t in plot_local_di(**shown, groups=groups).figure.data
    )


def test_a_figure_holds_plain_json_of_a_few_kilobytes(shown, groups):
    text = plot_local_di(**shown, groups=groups, chance=0.1).figure.to_json()
    assert json.loads(text)
    assert len(text) < 20_000


def test_no_model_or_five_are_refused(shown, groups):
    models = shown["models"]
    five = pd.concat([models] * 3).head(5)
    for wrong in (models.head(0), five):
        with pytest.raises(ValueError, match="1 to 4 rows"):
            plot_local_di(**shown | {"models": wrong}, groups=groups)


def test_alt_text_names_the_worst_subgroup_of_every_model(shown, groups):
    alt = plot_local_di(**shown, groups=groups).alt
    assert "Unconstrained: worst for Men 18–24, 30.0 pt (20.0–40.0 pt)" in alt
    assert "ROAD λ 2: worst for Men 25–34, 15.0 pt (5.0–25.0 pt)" in alt
    assert "over all rows 3.7 pt" in alt
    none = shown["table"].assign(estimable=False)
    alt = plot_local_di(**shown | {"table": none}, groups=groups).alt
    assert "no estimable subgroup" in alt
