import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people, people_csv

from fairdash import ui
from fairdash.audits import gaps, trials
from fairdash.audits.gaps import evaluation
from fairdash.audits.gaps.evaluation import paired_changes
from fairdash.datasets import Subgroups, split
from fairdash.metrics import compare, evaluate
from fairdash.sweep import MethodGrid
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
    return trials.settings(ui.store().snapshot(run.id).trials)


def rows(run, trial, subgroups=SUBGROUPS):
    """Return outcome, scores and keywords of the metrics on a trial's test rows."""
    dataset = ui.store().dataset(run.dataset_id)
    test_rows = split(dataset, trial.seed).test
    groups = {
        "sensitive_features": dataset.sensitive_features[test_rows],
        "subgroups": subgroups.label(dataset.frame).iloc[test_rows],
        "min_size": subgroups.min_size,
    }
    scores = ui.store().artifact(trial.key).scores()[test_rows]
    return dataset.y[test_rows], scores, groups


def test_the_test_table_is_the_mean_over_seeds_on_rows_no_model_saw(run, chosen):
    table = gaps.metrics_by_setting(ui.store(), chosen, run.dataset_id, SUBGROUPS)
    tested = [rows(run, trial) for trial in chosen[0].trials]
    wanted = pd.DataFrame(evaluate(y, p, **groups).iloc[0] for y, p, groups in tested)
    for metric in ("accuracy", "worst_1_di", "demographic_parity_difference_low"):
        assert table[metric].iloc[0] == pytest.approx(wanted[metric].mean())
    assert table["accuracy_sd"].iloc[0] == pytest.approx(wanted["accuracy"].std())


def test_a_change_of_subgroups_changes_the_table_without_training(run, chosen):
    everybody = Subgroups(columns=(), min_size=20)
    table = gaps.metrics_by_setting(ui.store(), chosen, run.dataset_id, everybody)
    gap = table["demographic_parity_difference"]
    np.testing.assert_allclose(table["worst_1_di"], gap)
    assert len(ui.store().runs()) == 1


def test_paired_changes_compare_models_on_the_same_rows(run, chosen):
    changes = paired_changes(ui.store(), *chosen, run.dataset_id, SUBGROUPS)
    tables = []
    for trial, other_trial in zip(chosen[0].trials, chosen[1].trials, strict=True):
        y, scores, groups = rows(run, trial)
        _, rest, _ = rows(run, other_trial)
        tables.append(compare(y, scores > 0.5, rest > 0.5, **groups))
    wanted = (tables[0].set_index("metric") + tables[1].set_index("metric")) / 2
    got = changes.set_index("metric")
    pd.testing.assert_frame_equal(got, wanted[got.columns], check_names=False)


def test_a_change_without_an_interval_in_some_seed_has_none(run, chosen, monkeypatch):
    compared = evaluation._compared
    tables = []

    def unsure_first(*where):
        table = compared(*where).copy()
        table.loc[table["metric"] == "accuracy", ["low", "high"]] *= (
            1 if tables else np.nan
        )
        tables.append(table)
        return table

    monkeypatch.setattr(evaluation, "_compared", unsure_first)
    changes = paired_changes(ui.store(), *chosen, run.dataset_id, SUBGROUPS)
    accuracy, gap, _ = changes.to_dict("records")
    first, second = (table["difference"].iloc[0] for table in tables)
    assert accuracy["difference"] == pytest.approx((first + second) / 2)
    assert np.isnan([accuracy["low"], accuracy["high"]]).all()
    assert gap["low"] <= gap["difference"] <= gap["high"]


def test_others_change_the_plain_model_which_changes_none(run, chosen):
    arguments = ui.store(), chosen, run.dataset_id, SUBGROUPS
    road_first = gaps.local_by_measure(*arguments)
    assert road_first.label == "Unconstrained"
    assert road_first.changes is None
    assert road_first.turned == []
    plain_first = gaps.local_by_measure(arguments[0], chosen[::-1], *arguments[2:])
    assert plain_first.changes is not None


def test_every_number_of_a_weighted_run_is_weighted(inline):
    store = ui.store()
    frame = people(900)
    frame["w"] = np.where(frame["origin"] == "there", 3.0, 1.0) * (frame.index % 2 + 1)
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    roles = ROLES.model_copy(update={"sample_weight": "w"})
    data = store.add_dataset(table, roles, "People", SUBGROUPS)
    grid = MethodGrid(method="road", params=QUICK)
    run = store.run(start_training(data, grid, 1))
    road, plain = models = trials.settings(store.snapshot(run.id).trials)
    dataset = store.dataset(data)
    (trial,) = (t for t in store.snapshot(run.id).trials if t.method == "road")
    _, validation, test_rows = split(dataset, 0)
    weight = dataset.frame["w"].to_numpy()[test_rows]
    y, scores, groups = rows(run, trial)
    decided = scores > 0.5
    by_hand = np.average(decided == y, weights=weight)
    assert abs(by_hand - (decided == y).mean()) > 1e-3
    assert trial.row["test_accuracy"] == pytest.approx(by_hand)
    picked = store.artifact(trial.key).scores()[validation] > 0.5
    assert trial.row["validation_accuracy"] == pytest.approx(
        np.average(
            picked == dataset.y[validation],
            weights=dataset.frame["w"].to_numpy()[validation],
        )
    )
    shown = gaps.metrics_by_setting(store, models, data, SUBGROUPS).iloc[0]
    assert shown["accuracy"] == pytest.approx(by_hand)
    changes = paired_changes(store, road, plain, data, SUBGROUPS).set_index("metric")
    assert changes.loc["accuracy", "value"] == pytest.approx(by_hand)
    of_group = groups["sensitive_features"] == "there"
    rate = {
        who: np.average(decided[mine], weights=weight[mine])
        for who, mine in (("there", of_group), ("here", ~of_group))
    }
    gap = pytest.approx(abs(rate["there"] - rate["here"]))
    assert shown["demographic_parity_difference"] == gap
    measures = gaps.every_measure(store, road, data).set_index("measure")
    assert abs(measures.loc["Selection rate", "gap"]) == pytest.approx(gap)
    cells = gaps.local_by_measure(store, models, data, SUBGROUPS).by_group
    cells = cells[(cells["label"] == road.label) & (cells["group"] == "there")]
    assert len(cells)
    labels = np.asarray(groups["subgroups"])
    for cell in cells.itertuples():
        mine = of_group & (labels == cell.subgroup)
        expected = np.average(decided[mine], weights=weight[mine])
        assert cell.value == pytest.approx(expected)
    local = gaps.local_by_measure(store, [road], data, SUBGROUPS)
    named = gaps.named_metrics(store, [road], data, SUBGROUPS).iloc[0]
    assert local.chance > 0
    assert named["worst_1_di_high"] == local.row["worst_1_high"]  # of two pages
