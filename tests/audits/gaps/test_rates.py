import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people

from fairdash.audits import gaps
from fairdash.datasets import Subgroups, make_dataset


@pytest.fixture
def dataset():
    return make_dataset(people(), ROLES, name="People")


def test_base_rates_are_shares_of_the_table(dataset):
    rates = gaps.base_rates(dataset, Subgroups(columns=("branch",), min_size=20))
    table = people()
    positive = table["hired"] == "yes"
    by_group = positive.groupby(table["origin"]).mean()
    assert rates.whole.value == pytest.approx(positive.mean())
    assert rates.whole.low < rates.whole.value < rates.whole.high
    assert rates.gap.value == pytest.approx(np.ptp(by_group))
    assert rates.gap.low < rates.gap.value < rates.gap.high
    unit = dataset.frame["branch"] + dataset.frame["hired"]
    whole = make_dataset(
        people().assign(unit=unit), ROLES.model_copy(update={"unit": "unit"}), name="u"
    )
    wide = gaps.base_rates(whole, Subgroups(columns=("branch",), min_size=20)).whole
    assert wide.high - wide.low > 2 * (rates.whole.high - rates.whole.low)
    cells = positive.groupby([table["branch"], table["origin"]]).mean()
    got = rates.cells.set_index(["subgroup", "group"])["rate"]
    np.testing.assert_allclose(got.sort_index(), cells.sort_index())


@pytest.mark.parametrize(
    "reasons, wanted",
    [
        (["", ""], "all of them"),
        (["", "11 rows", "1,011 rows", "1 row"], "3 too small"),
        (["one group only", "no a rows"], "2 lack a group"),
        (["4 rows", "one group only"], "1 too small, 1 lack a group"),
    ],
)
def test_what_is_not_estimable_is_told_with_its_reason(reasons, wanted):
    table = pd.DataFrame({"reason": reasons, "estimable": [r == "" for r in reasons]})
    assert gaps.not_estimable(table) == wanted


def test_crossed_groups_stand_without_the_name_of_one_column():
    crossed = ROLES.model_copy(
        update={"crossed_with": ("branch",), "features": ("age", "skill")}
    )
    table = people()
    table["hired"] = np.where(table["branch"] == table["branch"].iloc[0], "yes", "no")
    dataset = make_dataset(table, crossed, name="People")
    rates = gaps.base_rates(dataset, Subgroups(columns=("age",), min_size=20))
    answer = gaps.base_rates_answer(rates, dataset, ())
    lowest = rates.groups.sort_values("rate")["group"].iloc[0]
    assert f"of {lowest} and" in answer.verdict
    assert dataset.roles.group_column() == "origin × branch"
    assert dataset.roles.group_prefix() == ""
    assert ROLES.group_prefix() == ROLES.group_column() == "origin"
