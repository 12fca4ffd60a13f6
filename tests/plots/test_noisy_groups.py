"""Figures of noisy groups: what they draw and what they say."""

import re

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


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=2), min_size=2)
    .filter(lambda rows: all(map(sum, rows)))
    .map(lambda rows: rows[:2])
)
def test_the_headline_names_the_group_that_appears_most_as_another(rows):
    counts = pd.DataFrame(rows, index=["a", "b"], columns=["a", "b"])
    wrong = {"a": rows[0][1] / sum(rows[0]), "b": rows[1][0] / sum(rows[1])}
    share, name = re.match(
        r"([\d.]+)% of (\w) appear", plots.plot_confusion(counts).headline
    ).groups()
    assert float(share) / 100 == pytest.approx(max(wrong.values()), abs=6e-4)
    assert wrong[name] == max(wrong.values())


def test_the_confusion_shows_shares_of_the_true_group():
    counts = pd.DataFrame([[90, 10], [5, 45]], index=["a", "b"], columns=["a", "b"])
    picture = plots.plot_confusion(counts)
    assert picture.figure.data[0].z[0][1] == pytest.approx(0.1)
    assert picture.headline == "10.0% of a appear as another group"
    assert "10% as b" in picture.alt
    assert picture.caption == "150 rows with both groups."
    assumed = plots.plot_confusion(counts / 150)
    assert "noise assumed" in assumed.caption
    assert assumed.figure.layout.annotations[0].text == "90%<br>60.0% of all"
