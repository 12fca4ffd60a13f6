import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.datasets import Subgroups, split
from fairdash.metrics import compare, evaluate, noise_floor
from fairdash.results import chance_worst, metrics_by_setting, paired_changes, settings
from fairdash.sweep import MethodGrid, model_label
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)


@pytest.fixture
def run(inline):
    """A run of ROAD beside the baseline on two seeds."""
    store = ui.store()
    table = store.add_table(people_csv(), "people.csv")
    data = store.add_dataset(table, ROLES, "People", SUBGROUPS)
    return store.run(start_training(data, MethodGrid(method="road", params=QUICK), 2))


@pytest.fixture
def chosen(run):
    """The settings of the run: ROAD, then the baseline."""
    return settings(ui.store().snapshot(run.id).trials)


def rows(run, trial, subgroups=SUBGROUPS):
    """Return outcome, scores and keywords of the metrics on a trial's test rows."""
    dataset = ui.store().dataset(run.dataset_id)
    where = split(dataset, trial.seed).test
    groups = {
        "sensitive_features": dataset.sensitive_features[where],
        "subgroups": subgroups.label(dataset.frame).iloc[where],
        "min_size": subgroups.min_size,
    }
    scores = ui.store().artifact(trial.key).scores()[where]
    return dataset.y[where], scores, groups


def test_settings_gather_the_seeds_of_a_model_under_the_letters_of_the_paper(chosen):
    assert [setting.label for setting in chosen] == ["ROAD λ 1 τ 0.3", "Unconstrained"]
    assert [[t.seed for t in setting.trials] for setting in chosen] == [[0, 1]] * 2


def test_a_model_without_letters_is_named_alone():
    assert model_label("unconstrained", {"n_epochs": 60}) == "Unconstrained"
    assert model_label("adversarial", {"fairness_weight": 2.0}) == "Zhang λ 2"


def test_the_test_table_is_the_mean_over_seeds_on_rows_no_model_saw(run, chosen):
    table = metrics_by_setting(ui.store(), chosen, run.dataset_id, SUBGROUPS)
    wanted = []
    for trial in chosen[0].trials:
        y, scores, groups = rows(run, trial)
        wanted.append(evaluate(y, scores, **groups).iloc[0])
    wanted = pd.DataFrame(wanted)
    for metric in ("accuracy", "worst_1_di", "demographic_parity_difference_low"):
        assert table[metric].iloc[0] == pytest.approx(wanted[metric].mean())
    assert table["accuracy_sd"].iloc[0] == pytest.approx(wanted["accuracy"].std())


def test_a_change_of_subgroups_changes_the_table_without_training(run, chosen):
    everybody = Subgroups(columns=(), min_size=20)
    table = metrics_by_setting(ui.store(), chosen, run.dataset_id, everybody)
    gap = table["demographic_parity_difference"]
    np.testing.assert_allclose(table["worst_1_di"], gap)
    assert len(ui.store().runs()) == 1


def test_paired_changes_compare_models_on_the_same_rows(run, chosen):
    changes = paired_changes(ui.store(), *chosen, run.dataset_id, SUBGROUPS)
    tables = []
    for trial, other in zip(chosen[0].trials, chosen[1].trials, strict=True):
        y, scores, groups = rows(run, trial)
        _, others, _ = rows(run, other)
        tables.append(compare(y, scores > 0.5, others > 0.5, **groups))
    wanted = (tables[0].set_index("metric") + tables[1].set_index("metric")) / 2
    got = changes.set_index("metric")
    pd.testing.assert_frame_equal(got, wanted[got.columns], check_names=False)


def test_chance_is_the_noise_floor_of_the_model_itself(run, chosen):
    floors = []
    for trial in chosen[0].trials:
        _, scores, groups = rows(run, trial)
        floors.append(noise_floor(scores > 0.5, **groups).quantile)
    got = chance_worst(ui.store(), chosen[0], run.dataset_id, SUBGROUPS)
    assert got == pytest.approx(np.mean(floors))
