import pytest

from fairdash.datasets import SAMPLES
from fairdash.methods import CATALOG
from fairdash.sweep import (
    PAPER,
    QUICK,
    DataSource,
    expand,
    grid_spec,
    n_initialisations,
    shared_params,
    spaced,
    swept_methods,
)

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


def test_equal_numbers_of_models_come_from_starts_on_the_same_splits():
    spec = grid_spec(DATA, ["adversarial", "road"], QUICK, equal_models=True)
    assert n_initialisations(spec) == {"unconstrained": 1, "adversarial": 5, "road": 1}
    twice = spec.model_copy(update={"initialisations": 2})
    assert n_initialisations(twice) == {
        "unconstrained": 2, "adversarial": 10, "road": 2,
    }  # fmt: skip


def test_values_are_spaced_and_each_is_there_once():
    assert spaced(0, 5, 3) == (0.0, 2.5, 5.0)
    assert spaced(0.1, 10, 3, log=True) == (0.1, 1.0, 10.0)
    assert spaced(1, 1, 4) == (1.0,)
    with pytest.raises(ValueError, match="Geometric sequence"):
        spaced(0, 1, 3, log=True)
