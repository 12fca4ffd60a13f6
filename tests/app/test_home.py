from reading import button, drawn, figures, labels, sent, words

from fairdash import ui
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


def test_first_visit_offers_the_demo_an_upload_and_three_samples(visit):
    page = visit("Home")
    assert not page.exception
    assert labels(page)[:2] == ["Open the demo", "Upload a table"]
    assert labels(page).count("Open") == 3
    assert figures(page) == 1


def test_the_demo_ends_at_an_audited_model_of_the_sample(visit):
    page = visit("Home")
    button(page, "Open the demo").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert (run.dataset_name, run.status) == ("Loans", "finished")
    assert page.query_params["run"] == [run.id] or page.query_params["run"] == run.id


def test_a_finished_sweep_opens_without_training(visit):
    page = visit("Home")
    button(page, "See a finished sweep").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert page.title[0].value == "What does fairness cost?"
    assert (run.status, run.dataset_name) == ("finished", "Loans")
    limit = run.spec["di_limit"]
    assert f"With DI of at most {limit:g} on validation rows" in words(page)
    assert "6,000 test rows" in words(page)
    assert len(sent(page, "live_setting")["settings"]) == 12


def test_the_tour_has_five_stops_and_a_last_act_for_who_goes_on(visit):
    page = visit("Home")
    button(page, "Take the tour").click().run()
    (run,) = ui.store().runs()
    at = {"run": run.id, "data": run.dataset_id}
    names = ["Sweep", "Local fairness", "Weights", "Post-process", "Noisy groups"]
    asked = page.title[0].value
    for stop, name in enumerate(names, 1):
        page = visit(name, **at, tour=str(stop), k="3")
        assert not page.exception
        assert page.title[0].value == asked
        assert f"**Stop {stop} of 5.**" in words(page)
        (forward,) = [one for one in page.button if one.proto.shortcut == "n"]
        assert ("last act" in forward.label) == (stop == 5)
        forward.click().run()
        asked = page.title[0].value
        assert "k" not in page.query_params  # what was chosen at a stop stays there
    carried = ("run", "data", "models", "model", "scores", "opened", "tour")
    page = visit(
        "Local fairness",
        **{k: page.query_params[k] for k in carried if k in page.query_params},
    )
    assert "**Last act, 1 of 4.** **Find.**" in words(page)
    assert "beyond chance, on test rows" in words(page)
    found = next(one for one in labels(page) if one.startswith("age"))
    button(page, found).click().run()
    chosen = page.query_params["subgroups"]
    button(page, "Next stop").click().run()
    assert page.query_params["subgroups"] == chosen, "goes along to the fix"
    assert "Unconstrained" in words(page)
    for stop in (8, 9):
        page = visit("Sweep", **at, tour=str(stop))
        assert f"**Last act, {stop - 5} of 4.**" in words(page)
        assert ("Next stop" in labels(page)) == (stop < 9)


def test_what_was_done_last_is_one_click_away(visit, dataset_id):
    start_training(dataset_id, MethodGrid(method="road", params=QUICK), 1)
    page = visit("Home")
    assert not page.exception
    assert figures(page) == 1
    assert "Pick up where you were" in words(page)
    (run,) = ui.store().runs()
    accuracy = ui.store().snapshot(run.id).table().groupby("method").mean(True)
    shown = 100 * accuracy.loc["road", "test_accuracy"]
    assert f"Accuracy {shown:.1f}% · Worst-1-DI" in words(page)
    button(page, "People · ROAD λ 1 τ 0.3").click().run()
    assert page.query_params["run"] in (run.id, [run.id])


def test_the_last_result_is_of_the_seeds_that_its_models_share(visit, dataset_id):
    run = start_training(dataset_id, MethodGrid(method="road", params=QUICK), 3)
    before, store = ui.store().snapshot(run), ui.store()
    kept = [t for t in before.trials if t.method == "road" or t.seed == 1]
    part = store.add_run(before.run.spec, kept, "Part", dataset_id)
    store.set_status(part, "running")
    for trial in kept:
        store.put_trial(part, trial.key, row=trial.row, seconds=1.0)
    store.set_status(part, "finished")
    page = visit("Home")
    assert not page.exception
    (plain, road) = [t for t in kept if t.seed == 1][::-1]
    if plain.method == "road":
        plain, road = road, plain
    for trial, name in ((plain, "Unconstrained"), (road, "ROAD λ 1 τ 0.3")):
        marks = [mark for mark in drawn(page)["data"] if mark["name"] == name]
        assert [mark["x"] for mark in marks] == [
            [trial.row["test_accuracy"]],
            [trial.row["test_demographic_parity_difference"]],
            [trial.row["test_worst_1_di"]],
        ]
