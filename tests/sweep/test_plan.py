from hypothesis import given
from hypothesis import strategies as st
from toys import WEIGHTS, trials

from fairdash.sweep import plan


def test_trials_that_differ_in_stackable_parameters_share_a_stack():
    (stack,) = plan(trials(WEIGHTS))
    assert len(stack.trials) == 6
    assert stack.points[1] == {"fairness_weight": 0.0, "tau": 0.7}
    assert not {"fairness_weight", "tau"} & stack.params.keys()
    epochs = {"method": "road", "params": {"n_epochs": [5, 9], "tau": [0.3, 0.5]}}
    assert [len(stack.trials) for stack in plan(trials(epochs))] == [2, 2]


@given(
    weights=st.lists(st.integers(0, 9), min_size=1, unique=True),
    seeds=st.lists(st.integers(0, 9), min_size=1, unique=True),
    max_models=st.integers(1, 5),
)
def test_a_plan_holds_every_trial_once(weights, seeds, max_models):
    grid = {"method": "adversarial", "params": {"fairness_weight": weights}}
    all_trials = trials(grid, {"method": "unconstrained"}, seeds=seeds)
    stacks = plan(all_trials, max_models=max_models)
    planned = [trial.key for stack in stacks for trial in stack.trials]
    assert sorted(planned) == sorted(trial.key for trial in all_trials)
    assert len({stack.key for stack in stacks}) == len(stacks)
    for stack in stacks:
        assert len(stack.trials) <= max_models
        for trial, point in zip(stack.trials, stack.points, strict=True):
            assert trial.params == {**stack.params, **point}
            assert (trial.method, trial.seed) == (stack.method, stack.seed)


def test_stacks_are_as_large_as_the_device_holds():
    many = {"fairness_weight": [i / 10 for i in range(40)], "tau": [0.1, 0.5, 1.0]}
    grid = {"method": "road", "params": {**many, "batch_size": 1024}}
    there = trials(grid)
    assert {len(stack.trials) for stack in plan(there)} == {8}
    assert [len(stack.trials) for stack in plan(there, device="cuda")] == [120]
    small = {"method": "road", "params": {**many, "batch_size": 16}}
    assert max(len(stack.trials) for stack in plan(trials(small))) <= 32
