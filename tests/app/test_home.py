from reading import button, figures, labels, numbers, sent, widget, words

from fairdash import ui
from fairdash.audits import recommendation, sweeps
from fairdash.audits.playground import SCENES
from fairdash.sweep import MethodGrid
from fairdash.ui import pages, start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


def test_first_visit_offers_the_demo_an_upload_and_four_tables(visit):
    page = visit("Home")
    assert not page.exception
    assert labels(page)[:2] == ["Open the demo", "Upload a table"]
    assert labels(page).count("Open") == 4
    sentence = (
        "Female are admitted less often than gender: Male, by 14.2 points (11.3–17.0)"
    )
    assert sentence in words(page)


def test_berkeley_opens_with_its_people_and_its_sentence(visit):
    page = visit("Home")
    page.button(key="open berkeley").click().run()
    assert not page.exception
    assert numbers(page)["People used"] == "4,526"
    assert "no gap is against them beyond chance" in words(page)
    assert "4,526 of 4,526 people" in words(page)


def test_the_demo_ends_at_an_audited_model_of_the_sample(visit):
    page = visit("Home")
    button(page, "Open the demo").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert (run.dataset_name, run.status) == ("Loans", "finished")
    assert run.id in page.query_params["run"]


def test_a_finished_sweep_opens_without_training(visit):
    page = visit("Home")
    button(page, "See a finished sweep").click().run()
    (run,) = ui.store().runs()
    assert not page.exception
    assert page.title[0].value == "What does fairness cost?"
    assert (run.status, run.dataset_name) == ("finished", "Loans")
    sweep = sweeps.finished_sweep(ui.store(), run.id)
    best = recommendation.recommend(sweep, run.spec["di_limit"])
    limited = f"limit of {100 * run.spec['di_limit']:.4g} points on the gap"
    assert best.words.startswith(f"Best within the {limited}: ROAD")
    assert best.choice in words(page)
    assert best.change  # of a gap that changed clearly, which the headline says
    assert best.change not in words(page)
    assert "6,000 test rows" in words(page)
    pictures = sent(page, "linked")
    assert len(pictures["values"]) == len(pictures["summary"]["settings"]) > 12


def test_the_league_table_opens_with_all_methods_and_their_ranks(visit):
    page = visit("Home")
    button(page, "League table").click().run()
    whole_table = page.dataframe[0].value
    assert {"ROAD", "Zhang", "Hardt"} < set(whole_table["Method"])
    assert figures(page) == 2  # with that of Home
    widget(page, "button_group", "Table").set_value("COMPAS")
    button(page, "League table").click().run()  # the whole page, not the dialog alone
    assert set(page.dataframe[0].value["Accuracy"]) != set(whole_table["Accuracy"])


QUESTIONS = {page.name: page.question for page in pages.pages()}
STOPS = [
    *("Playground", "Sweep", "Local fairness", "Weights", "Post-process"),
    *("Noisy groups", "Local fairness", "Sweep"),
]


def test_the_tour_goes_from_stop_to_stop(visit, inline, finished_sweep, thorough):
    finished_sweep("loans", inline)  # which takes the button longest
    page = visit("Home")
    button(page, "Take the tour").click().run()
    (run,) = ui.store().runs()
    assert page.query_params["scene"] == "hidden_corner"
    assert page.query_params["beside"] == "adversarial"
    assert page.title[0].value == QUESTIONS[STOPS[0]]
    for stop, name in enumerate(STOPS, 1):
        chosen = {"run": run.id, "data": run.dataset_id, "tour": str(stop)}
        page = visit(name, **chosen, seed="0")
        assert not page.exception
        assert page.title[0].value == QUESTIONS[name]
        assert f"**Stop {stop} of 8.**" in words(page)
        if name == "Playground":
            assert SCENES["hidden_corner"].question in words(page)
        if stop == 2:
            trained = ui.store().snapshot(run.id).trials
            n = sum(t.method == "road" and t.seed == 0 for t in trained)
            assert f"{n} settings of ROAD" in words(page)
        if stop < len(STOPS) and (thorough or stop % 3 == 1):
            button(page, "Next stop").click().run()
            assert page.title[0].value == QUESTIONS[STOPS[stop]]
            assert "seed" not in page.query_params  # what was chosen at a stop stays
    assert "Next stop" not in labels(page)


def test_what_was_done_last_is_one_click_away(visit, dataset_id):
    start_training(dataset_id, MethodGrid(method="road", params=QUICK), 1)
    page = visit("Home")
    assert not page.exception
    assert "Pick up where you were" in words(page)
    (run,) = ui.store().runs()
    accuracy = ui.store().snapshot(run.id).table().groupby("method").mean(True)
    percent = 100 * accuracy.loc["road", "test_accuracy"]
    assert f"Accuracy {percent:.1f}% · Largest local gap" in words(page)
    button(page, "People · ROAD λ 1 τ 0.3").click().run()
    assert page.query_params["run"] in (run.id, [run.id])
