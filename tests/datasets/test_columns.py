import pytest
from toys import ROLES, people

from fairdash.datasets import (
    Remedy,
    apply_remedy,
    column_facts,
    column_table,
    edited_roles,
    left_out_reasons,
    prepare,
)


@pytest.fixture
def table():
    table = people().assign(since="2020-01-01", note=None)
    table.loc[::2, "since"] = "2021-05-03"
    return table


def listed(table, roles):
    frame = prepare(table, roles)
    facts = column_facts(frame, roles)
    return column_table(facts, roles, left_out_reasons(frame, roles))


def edited(table, roles, column, **cells):
    shown = listed(table, roles)
    after = shown.copy()
    for name, value in cells.items():
        after.loc[after["Column"] == column, name] = value
    return edited_roles(roles, shown, after)


def test_every_column_is_listed_with_its_role_and_kind(table):
    shown = listed(table, ROLES).set_index("Column")
    assert shown.loc["age", "Role"] == "feature, subgroup"
    assert shown.loc["origin", "Role"] == "sensitive"
    assert shown.loc["note", "Missing"] == 100
    assert shown.loc["note", "Not a feature because"] == "no values"
    assert shown.loc["since", "Kind"] == "date"
    assert shown.loc["branch", "Kind"] == "category"
    assert shown.loc["skill", "Kind"] == "number"


def test_nothing_edited_leaves_the_roles_alone(table):
    assert edited(table, ROLES, "age") == ROLES


def test_another_kind_becomes_part_of_the_roles(table):
    assert edited(table, ROLES, "age", Kind="category").types == {"age": "category"}


def test_a_ticked_date_becomes_its_parts(table):
    roles = edited(table, ROLES, "since", Feature=True)
    assert roles.features[-3:] == ("since year", "since month", "since weekday")


def test_ticks_add_features_and_exclude_them(table):
    roles = edited(table, ROLES, "branch", Feature=False)
    assert roles.features == ("age", "skill")
    assert roles.left_out == {"branch": "excluded by hand"}
    assert edited(table, roles, "branch", Feature=True) == ROLES
    roles = edited(table, ROLES, "age", Feature=False)
    assert edited(table, roles, "age", Feature=True) == ROLES


def test_text_is_excluded_and_the_outcome_is_no_feature(table):
    roles = edited(table, ROLES, "branch", Kind="text")
    assert "branch" not in roles.features
    with pytest.raises(ValueError, match="'hired' is the outcome"):
        edited(table, ROLES, "hired", Feature=True)


def test_a_remedy_changes_what_is_listed(table):
    remedy = Remedy(kind="recode", column="branch", changes={"works": "office"})
    shown = listed(table, apply_remedy(ROLES, remedy)).set_index("Column")
    assert shown.loc["branch", "Values"] == "office"
