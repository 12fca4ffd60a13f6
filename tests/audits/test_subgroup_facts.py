"""What is said of found subgroups is what their table holds."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits import FoundSubgroups, find_subgroups, refinements
from fairdash.metrics import Speech, measure_by_group
from fairdash.plots import plot_found_subgroups


def found(gap, z, p, n=1, n_confirming=0):
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
    sides = {
        f"{end}_{side}": table[f"rate_{side}"] + off
        for side in ("lower", "higher")
        for end, off in (("low", -0.01), ("high", 0.01))
    }
    tree = table.assign(level=1, **sides)
    about = "Unconstrained", "selection_rate", 0, 1800
    return FoundSubgroups(*about, table, tree, n_confirming)


@given(
    gap=st.floats(0.03, 0.9),
    z=st.floats(3, 30),
    p=st.sampled_from([0.005, 0.05, 0.055, 0.8, 1.0]),
    n=st.integers(1, 8),
    confirming=st.sampled_from([0, 450]),
)
def test_headline_verdict_and_figure_agree_with_the_table(gap, z, p, n, confirming):
    result = found(gap, z, p, n, confirming)
    headline = result.headline()
    text = result.verdict(Speech("approved", "approved = yes"))
    assert len(headline) <= 70
    assert "83,621" in text
    if confirming:
        assert "1,800 training and validation rows of seed 0 searched" in text
        assert "450 test rows confirm" in text
    else:
        assert "1,800 validation rows of seed 0" in text
    if p > 0.05:
        assert headline.startswith("No subgroup")
        start = "No gap beyond chance" if confirming else "None of 83,621 subgroups"
        assert text.startswith(start)
    else:
        assert f"{p:.3f}" in text
        assert int(re.match(r"\d+", headline)[0]) == n
        points = round(100 * gap)
        assert f"Female is approved {points} point" in text
        assert "less often than Male" in text
        assert text.startswith("In age 0 and site Port, ")
    picture = plot_found_subgroups(
        result.tree, groups=("Female", "Male"), headline=headline, rate="P(ŷ = 1)"
    )
    marks = {t.name: t for t in picture.figure.data if t.mode == "markers"}
    assert list(marks["Female"].x) == result.table["rate_lower"].tolist()
    gaps = [x for t in picture.figure.data if t.name == "gap" for x in t.x]
    assert gaps == result.table["gap"].tolist()
    assert picture.headline == headline
    assert result.ranked()["Adjusted p"].tolist() == [p] * n
    assert "Not searched: name." in result.caption()


def test_a_tree_leads_to_what_is_listed_by_the_condition_that_parts_groups_most():
    rng = np.random.default_rng(0)
    n = 6000
    frame = pd.DataFrame(
        {"site": rng.choice([*"abc"], n), "note": rng.choice([*"xy"], n)}
    )
    sex = rng.choice(["Female", "Male"], n)
    port, inner = frame["site"] == "a", frame["note"] == "x"
    rate = 0.8 - (sex == "Female") * port * np.where(inner, 0.6, 0.2)
    decided = (rng.random(n) < rate).astype(int)
    asked = {"sensitive_features": sex, "frame": frame}
    table = find_subgroups(decided, **asked, n_permutations=39, random_state=0)
    tree = refinements(table, decided, **asked, y_true=None, measure="selection_rate")
    assert tree["subgroup"].tolist()[:3] == ["All rows", "site a", "note x"]
    assert tree["level"].tolist()[:3] == [0, 1, 2]
    assert np.isnan(tree["p_adjusted"][0])
    listed = table.set_index("subgroup")["p_adjusted"]
    assert tree["p_adjusted"][1] == listed["site a"]
    assert tree["p_adjusted"][2] == listed["site a and note x"]
    for row, inside in zip(
        tree.itertuples(), (port | ~port, port, port & inner), strict=False
    ):
        own = measure_by_group(
            "selection_rate", None, decided[inside], sensitive_features=sex[inside]
        ).set_index("group")
        assert (row.lower, row.higher) == ("Female", "Male")
        assert row.n == inside.sum()
        assert row.rate_lower == own.loc["Female", "value"]
        assert (row.low_higher, row.high_higher) == tuple(
            own.loc["Male", ["ci_low", "ci_high"]]
        )
        assert row.gap == pytest.approx(row.rate_higher - row.rate_lower)
    picture = plot_found_subgroups(
        tree, groups=("Female", "Male"), headline="Two", rate="P(ŷ = 1)"
    )
    names = picture.figure.layout.yaxis.ticktext
    assert [name.strip() for name in names[:3]] == ["All rows", "↳ site a", "↳ note x"]
