"""A table, its roles and its subgroups keep names that mislead code."""

import io

import numpy as np
import pandas as pd
import pytest
from hostile_names import several_names
from hypothesis import given, settings

from fairdash import datasets
from fairdash.datasets.wide_counts import WideGroup


@settings(max_examples=8, deadline=None)
@given(columns=several_names(4), groups=several_names(3), parts=several_names(2))
def test_columns_groups_and_subgroups_keep_the_names_they_have(columns, groups, parts):
    outcome, sensitive, part, number = columns
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame(
        {
            outcome: rng.choice(["yes", "no"], n),
            sensitive: np.array(groups)[np.arange(n) % 3],
            part: np.array(parts)[np.arange(n) // 3 % 2],
            number: rng.normal(size=n),
        }
    )
    file = io.BytesIO()
    frame.to_parquet(file)
    table = datasets.read_table(file.getvalue())
    assert table.columns.tolist() == columns
    roles = datasets.Roles(
        target=outcome,
        positive="yes",
        sensitive_feature=sensitive,
        features=(part, number),
        subgroup_columns=(part,),
    )
    assert datasets.Roles.model_validate_json(roles.model_dump_json()) == roles
    dataset = datasets.make_dataset(table, roles, name=groups[0])
    assert set(dataset.group_names) == set(groups)
    assert dataset.sensitive_features.tolist() == frame[sensitive].tolist()
    np.testing.assert_array_equal(dataset.y, frame[outcome] == "yes")
    label = datasets.Subgroups(columns=(part,)).label(dataset.frame)
    for _, values in frame[part].groupby(label.to_numpy()):
        assert len(set(values)) == 1
    assert label.nunique() == 2
    encoded = datasets.encode(dataset, datasets.split(dataset).train)
    assert len(set(encoded.feature_names)) == encoded.X.shape[1] == 3
    assert "error" not in set(datasets.check_table(table, roles)["severity"])


# "self" is an argument of every method of pandas, so that `**{name: ...}` fails.
STEPS = {
    "missing": ({"values": ("b",)}, ["a", None, "c"]),
    "recode": ({"changes": {"b": "a"}}, ["a", "a", "c"]),
    "convert": ({"to": "category"}, ["a", "b", "c"]),
    "single_choice": ({"separator": ";", "several": "both"}, ["a", "b", "c"]),
}


@pytest.mark.parametrize("kind", STEPS)
def test_steps_change_a_column_called_self(kind):
    fields, expected = STEPS[kind]
    table = pd.DataFrame({"self": ["a", "b", "c"], "x": [1, 0, 0], "y": [0, 1, 0]})
    remedy = datasets.Remedy(kind=kind, column="self", **fields)
    changed = datasets.remedies.apply_steps(table, [remedy], {})
    cells = changed["self"].astype(object)
    assert cells.where(cells.notna(), None).tolist() == expected
    assert list(changed) == ["self", "x", "y"]
    assert table["self"].tolist() == ["a", "b", "c"]


def test_groups_in_several_columns_become_a_column_called_self():
    table = pd.DataFrame({"x": [1, 0, 0], "y": [0, 1, 0]})
    remedy = datasets.Remedy(kind="one_of", column="self", columns=("x", "y"), none="z")
    changed = datasets.remedies.apply_steps(table, [remedy], {})
    assert changed["self"].tolist() == ["x", "y", "z"]


def test_a_column_called_self_is_read_as_another_kind():
    table = pd.DataFrame({"self": ["1", "2"]})
    changed = datasets.remedies.apply_steps(table, [], {"self": "number"})
    assert changed["self"].tolist() == [1, 2]


@pytest.mark.parametrize("role", ["feature", "outcome"])
def test_rows_of_counts_have_a_column_called_self(role):
    groups = (
        WideGroup(name="men", asked="a", chosen="b"),
        WideGroup(name="women", asked="c", chosen="d"),
    )
    names = {"feature": "sex", "outcome": "hired", role: "self"}
    wide = datasets.WideCounts(groups=groups, **names)
    table = pd.DataFrame({"a": [5], "b": [2], "c": [3], "d": [1]})
    rows = datasets.rows_of_counts(table, wide)
    assert list(rows) == [names["feature"], names["outcome"], "people"]
    assert rows["people"].tolist() == [2, 3, 1, 2]


def test_a_column_called_self_counts_people():
    table = pd.DataFrame(
        {
            "sex": ["f", "m"] * 2,
            "hired": ["yes", "yes", "no", "no"],
            "self": [9, 8, 7, 6],
        }
    )
    roles = datasets.Roles(
        target="hired",
        positive="yes",
        sensitive_feature="sex",
        features=(),
        count="self",
    )
    dataset = datasets.make_dataset(table, roles, name="counts")
    assert dataset.frame["self"].sum() == 30
