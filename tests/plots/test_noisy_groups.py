"""Figures of noisy groups: what they draw and what they say."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash import plots

VIOLATION = st.sampled_from([-0.2, -0.01, 0.0, 0.01, 0.3])
MODEL = st.tuples(VIOLATION, st.booleans(), st.sampled_from(["", "", "accepts none"]))


@settings(max_examples=40, deadline=None)
@given(st.lists(MODEL, min_size=1, max_size=6))
def test_the_headline_counts_the_models_that_decide_and_keep_the_constraint(models):
    table = pd.DataFrame(models, columns=["ball", "kept", "status"])
    table["kept"] &= table["ball"] <= 0
    table = table.assign(label="m", noisy=0.0, soft=0.1)
    words = plots.plot_certificates(table).headline
    decide = [row for row in table.to_dict("records") if not row["status"]]
    safe = sum(row["kept"] for row in decide)
    said = list(map(int, re.findall(r"\d+", words)))
    assert len(words) <= 70
    if not decide:
        assert words.startswith("No model here decides")
    elif safe and len(decide) == 1:
        assert words.startswith("The one model surely keeps")
    elif safe:
        assert said == [safe, len(decide)]
        assert "surely keep" in words
    else:
        assert words == "No model is safe at this radius"


def test_the_worst_case_stands_where_the_share_looked_at_crosses_the_curve():
    share = np.arange(0, 0.101, 0.001)
    plain = pd.DataFrame({"label": "m", "share": share, "worst": 0.01 + 2 * share})
    other = plain.assign(label="other", worst=0.3)
    table = pd.concat([plain, other], ignore_index=True)
    drawn = {"slack": 0.05, "share": 0.04, "tolerated": 0.02}
    picture = plots.plot_worst_case(table, **drawn)
    curve, grey, ring = picture.figure.data
    assert (ring.x[0], ring.y[0]) == (pytest.approx(4), pytest.approx(9))
    assert curve.y[20] == pytest.approx(
        100 * drawn["slack"]
    )  # where the promise breaks
    assert curve.line.color != grey.line.color
    assert {s.x0 for s in picture.figure.layout.shapes} == {0, 2}
    assert (
        picture.headline
        == "With 4.0% recorded wrongly a group can be 9.0 points worse off"
    )
    assert "5.0 are allowed" in picture.alt
    broken = plots.plot_worst_case(plain, **drawn | {"tolerated": float("nan")})
    assert len(broken.figure.layout.shapes) == 1
