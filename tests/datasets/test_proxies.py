"""A feature that stands in for the group is said, and never removed by itself."""

import numpy as np
import pandas as pd
import pytest
from cases import paired

from fairdash.datasets import Roles, check_table, guess_roles
from fairdash.datasets.remedies import apply_remedy

OTHER = ("number", "kind", "visits")


def table(n=600, shares=(0.6, 0.4), seed=0):
    """Return people whose features know nothing of their race."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "kind": rng.choice(list("abcdef"), n),
            "visits": rng.integers(0, 6, n),
            "race": rng.choice([f"r{k}" for k in range(len(shares))], n, p=shares),
            "called": rng.choice(["yes", "no"], n),
        }
    )


def roles_of(frame, **more):
    features = [name for name in frame if name not in ("race", "called", "person")]
    return Roles(
        target="called",
        positive="yes",
        sensitive_feature="race",
        features=tuple(features),
        **more,
    )


def proxies(frame, **more):
    checks = check_table(frame, roles_of(frame, **more))
    return checks[checks["check"] == "proxy"].set_index("column")


def with_names(frame, n_names=36, seed=1):
    """Return people with one of many first names, each of one race."""
    rng = np.random.default_rng(seed)
    races = sorted(frame["race"].unique())
    order = {race: place for place, race in enumerate(races)}
    place = frame["race"].map(order).to_numpy()
    n_each = n_names // len(races)
    code = place + len(races) * rng.integers(0, n_each, len(frame))
    return frame.assign(firstname=[f"name {k}" for k in code])


@pytest.mark.parametrize("shares", [(0.6, 0.4), (0.5, 0.3, 0.2)])
def test_first_names_of_one_race_each_are_said_with_the_remedy(shares):
    frame = with_names(table(shares=shares))
    assert frame.groupby("firstname")["race"].nunique().max() == 1
    result = proxies(frame)
    assert list(result.index) == ["firstname"]
    row = result.loc["firstname"]
    usual = frame["race"].value_counts(normalize=True).max()
    assert "tells 'race'" in row["message"]
    assert f"100% of rows, {usual:.0%} without it" in row["message"]
    assert row["severity"] == "warning"
    changed = apply_remedy(roles_of(frame), row["action"])
    assert "firstname" not in changed.features
    assert changed.left_out == {"firstname": "tells race"}
    assert "firstname" in guess_roles(frame).features


@pytest.mark.parametrize("name", ["height", "code", "absent"])
def test_a_number_tells_a_group_by_its_size_its_values_or_where_it_is_missing(name):
    frame = table()
    rng = np.random.default_rng(2)
    race = (frame["race"] == "r1").to_numpy()
    if name == "height":
        frame[name] = rng.normal(size=len(frame)) + 2.5 * race
    elif name == "code":  # even numbers are of one race: the size says nothing
        frame[name] = 2 * rng.integers(0, 8, len(frame)) + race
    else:
        frame[name] = np.where(race, np.nan, rng.normal(size=len(frame)))
    result = proxies(frame)
    assert list(result.index) == [name]
    assert ("AUC" in result.loc[name, "message"]) == (name == "height")


def test_a_feature_that_is_only_related_to_the_group_is_not_said():
    frame = table(n=4000)
    rng = np.random.default_rng(2)
    frame["height"] = rng.normal(size=4000) + 0.7 * (frame["race"] == "r1")
    assert proxies(frame).empty


@pytest.mark.parametrize(
    "shares, n", paired([(0.5, 0.5), (0.7, 0.2, 0.1)], [30, 200], together=1)
)
def test_independent_features_raise_hardly_an_alarm(n, shares):
    alarms = [not proxies(table(n, shares, seed)).empty for seed in range(60)]
    assert np.mean(alarms) <= 0.1  # .05 and two standard errors of 60 tables


def test_the_rows_of_a_person_are_no_evidence_of_their_own():
    rng = np.random.default_rng(3)
    people = table(n=24, seed=3)
    people["city"] = [f"c{k}" for k in range(24)]
    visits = people.loc[people.index.repeat(60)].reset_index(drop=True)
    visits["person"] = np.repeat([f"p{k}" for k in range(24)], 60)
    visits["number"] = rng.normal(size=len(visits))
    assert "city" in proxies(visits).index  # as if every visit were another person
    assert proxies(visits, unit="person").empty


def test_the_sensitive_column_itself_is_no_proxy():
    frame = table()
    features = (*OTHER, "race")
    checks = check_table(
        frame, roles_of(frame).model_copy(update={"features": features})
    )
    assert "proxy" not in set(checks["check"])
