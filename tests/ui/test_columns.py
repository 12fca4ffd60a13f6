import pytest
from toys import ROLES, people

from fairdash import ui
from fairdash.datasets import Remedy, apply_remedy
from fairdash.ui.data.columns import _edited_roles, column_table


@pytest.fixture
def digest(inline):
    table = people().assign(since="2020-01-01", note=None)
    table.loc[::2, "since"] = "2021-05-03"
    return ui.store().add_table(table.to_csv(index=False).encode(), "people.csv")


def edited(digest, roles, column, **cells):
    shown = column_table(digest, roles)
    after = shown.copy()
    for name, value in cells.items():
        after.loc[after["Column"] == column, name] = value
    return _edited_roles(roles, shown, after)


def test_every_column_is_listed_with_its_role_and_kind(digest):
    table = column_table(digest, ROLES).set_index("Column")
    assert table.loc["age", "Role"] == "feature, subgroup"
    assert table.loc["origin", "Role"] == "sensitive"
    assert table.loc["note", "Missing"] == 100
    assert table.loc["note", "Not a feature because"] == "no values"
    assert table.loc["since", "Kind"] == "date"
    assert table.loc["branch", "Kind"] == "category"
    assert table.loc["skill", "Kind"] == "number"


def test_nothing_edited_leaves_the_roles_alone(digest):
    assert edited(digest, ROLES, "age") == ROLES


def test_another_kind_becomes_part_of_the_roles(digest):
    assert edited(digest, ROLES, "age", Kind="category").types == {"age": "category"}


def test_a_ticked_date_becomes_its_parts(digest):
    roles = edited(digest, ROLES, "since", Feature=True)
    assert roles.features[-3:] == ("since year", "since month", "since weekday")


def test_ticks_add_features_and_leave_them_out(digest):
    roles = edited(digest, ROLES, "branch", Feature=False)
    assert roles.features == ("age", "skill")
    assert roles.left_out == {"branch": "left out by hand"}
    assert edited(digest, roles, "branch", Feature=True) == ROLES
    roles = edited(digest, ROLES, "age", Feature=False)
    assert edited(digest, roles, "age", Feature=True) == ROLES


def test_text_is_left_out_and_the_outcome_is_no_feature(digest):
    roles = edited(digest, ROLES, "branch", Kind="text")
    assert "branch" not in roles.features
    with pytest.raises(ValueError, match="'hired' is the outcome"):
        edited(digest, ROLES, "hired", Feature=True)


def test_a_remedy_changes_what_is_listed(digest):
    remedy = Remedy(kind="recode", column="branch", changes={"works": "office"})
    table = column_table(digest, apply_remedy(ROLES, remedy)).set_index("Column")
    assert table.loc["branch", "Values"] == "office"
