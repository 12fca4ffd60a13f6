"""Figures of the weights."""

import numpy as np
import pandas as pd
import pytest

from fairdash.audits.weighting import TopRows, weights_details
from fairdash.metrics import weights
from fairdash.plots import plot_ratio_against_di

RELATED = weights.Correlation(0.91, 4, slope=2.0, intercept=0.8)
TOP = TopRows(pd.DataFrame(), 2)
UNRELATED = weights.Correlation(float("nan"), 0, float("nan"), float("nan"))


def test_one_dot_per_estimable_subgroup_with_area_by_rows(ratio_table):
    table = ratio_table.assign(n=[100, 25, 29, 100, 100])
    picture = plot_ratio_against_di(table, colour_role="road", related=RELATED)
    figure = picture.figure
    assert "4 subgroups: correlation 0.91;" in picture.alt
    assert "largest mean weight 1.40 for Men 18–24" in picture.alt
    dots, line = figure.data
    assert dots.x == (0.3, 0.2, 0.1, 0.05)
    assert dots.y == (1.4, 1.2, 1.0, 0.8)
    assert dots.marker.size[0] == 2 * dots.marker.size[1]
    assert np.allclose(dots.error_y.array, 0.1)
    assert line.y == pytest.approx((0.8 + 2 * 0.05, 0.8 + 2 * 0.3))
    names = [note.text for note in figure.layout.annotations]
    assert names == ["Men 18–24", "Women 25–34"]
    even = table.assign(mean_ratio=1 + table["mean_ratio"] / 500)
    flat = plot_ratio_against_di(even, colour_role="road", related=RELATED)
    assert flat.headline == "Mean weights are practically equal in all subgroups"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.05, "weights do not follow gaps"),
        (-0.09, "weights do not follow gaps"),
        (0.3, "more weight where gaps are larger"),
        (-0.3, "more weight where gaps are smaller"),
    ],
)
def test_a_relation_is_said_of_a_correlation_that_is_one(ratio_table, value, said):
    related = weights.Correlation(value, 4, slope=value, intercept=0.8)
    picture = plot_ratio_against_di(ratio_table, colour_role="road", related=related)
    assert picture.headline.endswith(said)
    relation = weights_details(related, TOP, np.array([0.1, 1.9] * 50))
    assert ("do not follow" in relation) == (abs(value) < 0.1)
    equal = weights_details(related, TOP, np.ones(100))
    assert equal == "The top 1.0% are 2 rows."  # equal weights follow nothing


def test_without_a_correlation_there_is_no_line(ratio_table):
    undefined = {"colour_role": "road", "related": UNRELATED}
    assert len(plot_ratio_against_di(ratio_table, **undefined).figure.data) == 1
    nothing = ratio_table.assign(estimable=False)
    empty = plot_ratio_against_di(nothing, **undefined)
    assert len(empty.figure.data[0].x) == 0
    assert "of 0 subgroups: correlation –" in empty.alt
    assert empty.headline == "Too few subgroups to relate weights and gaps"
