"""Tables that no sample resembles, and a default sweep of two methods on each.

The truth of every table is known: who is disadvantaged where, or that nobody is.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets import Roles, Subgroups
from fairdash.jobs import queue, run_open
from fairdash.store import Store
from fairdash.sweep import DataSource, grids

EVERY = os.environ.get("FAIRDASH_WALK") == "all"
METHODS = ("adversarial", "road")
AXES = grids.GridAxes((1.0, 6.0), (0.1, 0.6))
SEEDS = 3
# a network learns these tables in some hundred steps
QUICK = {"n_epochs": 12, "batch_size": 64, "learning_rate": 0.01}


@dataclass(frozen=True)
class WalkTable:
    """A generated table with the roles of its columns and the limit of its sweep."""

    name: str
    make: Callable[[np.random.Generator], pd.DataFrame]
    roles: Roles
    subgroups: Subgroups
    limit: float = 0.05

    def frame(self) -> pd.DataFrame:
        """Return the table, the same at each call."""
        return self.make(np.random.default_rng(len(self.name)))


def three_groups(rng: np.random.Generator, n: int = 900) -> pd.DataFrame:
    """Return savers of three regions; one region is held back, in the north only.

    ``dialect`` tells the region, so a model can shift a whole region.
    """
    region = rng.choice(["amber", "blue", "coral"], n)
    side = rng.choice(["north", "south"], n)
    skill = rng.normal(size=n).round(3)
    held_back = 2.5 * ((region == "coral") & (side == "north"))
    saves = skill - held_back + rng.logistic(scale=0.6, size=n) > -0.3
    dialect = np.where(region == "coral", 1.0, 0.0) + rng.normal(0, 0.25, n)
    return pd.DataFrame(
        {
            "skill": skill,
            "dialect": dialect.round(3),
            "side": side,
            "region": region,
            "saves": np.where(saves, "yes", "no"),
        }
    )


def plain_is_best(rng: np.random.Generator, n: int = 900) -> pd.DataFrame:
    """Return people of two groups who are alike in everything that counts."""
    return pd.DataFrame(
        {
            "skill": (skill := rng.normal(size=n).round(3)),
            "hours": rng.integers(1, 60, n),
            "team": rng.choice(["day", "night"], n),
            "group": rng.choice(["left", "right"], n),
            "passed": np.where(skill + 0.3 * rng.logistic(size=n) > 0, "yes", "no"),
        }
    )


def pure_noise(rng: np.random.Generator, n: int = 600) -> pd.DataFrame:
    """Return people whose outcome is a coin: no model does better than chance."""
    return pd.DataFrame(
        {
            "skill": rng.normal(size=n).round(3),
            "hours": rng.integers(1, 60, n),
            "team": rng.choice(["day", "night"], n),
            "group": rng.choice(["left", "right"], n),
            "passed": rng.choice(["yes", "no"], n),
        }
    )


def nearly_all(rng: np.random.Generator, n: int = 900) -> pd.DataFrame:
    """Return people of whom nearly all have the outcome: a model accepts all."""
    skill = rng.normal(size=n).round(3)
    group = rng.choice(["left", "right"], n)
    passed = skill - 0.5 * (group == "right") + 2 * rng.logistic(size=n) > -7
    return pd.DataFrame(
        {
            "skill": skill,
            "hours": rng.integers(1, 60, n),
            "team": rng.choice(["day", "night"], n),
            "group": group,
            "passed": np.where(passed, "yes", "no"),
        }
    )


def counts(rng: np.random.Generator) -> pd.DataFrame:
    """Return applications to departments as counts: a row stands for many people."""
    cells = pd.MultiIndex.from_product(
        [list("ABCDEF"), ["m", "w"], range(8), ["admitted", "rejected"]],
        names=["department", "sex", "grade", "decision"],
    ).to_frame(index=False)
    hard = cells["department"].map(
        dict(zip("ABCDEF", np.linspace(-1.5, 1.5, 6), strict=True))
    )
    applies = np.where(cells["sex"] == "w", np.exp(hard / 2), np.exp(-hard / 2))
    admitted = 1 / (1 + np.exp(hard - (cells["grade"] - 3.5) / 2))
    share = np.where(cells["decision"] == "admitted", admitted, 1 - admitted)
    cells["people"] = 1 + rng.poisson(20 * applies * share)
    return cells


def turned(rng: np.random.Generator, n: int = 2000) -> pd.DataFrame:
    """Return applicants: women are held back, old ones much, young ones a little.

    ``height`` tells the sex, so a model that lifts all women turns the gap of the
    young.
    """
    sex = rng.choice(["man", "woman"], n)
    age = rng.choice(["old", "young"], n)
    skill = rng.normal(size=n).round(3)
    held_back = np.where(age == "old", 3.0, 0.9) * (sex == "woman")
    hired = skill - held_back + 0.6 * rng.logistic(size=n) > -0.8
    height = np.where(sex == "woman", -1, 1) + rng.normal(0, 0.35, n)
    return pd.DataFrame(
        {
            "skill": skill,
            "height": height.round(3),
            "age": age,
            "sex": sex,
            "hired": np.where(hired, "yes", "no"),
        }
    )


def accepts_all(rng: np.random.Generator, n: int = 1500) -> pd.DataFrame:
    """Return people for whom only one column counts, which tells the group as well.

    A model that may not use it accepts all but the few open cases, which nobody passes.
    """
    group = rng.choice(["left", "right"], n)
    strong = np.where(group == "left", 1, -1) + rng.normal(0, 0.8, n)
    open_case = rng.random(n) < 0.03
    passed = (0.5 + 1.2 * strong + rng.logistic(size=n) > 0) & ~open_case
    return pd.DataFrame(
        {
            "strong": strong.round(3),
            "case": np.where(open_case, "open", "none"),
            "team": rng.choice(["day", "night"], n),
            "group": group,
            "passed": np.where(passed, "yes", "no"),
        }
    )


def sixty_rows(rng: np.random.Generator) -> pd.DataFrame:
    """Return sixty people of two groups, one of them disadvantaged."""
    return three_groups(rng, 60).replace({"region": {"blue": "amber"}})


_PEOPLE = Roles(
    target="passed",
    positive="yes",
    sensitive_feature="group",
    features=("skill", "hours", "team"),
    subgroup_columns=("team",),
)
_SAVERS = Roles(
    target="saves",
    positive="yes",
    sensitive_feature="region",
    features=("skill", "dialect", "side"),
    subgroup_columns=("side",),
)
_TEAMS = Subgroups(columns=("team",), min_size=20)
_SIDES = Subgroups(columns=("side",), min_size=20)
_HOURS = Subgroups(columns=("hours",), widths={"hours": 20.0}, min_size=20)
_ADMITTED = Roles(
    target="decision",
    positive="admitted",
    sensitive_feature="sex",
    features=("department", "grade"),
    subgroup_columns=("department",),
    count="people",
)
_SAMPLED = _ADMITTED.model_copy(update={"count": None, "sample_weight": "people"})
_APPLICANTS = Roles(
    target="hired",
    positive="yes",
    sensitive_feature="sex",
    features=("skill", "height", "age"),
    subgroup_columns=("age",),
)
_CASES = _PEOPLE.model_copy(update={"features": ("strong", "case", "team")})
_AGES = Subgroups(columns=("age",), min_size=20)
_DEPARTMENTS = Subgroups(columns=("department",), min_size=5)
TABLES = {
    table.name: table
    for table in (
        WalkTable("turned", turned, _APPLICANTS, _AGES),
        WalkTable("accepts all", accepts_all, _CASES, _TEAMS),
        WalkTable("three groups", three_groups, _SAVERS, _SIDES),
        WalkTable("plain is best", plain_is_best, _PEOPLE, _HOURS),
        WalkTable("pure noise", pure_noise, _PEOPLE, _TEAMS),
        WalkTable("nearly all", nearly_all, _PEOPLE, _TEAMS),
        WalkTable("counts", counts, _ADMITTED, _DEPARTMENTS),
        WalkTable("sixty rows", sixty_rows, _SAVERS, _SIDES),
    )
}
# of a sample, in which every page is on one of them, as training takes longest
FEW = "three groups", "plain is best", "sixty rows", "counts", "turned"
if EVERY:  # the same rows as a sample, with intervals that are linearised
    TABLES["weighted"] = WalkTable("weighted", counts, _SAMPLED, _DEPARTMENTS)


def add_walk_table(store: Store, table: WalkTable) -> str:
    """Add a table with its roles to a store; return the id of the data set."""
    content = table.frame().to_csv(index=False).encode()
    digest = store.add_table(content, f"{table.name}.csv")
    return store.add_dataset(digest, table.roles, table.name, table.subgroups)


def sweep_table(store: Store, dataset_id: str, limit: float = 0.05) -> str:
    """Run the default sweep of two methods, in less time; return the id of the run."""
    record = store.dataset_record(dataset_id)
    source = DataSource(table=record.table_sha256, roles=record.roles, name=record.name)
    usual = grids.grid_spec(
        source, METHODS, AXES, n_seeds=SEEDS, subgroups=record.subgroups
    )
    methods = [
        grid.model_copy(update={"params": {**grid.params, **QUICK}})
        for grid in usual.methods
    ]
    changed: dict[str, Any] = {"methods": tuple(methods), "di_limit": limit}
    run = queue(store, usual.model_copy(update=changed), name=f"Sweep of {record.name}")
    run_open(store)
    return run
