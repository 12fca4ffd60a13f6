import pytest
from reading import button, figures, labels, numbers, words

from fairdash import ui
from fairdash.jobs import submit
from fairdash.sweep import SweepSpec

QUICK = {"n_epochs": 3, "batch_size": 128}
GRID = {"fairness_weight": [0.5, 2.0, 4.0], "tau": [0.1, 0.6]}


def specification(dataset_id, grid=GRID, seeds=(0, 1)):
    record = ui.store().dataset_record(dataset_id)
    return SweepSpec.model_validate(
        {
            "data": {"table": record.table_sha256, "roles": record.roles, "name": "P"},
            "methods": [
                {"method": "unconstrained", "params": QUICK},
                {"method": "road", "params": {**QUICK, **grid}},
                {
                    "method": "adversarial",
                    "params": {**QUICK, "fairness_weight": grid["fairness_weight"]},
                },
            ],
            "seeds": list(seeds),
            "subgroups": record.subgroups,
            "di_limit": 0.5,
        }
    )


@pytest.fixture
def run_id(dataset_id):
    """A finished sweep over two methods."""
    return submit(ui.store(), specification(dataset_id), name="Grid")


def slider(page, label):
    """Return the one slider called ``label``."""
    (found,) = [w for w in page.select_slider if w.label == label]
    return found


def test_first_visit_without_a_table_offers_one(visit):
    page = visit("Sweep")
    assert not page.exception
    assert "No table to sweep over yet" in words(page)
    button(page, "Open the sample").click().run()
    assert not page.exception
    assert "No sweep opened" in words(page)


def test_the_expected_time_stands_beside_the_button_before_it_is_pressed(
    visit, dataset_id
):
    page = visit("Sweep", data=dataset_id)
    assert not page.exception
    # unconstrained, 5 of Zhang, 5 x 5 of ROAD
    assert "31 models: about" in words(page)
    assert "Run sweep" in labels(page)
    grid = next(w for w in page.get("button_group") if w.label == "Grid")
    grid.set_value("paper").run()
    assert "221 models: about" in words(page)


def test_a_custom_grid_has_the_ends_and_numbers_asked_for(visit, dataset_id):
    page = visit("Sweep", data=dataset_id)
    grid = next(w for w in page.get("button_group") if w.label == "Grid")
    grid.set_value("custom").run()
    assert not page.exception
    for widget in page.number_input:
        if widget.label == "Values of λ":
            widget.set_value(3)
        if widget.label == "Values of τ":
            widget.set_value(2)
    page.run()
    assert "10 models: about" in words(page)  # 1 + 3 + 3 x 2


def test_a_finished_sweep_shows_the_numbers_of_the_setting_under_the_sliders(
    visit, run_id
):
    page = visit("Sweep", run=run_id)
    assert not page.exception
    rows = ui.store().snapshot(run_id).table()
    for weight, tau in ((4.0, 0.1), (0.5, 0.6)):
        method = next(w for w in page.selectbox if w.label == "Method")
        method.set_value("road").run()
        slider(page, "Fairness weight (λ)").set_value(weight).run()
        slider(page, "Locality (τ)").set_value(tau).run()
        assert not page.exception
        mine = rows[(rows["fairness_weight"] == weight) & (rows["tau"] == tau)]
        assert len(mine) == 2
        assert numbers(page)["Accuracy"] == f"{mine['test_accuracy'].mean():.1%}"
        gap = mine["test_worst_1_di"].mean()
        assert numbers(page)["Worst-1-DI"] == f"{gap:.3f}"
    assert figures(page) == 6
    assert "6 of 10" in words(page) or "of 10 settings" in words(page)


def test_a_method_without_tau_has_no_map_and_no_slider_for_it(visit, run_id):
    page = visit("Sweep", run=run_id)
    method = next(w for w in page.selectbox if w.label == "Method")
    method.set_value("adversarial").run()
    assert not page.exception
    assert [w.label for w in page.select_slider] == ["Fairness weight (λ)"]


def test_a_model_is_found_on_validation_rows_and_shown_on_both(visit, run_id):
    page = visit("Sweep", run=run_id)
    for widget in page.number_input:
        if widget.label in ("DI at most", "Worst-1-DI at most"):
            widget.set_value(1.0)
    page.run()
    table = ui.store().snapshot(run_id).table()
    table = table[table["method"] != "unconstrained"].fillna({"tau": -1})
    means = table.groupby(["method", "fairness_weight", "tau"])["validation_accuracy"]
    assert f"| Accuracy | {means.mean().max():.1%} |" in words(page)
    button(page, "Show it").click().run()
    assert not page.exception


def test_a_run_of_one_setting_is_no_sweep_and_the_form_stands_open(visit, dataset_id):
    one = {"fairness_weight": [1.0], "tau": [0.3]}
    run = submit(ui.store(), specification(dataset_id, one, seeds=[0]))
    page = visit("Sweep", run=run)
    assert not page.exception
    assert "No sweep opened" in words(page)
    assert page.expander[0].proto.expanded


def test_a_sweep_with_failing_settings_shows_the_others_and_offers_to_go_on(
    visit, dataset_id
):
    broken = {"fairness_weight": [-1.0, 2.0], "tau": [0.1, 0.6]}
    run = submit(ui.store(), specification(dataset_id, broken, seeds=[0]))
    page = visit("Sweep", run=run)
    assert not page.exception
    assert "`fairness_weight` must be" in page.error[0].value
    assert "4 models finished and kept" in page.error[0].value
    assert "Go on" in labels(page)


def test_a_cancelled_sweep_goes_on_without_training_anything_twice(
    visit, run_id, dataset_id
):
    store = ui.store()
    trials = store.snapshot(run_id).trials
    stopped = store.add_run(store.run(run_id).spec, trials, "Stopped", dataset_id)
    store.ask_cancel(stopped)
    store.set_status(stopped, "cancelled")
    folders = [store.artifact(trial.key).folder for trial in trials]
    before = [folder.stat().st_mtime_ns for folder in folders]
    page = visit("Sweep", run=stopped)
    assert page.info[0].proto.title.startswith("Cancelled after")
    button(page, "Go on").click().run()
    assert not page.exception
    newest = store.runs()[0]
    assert (newest.name, newest.status) == ("Stopped", "finished")
    assert [folder.stat().st_mtime_ns for folder in folders] == before


def test_a_growing_sweep_shows_the_front_so_far_and_can_be_cancelled(
    visit, run_id, dataset_id, monkeypatch
):
    store = ui.store()
    done, *others = store.snapshot(run_id).trials
    going = store.add_run(store.run(run_id).spec, [done, *others], "Going", dataset_id)
    monkeypatch.setattr("fairdash.ui._poll.wake", lambda store: None)
    monkeypatch.setattr("fairdash.jobs._submit.wake", lambda store: None)
    store.set_status(going, "running")
    page = visit("Sweep", run=going)
    assert not page.exception
    assert "0 of 20 models finished" in words(page)
    assert figures(page) == 0
    for trial in (done, *others[:4]):
        store.put_trial(going, trial.key, row=trial.row, seconds=1.0)
    page.run()
    assert "5 of 20 models finished" in words(page)
    assert figures(page) == 1
    button(page, "Cancel").click().run()
    assert store.run(going).cancel_asked is not None
