import pytest

from fairdash.datasets import SAMPLES
from fairdash.methods import CATALOG
from fairdash.sweep import DataSource, SweepSpec, expand, grids, planning

LOANS = SAMPLES["loans"]
DATA = DataSource(sample="loans", roles=LOANS.roles, name=LOANS.title)


def methods_of(spec):
    return [grid.method for grid in spec.methods]


def test_every_method_is_tried_on_its_axes_beside_what_it_is_held_to():
    spec = grids.grid_spec(DATA, ["adversarial", "road"], grids.QUICK, n_seeds=2)
    assert methods_of(spec) == ["unconstrained", "adversarial", "road"]
    assert len(expand(spec, "data")) == 2 * (1 + 5 + 25)
    assert spec.subgroups == LOANS.subgroups
    assert set(grids.swept_methods()) >= {"adversarial", "road", "broad", "sensei"}


def test_a_method_without_a_fairness_weight_is_swept_by_what_it_trades_by():
    methods = ["reductions", "grid_reductions", "covariance", "hardt", "rule_list"]
    assert set(methods) <= set(grids.swept_methods())
    assert not {"logistic", "fair_log_loss", "sensr"} & set(grids.swept_methods())
    spec = grids.grid_spec(DATA, methods, grids.QUICK)
    swept = {grid.method: grid.params for grid in spec.methods}
    for method in methods:
        part = CATALOG[method].trade_off()
        values = swept[method][part.name]
        assert len(values) == len(grids.QUICK.weights)
        assert (values[0], values[-1]) == (part.low, part.high)
        assert method in methods_of(SweepSpec.from_yaml(spec.to_yaml()))
    assert len(expand(spec, "data")) == 1 + 5 * len(methods)


def test_a_grid_beyond_all_patience_is_refused_before_it_is_spelt_out():
    weights = tuple(i / 1_000 for i in range(1, 1_001))
    road = {"fairness_weight": weights, "tau": weights}
    spec = SweepSpec(data=DATA, methods=({"method": "road", "params": road},))
    with pytest.raises(ValueError, match="'road' has 1,000,000 settings, more than 10"):
        expand(spec, "data")


def test_many_seeds_of_many_settings_are_refused(monkeypatch):
    monkeypatch.setattr(planning, "MOST_TRIALS", 7)
    tau = {"method": "road", "params": {"tau": (0.1, 0.2, 0.3, 0.4)}}
    assert len(expand(SweepSpec(data=DATA, methods=(tau,), seeds=(0,)), "data")) == 4
    with pytest.raises(ValueError, match="more than 7 models; take fewer settings"):
        expand(SweepSpec(data=DATA, methods=(tau,), seeds=(0, 1)), "data")


def test_the_unconstrained_model_has_the_schedule_and_network_of_each_method():
    spec = grids.grid_spec(
        DATA, ["adversarial", "road", "broad"], grids.PAPER, effort="paper"
    )
    plain = [grid.params for grid in spec.methods if grid.method == "unconstrained"]
    assert sorted(params["n_epochs"] for params in plain) == [100, 175]
    for method in ("adversarial", "road", "broad"):
        settings = CATALOG[method].settings({}, "paper")
        assert any(
            all(settings[name] == value for name, value in params.items())
            for params in plain
        )
    linear = grids.grid_spec(
        DATA, ["road"], grids.QUICK, shared={"predictor_layers": "simple"}
    )
    assert {grid.params["predictor_layers"] for grid in linear.methods} == {"simple"}


def test_what_is_shared_is_asked_of_the_methods_that_have_it():
    shared = {"constraints": "equalized_odds", "normalisation": "global"}
    spec = grids.grid_spec(DATA, ["adversarial", "road"], grids.QUICK, shared=shared)
    plain, zhang, road = (grid.params for grid in spec.methods)
    assert "constraints" not in plain
    assert zhang["constraints"] == road["constraints"] == "equalized_odds"
    assert "normalisation" not in zhang
    assert road["normalisation"] == "global"
