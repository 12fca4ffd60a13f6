"""Figures of the stress tests: what they draw and what they say."""

import numpy as np
import pandas as pd
import pytest

from fairdash import plots


def test_the_worst_case_stands_where_the_share_looked_at_crosses_the_curve():
    share = np.arange(0, 0.101, 0.001)
    table = pd.DataFrame({"share": share, "worst": 0.01 + 2 * share})
    drawn = {"slack": 0.05, "share": 0.04, "tolerated": 0.02}
    picture = plots.plot_worst_case(table, **drawn)
    curve, ring = picture.figure.data
    assert (ring.x[0], ring.y[0]) == (pytest.approx(4), pytest.approx(9))
    assert curve.y[20] == pytest.approx(
        100 * drawn["slack"]
    )  # where the promise breaks
    assert {s.x0 for s in picture.figure.layout.shapes} == {0, 2}
    assert (
        picture.headline
        == "With 4.0% recorded wrongly a group can be 9.0 points worse off"
    )
    assert "5.0 are allowed" in picture.alt
    broken = plots.plot_worst_case(table, **drawn | {"tolerated": float("nan")})
    assert len(broken.figure.layout.shapes) == 1


def test_pairs_stand_on_one_row_with_the_person_first():
    table = pd.DataFrame(
        {
            "pair": ["rows 3 and 9: age: 31 → 33", "rows 4 and 7: the same"],
            "before": [0.8, 0.45],
            "after": [0.3, 0.55],
            "decision_changed": True,
            "changes": [["age: 31 → 33"], []],
        }
    )
    picture = plots.plot_pairs(table, kind="similar", share=0.25, n=1200)
    joined, person, counterpart = picture.figure.data
    assert joined.x[:3] == (0.8, 0.3, None)
    assert (person.x, counterpart.x) == ((0.8, 0.45), (0.3, 0.55))
    assert person.y == counterpart.y
    assert picture.figure.layout.shapes[0].x0 == 0.5
    assert picture.headline.startswith("25.0% of 1,200 people have")
    assert "31 → 33" in person.text[0]
    nobody = plots.plot_pairs(table.iloc[:0], kind="invented", share=0.0, n=7)
    assert nobody.headline.startswith("0.0% of 7 people have an invented")
