"""Headlines are short facts: read back, they agree with the numbers they are of."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import Correlation
from fairdash.plots import (
    plot_ratio_against_di,
)
from fairdash.plots._local import local_finding

METRICS = ("accuracy", "demographic_parity_difference", "worst_1_di")
shares = st.floats(0, 1).map(lambda share: round(share, 4))


def value_of(words):
    """Return the first number of a sentence."""
    return float(re.search(r"\d+\.\d+", words).group())


@given(st.lists(shares, min_size=1, max_size=6), st.data())
def test_the_worst_subgroup_is_named_with_its_gap(gaps, data):
    estimable = data.draw(st.lists(st.booleans(), min_size=len(gaps), max_size=6))
    estimable = estimable[: len(gaps)]
    chance = data.draw(shares)
    table = pd.DataFrame({"gap": gaps, "estimable": estimable, "label": "ROAD"})
    table["subgroup"] = [f"age {letter}" for letter in "abcdef"[: len(gaps)]]
    words = local_finding(table, label="ROAD", chance=chance)
    known = table[table["estimable"]]
    if known.empty:
        assert words.startswith("No subgroup is estimable")
        return
    worst = known.loc[known["gap"].idxmax()]
    assert value_of(words) == pytest.approx(worst["gap"], abs=5.1e-3)
    assert ("is within what chance shows" in words) == (worst["gap"] <= chance)
    assert (worst["subgroup"] in words) == (worst["gap"] > chance)


@pytest.mark.parametrize(
    "low, high, words",
    [
        (0.7, 0.98, "Larger weights lie where the gaps are larger"),
        (-0.9, -0.1, "Larger weights lie where the gaps are smaller"),
        (-0.2, 0.9, "No clear link of weights and gaps: the interval covers 0"),
        (np.nan, np.nan, "Too few subgroups to relate weights and gaps"),
    ],
)
def test_a_correlation_is_claimed_only_if_its_interval_excludes_0(
    ratio_table, low, high, words
):
    related = Correlation(0.5, low, high, 4, np.nan, np.nan)
    picture = plot_ratio_against_di(ratio_table, colour_role="road", related=related)
    assert picture.headline == words
