import pytest
from toys import specification

from fairdash.methods import CATALOG
from fairdash.sweep import expand, makespan, plan, work


def cost(effort="fast", n_rows=1000, n_features=10, method="road", **params):
    settings = CATALOG[method].settings(params, effort)
    return work(settings, n_rows=n_rows, n_features=n_features)


def test_work_grows_with_rows_epochs_steps_and_features():
    assert cost(n_rows=2000) == pytest.approx(2 * cost())
    assert cost(n_epochs=120) == pytest.approx(2 * cost(n_epochs=60))
    assert cost(n_features=400) > 5 * cost()
    assert cost("paper") > 5 * cost()
    assert cost(method="logistic") < cost(method="unconstrained") < cost()


def test_free_workers_take_up_tasks_in_their_order():
    assert makespan([4, 3, 2, 1], 1) == 10
    assert makespan([4, 3, 2, 1], 2) == 5
    assert makespan([1, 1, 4], 2) == 5  # the longest last is what a plan avoids
    assert makespan([], 2) == 0


def test_stacks_fill_the_cache_and_the_longest_come_first():
    grids = [
        {"method": "unconstrained", "params": {"n_epochs": [3, 9]}},
        {
            "method": "road",
            "effort": "paper",
            "params": {"fairness_weight": {"linear": [0, 5, 10]}},
        },
        {
            "method": "road",
            "params": {"batch_size": 64, "tau": {"log": [0.01, 1, 70]}},
        },
    ]
    spec = specification("people.csv", methods=grids)
    stacks = plan(expand(spec, "data"))
    sizes = {}
    for stack in stacks:
        sizes.setdefault(stack.params["batch_size"], []).append(len(stack.trials))
    assert sizes[1024] == [5, 5]  # 8 at most
    assert sorted(sizes[64]) == [23, 23, 24]  # 32 at most
    lengths = [
        len(s.trials) * work(s.trials[0].params, n_rows=1, n_features=32)
        for s in stacks
    ]
    assert lengths == sorted(lengths, reverse=True)
