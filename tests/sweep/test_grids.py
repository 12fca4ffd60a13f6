import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.datasets import SAMPLES
from fairdash.methods import CATALOG
from fairdash.sweep import (
    PAPER,
    QUICK,
    DataSource,
    SweepSpec,
    _plan,
    expand,
    grid_spec,
    shared_params,
    spaced,
    swept_methods,
)
from fairdash.sweep._plan import n_initialisations, trained_grids

LOANS = SAMPLES["loans"]
DATA = DataSource(sample="loans", roles=LOANS.roles, name=LOANS.title)


def methods_of(spec):
    return [grid.method for grid in spec.methods]


def test_every_method_is_tried_on_its_axes_beside_what_it_is_held_to():
    spec = grid_spec(DATA, ["adversarial", "road"], QUICK, n_seeds=2)
    assert methods_of(spec) == ["unconstrained", "adversarial", "road"]
    assert len(expand(spec, "data")) == 2 * (1 + 5 + 25)
    assert spec.subgroups == LOANS.subgroups
    assert set(swept_methods()) >= {"adversarial", "road", "broad", "sensei"}


def test_a_method_without_a_fairness_weight_is_swept_by_what_it_trades_by():
    methods = ["reductions", "grid_reductions", "covariance", "rule_list"]
    assert set(methods) <= set(swept_methods())
    assert not {"logistic", "hardt", "fair_log_loss", "sensr"} & set(swept_methods())
    spec = grid_spec(DATA, methods, QUICK)
    swept = {grid.method: grid.params for grid in spec.methods}
    for method in methods:
        own = CATALOG[method].trade_off()
        values = swept[method][own.name]
        assert len(values) == len(QUICK.weights)
        assert (values[0], values[-1]) == (own.low, own.high)
        assert method in methods_of(SweepSpec.from_yaml(spec.to_yaml()))
    assert len(expand(spec, "data")) == 1 + 5 * len(methods)


def test_a_grid_beyond_all_patience_is_refused_before_it_is_spelt_out():
    weights = tuple(i / 1_000 for i in range(1, 1_001))
    road = {"fairness_weight": weights, "tau": weights}
    spec = SweepSpec(data=DATA, methods=({"method": "road", "params": road},))
    with pytest.raises(ValueError, match="'road' has 1,000,000 settings, more than 10"):
        expand(spec, "data")


def test_many_seeds_of_many_settings_are_refused(monkeypatch):
    monkeypatch.setattr(_plan, "MOST_TRIALS", 7)
    tau = {"method": "road", "params": {"tau": (0.1, 0.2, 0.3, 0.4)}}
    assert len(expand(SweepSpec(data=DATA, methods=(tau,), seeds=(0,)), "data")) == 4
    with pytest.raises(ValueError, match="more than 7 models; take fewer settings"):
        expand(SweepSpec(data=DATA, methods=(tau,), seeds=(0, 1)), "data")


def test_the_unconstrained_model_has_the_schedule_and_network_of_each_method():
    spec = grid_spec(DATA, ["adversarial", "road", "broad"], PAPER, effort="paper")
    plain = [grid.params for grid in spec.methods if grid.method == "unconstrained"]
    assert sorted(params["n_epochs"] for params in plain) == [100, 175]
    for method in ("adversarial", "road", "broad"):
        settings = CATALOG[method].settings({}, "paper")
        assert any(
            all(settings[name] == value for name, value in params.items())
            for params in plain
        )
    linear = grid_spec(DATA, ["road"], QUICK, shared={"predictor_layers": "simple"})
    assert {grid.params["predictor_layers"] for grid in linear.methods} == {"simple"}


def test_what_is_shared_is_asked_of_the_methods_that_have_it():
    shared = {"constraints": "equalized_odds", "normalisation": "global"}
    spec = grid_spec(
        DATA, ["adversarial", "road"], QUICK, shared=shared, scaling="minmax"
    )
    plain, zhang, road = (grid.params for grid in spec.methods)
    assert "constraints" not in plain
    assert zhang["constraints"] == road["constraints"] == "equalized_odds"
    assert "normalisation" not in zhang
    assert road["normalisation"] == "global"
    assert spec.scaling == "minmax"
    offered = shared_params(["adversarial", "road"])
    assert list(offered) == [
        "constraints", "normalisation", "predictor_layers", "adversary_layers",
    ]  # fmt: skip
    assert "equalized_odds" in offered["constraints"]
    assert "normalisation" not in shared_params(["adversarial"])


def test_equal_numbers_of_models_come_from_a_finer_grid_at_the_same_starts():
    spec = grid_spec(DATA, ["adversarial", "road"], QUICK, equal_models=True)
    assert set(n_initialisations(spec).values()) == {1}
    plain, zhang, road = trained_grids(spec)
    assert (plain, road) == (spec.methods[0], spec.methods[2])
    finer = zhang.params["fairness_weight"]
    assert len(finer) == 25
    assert set(finer) > set(QUICK.weights)
    assert (min(finer), max(finer)) == (0.5, 5.0)
    assert {trial.params.get("initialisation") for trial in expand(spec, "d")} == {None}
    twice = spec.model_copy(update={"initialisations": 2})
    assert set(n_initialisations(twice).values()) == {2}
    # two schedules of the unconstrained model are no axis
    both = grid_spec(DATA, ["road", "broad"], QUICK, effort="paper", equal_models=True)
    assert len(trained_grids(both)) == 4
    assert set(n_initialisations(both).values()) == {1}


def test_a_method_beside_itself_has_the_models_of_the_finer_grid():
    """So it cannot gain: as many models, and each of them the same."""
    local = {"method": "road", "params": {"fairness_weight": [0, 2], "tau": [0.1, 1]}}
    few, many = (
        {"method": "adversarial", "params": {"fairness_weight": {"linear": [1, 4, n]}}}
        for n in (2, 4)
    )
    base = {"data": DATA, "seeds": (0, 1)}
    grown = SweepSpec(**base, methods=(few, local), equal_models=True)
    asked = SweepSpec(**base, methods=(many, local), equal_models=True)
    assert expand(grown, "data") == expand(asked, "data")


@given(
    values=st.lists(st.floats(0.01, 100), min_size=2, max_size=8, unique_by=str),
    others=st.integers(1, 4),
    most=st.integers(1, 60),
)
def test_a_finer_grid_keeps_its_values_and_ends_and_has_as_many_models(
    values, others, most
):
    mine = {"fairness_weight": values, "n_epochs": list(range(1, others + 1))}
    theirs = {"fairness_weight": list(range(most))}
    methods = (
        {"method": "fad", "params": mine},
        {"method": "adversarial", "params": theirs},
    )
    spec = SweepSpec(data=DATA, methods=methods, equal_models=True)
    finer = trained_grids(spec)[0].params["fairness_weight"]
    assert set(finer) >= set(values)
    assert (min(finer), max(finer)) == (min(values), max(values))
    size = len(values) * others
    if size >= most:
        assert set(finer) == set(values)
    elif min(abs(a - b) for a in values for b in values if a != b) > 0.01:
        assert most <= len(finer) * others < most + others


def test_values_are_spaced_and_each_is_there_once():
    assert spaced(0, 5, 3) == (0.0, 2.5, 5.0)
    assert spaced(0.1, 10, 3, log=True) == (0.1, 1.0, 10.0)
    assert spaced(1, 1, 4) == (1.0,)
    with pytest.raises(ValueError, match="Geometric sequence"):
        spaced(0, 1, 3, log=True)
