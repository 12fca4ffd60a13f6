import pandas as pd
import pytest

from fairdash.datasets import Roles, group_labels

BASE = {
    "target": "y",
    "positive": "1",
    "sensitive_feature": "s",
    "features": ("a", "b"),
}


@pytest.mark.parametrize("value", [1, 1.0, True, "1"])
def test_one_true_and_their_text_name_the_same_value(value):
    roles = Roles(**{**BASE, "positive": value, "keep": {"a": [value]}})
    assert roles.positive == "1"
    assert roles.keep == {"a": ("1",)}


def test_roles_survive_json():
    roles = Roles(**BASE, groups={"x": ("1", "2"), "rest": ()}, keep={"k": ("1",)})
    assert Roles.model_validate_json(roles.model_dump_json()) == roles


def test_columns_are_named_once_each():
    roles = Roles(**BASE, subgroup_columns=("a", "c"), keep={"b": ("1",), "k": ("2",)})
    assert roles.columns() == ("y", "s", "a", "b", "c", "k")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"features": ("a", "y")}, "'y' is the outcome, so it cannot be a feature"),
        ({"features": ("a", "s")}, "'s' is the sensitive feature, so it cannot be"),
        ({"sensitive_feature": "y"}, "is the outcome, so it cannot be the sens"),
        ({"features": ("a", "a")}, "is a feature, so it cannot be a feature"),
        ({"subgroup_columns": ("c", "c")}, "names 'c' more than once"),
        ({"subgroup_columns": ("s",)}, "would hold one group each"),
        ({"groups": {"x": ("1",)}}, "needs at least two groups"),
        ({"groups": {"x": (), "y": ()}}, "only one may"),
        ({"groups": {"x": ("1",), "y": (1,)}}, r"has \['1'\] in more than one group"),
        ({"missing": "drop"}, "'keep' or 'impute' or 'exclude'"),
        ({"weights": "w"}, "Extra inputs are not permitted"),
    ],
)
def test_contradictory_roles_raise(changes, message):
    with pytest.raises(ValueError, match=message):
        Roles.model_validate({**BASE, **changes})


@pytest.mark.parametrize("field", ["min_level_rows", "max_levels"])
def test_limits_of_levels_change_the_identity_and_start_at_one(field):
    plain = Roles(**BASE)
    assert field not in plain.identity()
    assert Roles(**BASE, **{field: 3}).identity() == plain.identity() | {field: 3}
    with pytest.raises(ValueError, match=f"(?s){field}.*greater than or equal to 1"):
        Roles(**BASE, **{field: 0})


def test_rows_of_a_new_table_get_the_groups_of_the_data_set():
    frame = pd.DataFrame({"y": ["a", "b", "a"], "s": ["f", "m", None], "x": [1, 2, 3]})
    roles = Roles(target="y", positive="a", sensitive_feature="s", features=("x",))
    labels = group_labels(frame, roles)
    assert labels.tolist()[:2] == ["f", "m"]
    assert labels.name == "s"
    crossed = roles.model_copy(update={"crossed_with": ("x",)})
    labels = group_labels(frame.iloc[::-1], crossed)
    assert labels.name == "s × x"
    assert labels.loc[0] == group_labels(frame, crossed).loc[0] == "f · x 1"
