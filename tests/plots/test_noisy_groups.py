"""Figures of noisy groups: what they draw and what they say."""

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
