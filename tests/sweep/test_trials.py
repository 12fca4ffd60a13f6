import pytest
from toys import WEIGHTS, trials

from fairdash.methods import CATALOG


def test_a_grid_is_every_combination_with_all_parameters():
    grid = trials(WEIGHTS, seeds=[0, 1])
    points = [(t.seed, t.params["fairness_weight"], t.params["tau"]) for t in grid]
    expected = [(s, w, t) for s in (0, 1) for w in (0, 1, 3) for t in (0.3, 0.7)]
    assert points == expected
    names = {param.name for param in CATALOG["road"].params}
    assert all(trial.params.keys() == names for trial in grid)


def test_effort_sets_what_is_not_given():
    paper = {"method": "road", "effort": "paper", "params": {"n_ratio_steps": 3}}
    (trial,) = trials(paper)
    assert trial.params["n_adversary_steps"] == 10
    assert trial.params["n_ratio_steps"] == 3


def test_the_same_question_has_the_same_key_however_it_is_written():
    one = trials({"method": "road", "params": {"fairness_weight": 1}})
    two = trials({"method": "road", "params": {"fairness_weight": 1.0, "tau": 0.3}})
    assert [t.key for t in one] == [t.key for t in two]
    assert len(trials({"method": "road", "params": {"tau": [0.5, 0.5]}})) == 1


def test_every_part_of_the_question_is_in_the_key():
    keys = {
        trials({"method": "road"})[0].key,
        trials({"method": "road"}, key="other data")[0].key,
        trials({"method": "road"}, seeds=[1])[0].key,
        trials({"method": "road"}, scaling="minmax")[0].key,
        trials({"method": "broad"})[0].key,
        trials({"method": "road", "params": {"tau": 0.4}})[0].key,
        trials({"method": "road"}, train_rows=100)[0].key,
        trials({"method": "road"}, train_rows=101)[0].key,
    }
    assert len(keys) == 8


def test_keys_are_those_of_before_there_was_a_choice_of_rows():
    (trial,) = trials({"method": "road"})
    assert trial.key == "27354c96ec33160ec15d56c9764d02c9"


def test_subgroups_are_not_in_the_key():
    one = trials({"method": "road"}, subgroups={"columns": ["age"]})
    two = trials({"method": "road"}, subgroups={"columns": ["branch"]})
    assert one == two


def test_methods_get_equal_numbers_of_models_by_more_seeds():
    zhang = {"method": "adversarial", "params": {"fairness_weight": [1, 2]}}
    methods = [{"method": "unconstrained"}, zhang, WEIGHTS]
    found = trials(*methods, seeds=[3, 0], equal_models=True)
    seeds = {
        name: sorted({t.seed for t in found if t.method == name})
        for name in ("unconstrained", "adversarial", "road")
    }
    assert seeds == {
        "unconstrained": [0, 3],
        "adversarial": [0, 3, 4, 5, 6, 7],
        "road": [0, 3],
    }
    counts = [sum(t.method == m for t in found) for m in ("adversarial", "road")]
    assert counts == [12, 12]
    plain = trials(*methods, seeds=[3, 0])
    assert {t.key for t in plain} < {t.key for t in found}


@pytest.mark.parametrize(
    "method, message",
    [
        ({"method": "magic"}, "`method` must be one of"),
        ({"method": "road", "params": {"lambda": 1}}, "no parameter `lambda`"),
        ({"method": "road", "params": {"tau": "big"}}, "`tau` must be a number"),
        ({"method": "road", "params": {"n_epochs": 2.5}}, "`n_epochs` must be a whole"),
        (
            {"method": "road", "params": {"constraints": "fair"}},
            "`constraints` must be",
        ),
    ],
)
def test_what_the_catalog_does_not_know_is_refused(method, message):
    with pytest.raises(ValueError, match=message):
        trials(method)
