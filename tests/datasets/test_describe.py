"""A guess, checks and facts from a process of their own are those computed here."""

import numpy as np
import pandas as pd
import pytest

from fairdash import box
from fairdash.datasets import (
    Remedy,
    Roles,
    Subgroups,
    check_table,
    column_facts,
    convert_table,
    describe_apart,
    features_after,
    guess_rest,
    left_out_reasons,
    load_table,
    prepare,
    rank_roles,
)


def mixed(n=300):
    """Return columns of every kind, with gaps, copies, spellings and rare levels."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male"], n),
            "age": rng.integers(18, 80, n),
            "score": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "day": days.strftime("%Y-%m-%d"),
            "town": rng.choice(["Rome", "rome", "Bonn", "?"], n),
            "paid": np.where(rng.random(n) < 0.1, "none", rng.integers(0, 99, n)),
            "insured": rng.random(n) < 0.5,
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    frame["town again"] = frame["town"]
    return frame


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    convert_table(mixed().to_csv(index=False).encode(), path, name="people.csv")
    return path


ROLES = Roles(
    target="hired",
    positive="yes",
    sensitive_feature="sex",
    features=("age", "score", "town", "paid"),
    preparation=(Remedy(kind="missing", column="town", values=("?",)),),
    types={"day": "date"},
)


@pytest.mark.parametrize(
    ("describe", "arguments", "roles"),
    [
        (rank_roles, (), None),
        (guess_rest, ("hired", "sex"), None),
        (check_table, (ROLES, Subgroups(columns=("town",))), None),
        (column_facts, (ROLES,), ROLES),
        (left_out_reasons, (ROLES,), ROLES),
        (features_after, (ROLES, "insured", "1", ("sex",)), ROLES),
    ],
)
def test_what_is_said_apart_is_what_is_said_here(path, describe, arguments, roles):
    table = load_table(path, compact=True)
    here = describe(table if roles is None else prepare(table, roles), *arguments)
    apart = describe_apart(path, describe, *arguments, roles=roles)
    assert repr(apart) == repr(here)
    if isinstance(here, pd.DataFrame):
        pd.testing.assert_frame_equal(apart, here, check_exact=True)
        assert apart.to_dict() == here.to_dict()
    else:
        assert apart == here


def test_a_process_that_came_to_its_limits_is_said(path, monkeypatch):
    def end(*given, **told):
        raise box.Ended("that takes more than 900 seconds")

    monkeypatch.setattr(box, "run", end)
    with pytest.raises(ValueError, match=r"not looked at: that takes more than 900"):
        describe_apart(path, rank_roles)
