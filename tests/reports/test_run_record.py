"""Facts of a data set: what its numbers count is said."""

import pytest

from fairdash.reports._run_record import data_words

RECORD = {
    "name": "Admissions",
    "table": "admissions.csv",
    "sha256": "0" * 64,
    "rows": 4526,
    "used": 4500,
    "sample": None,
    "joined": [],
    "excluded": [],
    "parts": [2700, 900, 900],
    "asked": "all",
    "prepared": [],
    "outcome": "admit = yes",
    "negative": "all others",
    "feature": "gender",
    "groups": [{"group": "f", "n": 1800}, {"group": "m", "n": None}],
    "subgroups": ["dept"],
    "weight": None,
    "count": None,
}


@pytest.mark.parametrize("column, noun", [(None, "rows"), ("freq", "people")])
def test_rows_of_counts_are_called_people(column, noun):
    words = data_words(RECORD | {"count": column})
    assert words[noun.capitalize()] == "4,500 used of 4,526"
    assert f"Training, validation and test {noun}" in words
    feature = words["Sensitive feature"]
    assert feature == f"gender: f (1,800 {noun}) and m (suppressed)"
