"""What is said of found subgroups is what their table holds."""

import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits import FoundSubgroups
from fairdash.plots import plot_found_subgroups


def found(gap, z, p, n=1):
    """Return a search that lists ``n`` subgroups, alike but for their names."""
    rows = [
        {
            "subgroup": f"age {i} and site Port",
            "conditions": (),
            "n": 400,
            "lower": "Female",
            "higher": "Male",
            "rate_lower": 0.9 - gap,
            "rate_higher": 0.9,
            "n_lower": 180,
            "n_higher": 220,
            "gap": gap,
            "ci_low": gap - 4.5 * gap / z,
            "ci_high": min(1.0, gap + 4.5 * gap / z),
            "z": z,
            "p_adjusted": p,
        }
        for i in range(n)
    ]
    table = pd.DataFrame(rows)
    table.attrs |= {"n_searched": 83_621, "critical": 4.5, "skipped": {"name": "text"}}
    return FoundSubgroups("Unconstrained", "selection_rate", 0, 1800, table)


@given(
    gap=st.floats(0.03, 0.9),
    z=st.floats(3, 30),
    p=st.sampled_from([0.005, 0.05, 0.055, 0.8, 1.0]),
    n=st.integers(1, 8),
)
def test_headline_verdict_and_figure_agree_with_the_table(gap, z, p, n):
    result = found(gap, z, p, n)
    headline = result.headline()
    text = result.verdict(decided="approved", outcome="approved = yes")
    assert len(headline) <= 70
    assert "83,621" in text
    assert "1,800 test rows of seed 0" in text
    assert f"{p:.3f}" in text
    if p > 0.05:
        assert headline.startswith("No subgroup")
        assert text.startswith("None of 83,621 subgroups")
    else:
        assert int(re.match(r"\d+", headline)[0]) == n
        points = round(100 * gap)
        assert f"Female are approved {points} point" in text
        assert "less often than Male" in text
        assert text.startswith("Age 0 and site Port: ")
    picture = plot_found_subgroups(
        result.table, groups=("Female", "Male"), headline=headline, rate="P(ŷ = 1)"
    )
    marks = {t.name: t for t in picture.figure.data if t.mode == "markers"}
    assert list(marks["Female"].x) == result.table["rate_lower"].tolist()
    assert list(marks["gap"].x) == result.table["gap"].tolist()
    assert picture.headline == headline
    assert result.ranked()["Adjusted p"].tolist() == [p] * n
    assert "Not searched: name." in result.caption()
