"""The figure of base rates shows every cell of an estimable subgroup."""

import numpy as np
import pandas as pd

from fairdash.datasets import SAMPLES
from fairdash.plots import plot_base_rates, plot_planted


def test_rates_and_intervals_of_every_group_are_drawn(base_table, overall, groups):
    picture = plot_base_rates(
        base_table, overall, groups=groups, outcome="recidivism", source="390 rows."
    )
    figure = picture.figure
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in marks] == [
        "Caucasian · all rows 30%",
        "Other · all rows 50%",
    ]
    assert marks[0].x == (0.39, 0.2, None)
    assert np.allclose(marks[1].error_x.array[:2], 0.1)
    lines = [trace.x[0] for trace in figure.data if trace.mode == "lines"]
    assert lines == [0.3, 0.5]
    assert figure.layout.xaxis.title.text == "share with recidivism"
    notes = [note.text for note in figure.layout.annotations]
    assert notes == ["not estimable: 30 rows"]

    assert picture.table is base_table
    assert picture.caption.startswith("Share with recidivism by subgroup")
    assert picture.caption.endswith("Dashed: the whole group. 390 rows.")
    assert "Caucasian 30% (195 rows), Other 50% (195 rows)" in picture.alt


def test_the_planted_gap_has_strokes_where_a_fair_rule_decides_otherwise():
    rates = SAMPLES["loans"].truth().rates
    groups = rates["group"].unique()
    picture = plot_planted(rates, groups=groups, outcome="approved", feature="sex")
    marks = [trace for trace in picture.figure.data if trace.mode == "markers"]
    assert [len(trace.x) for trace in marks] == [8, 8, 2]
    wronged = rates[rates["planted"] & (rates["group"] == "Female")]
    assert list(marks[-1].x) == list(wronged["fair"])
    assert picture.headline == "age 25–29, sex: Female: 28%, by a fair rule 61%"


def test_many_groups_have_no_dashed_lines_and_no_word_of_them():
    groups = tuple("abcdef")
    rates = {"rate": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 90}
    whole = pd.DataFrame([{"group": group, **rates} for group in groups])
    cells = whole.assign(subgroup="s", estimable=True, reason="")
    picture = plot_base_rates(cells, whole, groups=groups, source="540 rows.")
    assert not [trace for trace in picture.figure.data if trace.mode == "lines"]
    assert "Dashed" not in picture.caption
    assert picture.caption.endswith("intervals. 540 rows.")
    assert picture.figure.data[0].name == "a · all rows 50%"
