"""Names that a user may give go through two pages and come out as they were written."""

import numpy as np
import pytest
from cases import sampled
from reading import words
from toys import people

from fairdash import ui
from fairdash.datasets import Roles, ScoreColumn, Subgroups, split

CASES = [
    # the sensitive column and its two groups; a column of subgroups and a score
    ("self", "gap", "other", "n", "value"),
    ("subgroup", "self", "measure", "label", "group"),
    ("label", "All rows", "All others", "subgroup", "estimable"),
    ("gap", "{0}", "=1+1", "$x_1$", "low"),
    ("group", "value_a", "n_a", "key", "score"),
    ("lambda", "a · b", "a: b", "<b>bold</b>", "model"),
    ("groups", "{}", "%", "__class__", "__init__"),
    ("method", 'say "no"', "a | b", "level_0", "reason"),
]
NAMED = [pytest.param(case, id="-".join(case)) for case in CASES]
hostile_names = pytest.mark.parametrize("hostile", sampled(NAMED, 4), indirect=True)


@pytest.fixture
def hostile(inline, request):
    """A data set with hostile names, its table, and how its rows are decided."""
    feature, first_group, second_group, subgroup, score = request.param
    frame = people().replace({"origin": {"here": first_group, "there": second_group}})
    frame["branch"] = frame["branch"].replace({"office": "other", "works": "gap"})
    frame["p"] = frame["skill"].rank(pct=True).round(3)
    frame = frame.rename(columns={"origin": feature, "branch": subgroup, "p": score})
    roles = Roles(
        target="hired",
        positive="yes",
        sensitive_feature=feature,
        features=("age", "skill", subgroup),
        scores=(ScoreColumn(column=score, kind="probability"),),
    )
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    inside = Subgroups(columns=(subgroup,), min_size=20)
    return ui.store().add_dataset(table, roles, "People", inside), request.param


@hostile_names
def test_a_hostile_name_is_a_value_on_local_fairness(visit, hostile):
    data, (feature, first_group, second_group, subgroup, score) = hostile
    dataset = ui.store().dataset(data)
    decided = dataset.frame[score].to_numpy() > 0.5
    groups = dataset.sensitive_features
    branches = dataset.frame[subgroup].to_numpy()
    assert {*dataset.group_names} == {first_group, second_group}
    page = visit("Local fairness", data=data, opened=["measures", "table"])
    assert not page.exception
    assert not page.error
    by_subgroup = page.dataframe[-1].value.set_index("Subgroup")
    four_fifths = next(d.value for d in page.dataframe if "Four fifths" in d.value)
    four_fifths = four_fifths.set_index("Measure").loc["Selection rate"]
    for name in (first_group, second_group):
        rate = decided[groups == name].mean()
        assert four_fifths[f"{feature}: {name}"] == pytest.approx(rate)
        for branch in ("other", "gap"):
            rate = decided[(groups == name) & (branches == branch)].mean()
            cell = by_subgroup.loc[branch, f"P(ŷ = 1) {feature}: {name}"]
            assert cell == pytest.approx(rate)
    page = visit("Local fairness", data=data, opened="find")
    assert not page.exception
    assert not page.error
    page = visit("Local fairness", data=data, reference=second_group, opened="table")
    assert not page.exception
    assert not page.error


@hostile_names
def test_a_hostile_name_is_a_value_on_post_process(visit, hostile):
    data, (feature, first_group, second_group, _, score) = hostile
    dataset = ui.store().dataset(data)
    decided = dataset.frame[score].to_numpy() > 0.5
    groups = dataset.sensitive_features
    page = visit("Post-process", data=data, opened=["measure", "apply"])
    assert not page.exception
    assert not page.error
    test = np.isin(np.arange(dataset.n_rows), split(dataset, 0).test)
    table = next(d.value for d in page.dataframe if "Before" in d.value)
    before = table.set_index("Group")["Before"]
    for name in (first_group, second_group):
        rate = decided[test & (groups == name)].mean()
        assert before[f"{feature}: {name}"] == pytest.approx(rate)
    assert "cannot" not in words(page)
