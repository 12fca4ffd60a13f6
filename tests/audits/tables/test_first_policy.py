"""A first policy looks inside the subgroups that the other pages look at."""

import numpy as np
import pandas as pd
import pytest
import yaml

from fairdash.audits import tables
from fairdash.datasets import Roles, Subgroups


@pytest.fixture(scope="module")
def frame():
    """People of whom one age band and one sex is approved far less often."""
    rng = np.random.default_rng(4)
    n = 6000
    age = rng.integers(18, 70, n)
    sex = rng.choice(["f", "m"], n)
    job = rng.choice(["none", "part", "full"], n)
    is_worse_off = (age >= 25) & (age < 35) & (sex == "f")
    approved = rng.random(n) < np.where(is_worse_off, 0.1, 0.7)
    return pd.DataFrame(
        {"age": age, "sex": sex, "job": job, "approved": approved.astype(int)}
    )


ROLES = Roles(
    target="approved",
    positive="1",
    sensitive_feature="sex",
    features=("age", "job"),
    subgroup_columns=("job", "age"),
)
WAYS = {
    "usual": Subgroups(columns=("age",)),
    "width": Subgroups(columns=("age",), widths={"age": 5.0}),
    "cuts": Subgroups(columns=("age",), cuts={"age": (25.0, 35.0)}),
    "quantiles": Subgroups(columns=("age",), quantiles={"age": 4}),
    "crossed": Subgroups(columns=("job", "age")),
}


@pytest.mark.parametrize("subgroups", WAYS.values(), ids=WAYS)
def test_the_local_limit_is_on_the_bins_of_the_run(frame, subgroups):
    text = tables.first_policy(ROLES, frame, subgroups)
    policy = tables.Policy.parse(text.encode(), "first")
    source = tables.Source.of_frame("people.csv", "0", frame)
    checked = tables.check_policy(frame, policy, source)
    inside = {each.subgroup: each for each in checked.judged if each.subgroup}
    labels = subgroups.label(frame)
    assert set(inside) == set(labels.cat.categories)
    widest = max(inside.values(), key=lambda each: each.value)
    rows = frame[labels == widest.subgroup]
    rate = rows["approved"].groupby(rows["sex"]).mean()
    assert widest.value == pytest.approx(abs(rate["m"] - rate["f"]))
    assert checked.answer().verdict.startswith("The table breaks")
    if subgroups is WAYS["usual"]:
        assert widest.subgroup == "age 25–34"
        assert widest.value > 0.5


def test_without_subgroups_there_is_no_local_limit(frame):
    policy = yaml.safe_load(tables.first_policy(ROLES, frame, Subgroups()))
    assert "subgroups" not in policy
    assert all("subgroup" not in limit for limit in policy["limits"])


def test_bins_of_a_column_that_makes_no_subgroups_are_refused():
    with pytest.raises(ValueError, match="'age' has bins but makes no subgroups"):
        tables.TableQuestion(groups=("sex",), subgroup_widths={"age": 10.0})


def test_a_policy_on_counts_counts_people(frame):
    subgroups = WAYS["quantiles"]
    times = np.where(frame["age"] < 30, 9, 1)
    counts = frame.assign(people=times)
    people = frame.loc[frame.index.repeat(times)].reset_index(drop=True)
    roles = ROLES.model_copy(update={"count": "people"})
    of_counts = yaml.safe_load(tables.first_policy(roles, counts, subgroups))
    of_people = yaml.safe_load(tables.first_policy(ROLES, people, subgroups))
    assert of_counts == {**of_people, "count": "people"}
    weighted = ROLES.model_copy(update={"sample_weight": "people"})
    assert yaml.safe_load(tables.first_policy(weighted, counts, subgroups))["weight"]
