import pytest
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def data(inline):
    """The applicants in the store."""
    table = ui.store().add_table(people_csv(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People")


def test_the_baseline_is_trained_beside_at_the_settings_both_have(data):
    grid = MethodGrid(method="road", params={**QUICK, "tau": 0.7})
    run = ui.store().run(start_training(data, grid, 2))
    spec = SweepSpec.model_validate(run.spec)
    assert [grid.method for grid in spec.methods] == ["road", "unconstrained"]
    assert spec.methods[1].params == QUICK
    assert spec.seeds == (0, 1)
    assert run.name == "People · ROAD λ 1 τ 0.7"


def test_a_baseline_trained_before_is_used_again(data):
    audit = start_training(data, MethodGrid(method="unconstrained", params=QUICK), 1)
    run = start_training(data, MethodGrid(method="road", params=QUICK), 1)
    (trial,) = ui.store().snapshot(audit).trials
    assert trial.key in {trial.key for trial in ui.store().snapshot(run).trials}


def test_a_wrong_setting_queues_nothing(data):
    with pytest.raises(ValueError, match="n_epochs"):
        start_training(data, MethodGrid(method="road", params={"n_epochs": "many"}), 1)
    assert ui.store().runs() == []
