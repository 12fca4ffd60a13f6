import pytest
from toys import ROLES, people

from fairdash.datasets import (
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
