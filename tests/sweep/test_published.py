import os
from pathlib import Path

import pytest

from fairdash.datasets import PUBLIC, SAMPLES, fetch, split
from fairdash.methods import CATALOG
from fairdash.sweep import (
    QUICK,
    DataSource,
    MethodGrid,
    SweepSpec,
    as_published,
    expand,
    grid_spec,
    published_for,
)
from fairdash.sweep._grids import PUBLISHED

ORIGINALS = Path(os.environ.get("FAIRDASH_DATA", "/nowhere")) / "raw"


def source(table, **changes):
    roles = PUBLIC[table].roles.model_copy(update=changes)
    return DataSource(path=f"{table}.csv", roles=roles, name=table)


def spec(table, *methods, **given):
    return SweepSpec(data=source(table), methods=methods, **given)


@pytest.mark.parametrize(
    ("table", "epochs", "batch", "scaling", "least"),
    [
        ("compas", 100, 1024, "standard", 50),
        ("law", 250, 1024, "minmax", 20),
        ("german", 100, 128, "minmax", 20),
    ],
)
def test_road_is_trained_as_its_paper_has_it_on_each_table(
    table, epochs, batch, scaling, least
):
    methods = ("adversarial", "road", "broad")
    made = grid_spec(source(table), methods, QUICK, published=True)
    assert made.scaling == scaling
    assert made.subgroups.edges == "paper"
    assert made.subgroups.widths == {"age": 10}
    assert made.subgroups.min_size == least
    trained = {}
    for trial in expand(made, "data"):
        lengths = trained.setdefault(trial.method, set())
        lengths.add((trial.params["n_epochs"], trial.params["batch_size"]))
        assert trial.params["learning_rate"] == 1e-4
    assert trained["road"] == trained["adversarial"] == {(epochs, batch)}
    assert trained["broad"] == {(175, batch)}
    # and each is held to an unconstrained model of its own schedule
    assert trained["unconstrained"] == {(epochs, batch), (175, batch)}


def test_on_adult_the_paper_asks_for_equalized_odds_unless_told_otherwise():
    made = grid_spec(source("adult"), ["road"], QUICK, published=True)
    road = made.methods[-1].params
    assert (road["constraints"], road["batch_size"]) == ("equalized_odds", 512)
    asked = {"constraints": "demographic_parity", "batch_size": 64}
    other = grid_spec(
        source("adult"), ["road"], QUICK, published=True, shared=asked, scaling="minmax"
    )
    assert other.methods[-1].params.items() >= asked.items()
    assert other.scaling == "minmax"


def test_what_a_configuration_gives_stands_and_the_rest_is_the_papers():
    bare = spec("law", {"method": "road", "params": {"tau": 0.5}}, seeds=(7,))
    filled = as_published(bare)
    (road,) = filled.methods
    assert road.effort == "paper"
    assert road.params["tau"] == 0.5
    assert road.params["n_epochs"] == 250
    assert len(road.params["fairness_weight"]) == 20
    assert (filled.scaling, filled.seeds) == ("minmax", (7,))
    given = spec(
        "law",
        {"method": "road", "effort": "fast", "params": {"n_epochs": 2}},
        scaling="standard",
    )
    kept = as_published(given)
    assert (kept.scaling, kept.methods[0].effort) == ("standard", "fast")
    assert kept.methods[0].params["n_epochs"] == 2
    assert as_published(filled) == filled


def test_a_table_is_known_by_its_outcome_groups_and_columns():
    roles = PUBLIC["law"].roles
    assert published_for(roles, "road").table == "law"
    assert published_for(roles, "logistic") is None
    other = {"sensitive_feature": "gender"}
    assert published_for(roles.model_copy(update=other), "road") is None
    few = {"features": ("age", "gender", "lsat")}
    assert published_for(roles.model_copy(update=few), "road") is None
    no_age = {
        "features": tuple(n for n in roles.features if n != "age"),
        "subgroup_columns": ("gender",),
    }
    assert published_for(roles.model_copy(update=no_age), "road") is None
    # the same table to other groups is another paper's
    race = PUBLIC["adult"].roles.model_copy(update={"sensitive_feature": "race"})
    assert published_for(race, "noisy_dro").splits == 10
    assert published_for(race, "road") is None
    for sample in SAMPLES.values():
        assert published_for(sample.roles, "road") is None


@pytest.mark.parametrize("one", PUBLISHED, ids=lambda one: f"{one.paper} {one.table}")
def test_every_published_setting_can_be_trained(one):
    changes = {}
    if other := one.sensitive_feature:
        features = PUBLIC[one.table].roles.features
        changes["sensitive_feature"] = other
        changes["features"] = tuple(name for name in features if name != other)
        changes["subgroup_columns"] = ()
    data = source(one.table, **changes)
    grids = [MethodGrid(method=name) for name in one.params]
    trials = expand(as_published(SweepSpec(data=data, methods=grids)), "data")
    assert {trial.method for trial in trials} == set(one.params)
    for trial in trials[:: max(1, len(trials) // 50)]:
        model = CATALOG[trial.method].estimator(trial.params, random_state=0)
        model._check_params()
    for method in one.params:
        assert one.words(method).startswith(f"As {one.paper} on ")


@pytest.mark.skipif(not ORIGINALS.is_dir(), reason="FAIRDASH_DATA is not set")
def test_the_papers_bins_leave_four_subgroups_on_law():
    data = fetch("law", data_home=ORIGINALS)
    bins = published_for(data.roles, "road").subgroups
    for seed in range(5):
        sizes = bins.label(data.frame).iloc[split(data, seed).test].value_counts()
        assert (sizes >= bins.min_size).sum() == 4
