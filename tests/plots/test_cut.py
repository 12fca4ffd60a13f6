"""The histogram of a continuous outcome: every row once, on its side of the cut."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fairdash.datasets import Cut
from fairdash.plots import plot_cut

VALUES = st.lists(st.integers(-50, 50) | st.none(), min_size=2, max_size=60)


@given(VALUES, st.sampled_from([">", ">=", "<", "<="]), st.integers(-50, 50))
def test_every_known_row_is_drawn_once_on_its_side(values, sign, at):
    column = pd.Series(values, dtype="float64")
    known = column.dropna()
    if known.empty:
        return
    cut = Cut(sign=sign, value=at)
    positive = pd.Series(cut.holds(column))
    picture = plot_cut(column, positive, cut=str(cut), at=at)
    zero, one = (np.array(bar.y) for bar in picture.figure.data)
    expected = {">": known > at, ">=": known >= at, "<": known < at, "<=": known <= at}
    n_one = int(expected[sign].sum())
    assert (zero.sum(), one.sum()) == (len(known) - n_one, n_one)
    assert picture.headline.startswith(f"{n_one / len(known):.1%} of {len(known)} rows")
    assert picture.figure.layout.shapes[0].x0 == at
    assert np.array_equal(picture.table["rows of 1"], one)
