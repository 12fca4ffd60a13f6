"""Pairs of people on the scale of P(1)."""

import pandas as pd

from fairdash.plots import plot_pairs


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
    picture = plot_pairs(table, kind="similar", share=0.25, n=1200)
    joined, person, other = picture.figure.data
    assert joined.x[:3] == (0.8, 0.3, None)
    assert (person.x, other.x) == ((0.8, 0.45), (0.3, 0.55))
    assert person.y == other.y
    assert picture.figure.layout.shapes[0].x0 == 0.5
    assert picture.headline.startswith("25.0% of 1,200 people have")
    assert "31 → 33" in person.text[0]
    nobody = plot_pairs(table.iloc[:0], kind="invented", share=0.0, n=7)
    assert nobody.headline.startswith("0.0% of 7 people have an invented")
