import pytest
from reading import (
    button,
    labels,
    place_of,
    sent,
    setting_of,
    widget,
    words,
)

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import choices, linked, recommendation, sweeps, trials
from fairdash.jobs import submit
from fairdash.linked import first_answers
from fairdash.methods import CATALOG
from fairdash.sweep import SweepSpec, choose_certified

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
                    "params": {k: v for k, v in (QUICK | grid).items() if k != "tau"},
                },
            ],
            "seeds": list(seeds),
            "subgroups": record.subgroups,
            "di_limit": 0.5,
        }
    )


@pytest.fixture
def run_id(dataset_id, train_once, summary_kept):
    """A finished sweep over two methods."""

    def train(spec):
        run = submit(ui.store(), spec, name="Grid")
        summary_kept(run)
        return run

    return train_once(ui.store(), train, specification(dataset_id))


def numbers(page):
    """Return the value on every card where the pictures start, by its label."""
    pictures = sent(page, "linked")
    labels = [card["label"] for card in pictures["cards"]]
    place_values = pictures["values"][str(place_of(page))]
    return dict(zip(labels, (card["value"] for card in place_values), strict=True))


def test_first_visit_without_a_table_offers_one(visit):
    page = visit("Sweep")
    assert not page.exception
    assert "No table to sweep over yet" in words(page)
    button(page, "Open the sample").click().run()
    assert not page.exception
    assert "No sweep opened" in words(page)


def group(page, label):
    """Return the control of several buttons with a label."""
    return next(first for first in page.get("button_group") if first.label == label)


WEIGHT = "Fairness weight (λ)"
TAU = "Locality (τ)"


def accuracies(run_id):
    """Return validation accuracy by method, λ and τ, within the limit."""
    rows = ui.store().snapshot(run_id).table().fillna({"tau": -1})
    rows = rows[rows["method"] != "unconstrained"]
    means = rows.groupby(["method", "fairness_weight", "tau"]).mean(numeric_only=True)
    within_limit = means["validation_demographic_parity_difference"] <= 0.5
    return means.loc[within_limit, "validation_accuracy"]


def test_the_model_of_the_address_is_shown_and_another_method_opens_on_its_best(
    visit, run_id
):
    expected = trials.known_models(ui.store(), ui.store().run(run_id).dataset_id)
    ids = {model.label: model.id for model in expected}
    page = visit("Sweep", run=run_id, model=ids["ROAD λ 4 τ 0.1"])
    assert setting_of(page) == {WEIGHT: "4", TAU: "0.1"}
    method = next(w for w in page.selectbox if w.label == "Method")
    method.set_value("adversarial").run()
    weight = setting_of(page)[WEIGHT]
    within = accuracies(run_id)["adversarial"]
    assert within[float(weight), -1] == within.max()
    assert page.query_params["model"] == ids[f"Zhang λ {weight}"]


def test_a_sweep_opens_on_the_plain_model_where_nothing_is_to_fix(visit, run_id):
    expected = trials.known_models(ui.store(), ui.store().run(run_id).dataset_id)
    page = visit("Sweep", run=run_id)
    assert not page.exception
    assert page.query_params["model"] == expected[0].id
    assert widget(page, "selectbox", "Method").value == "unconstrained"
    assert setting_of(page) == {}
    assert "nothing to fix" in words(page)
    assert "Use" not in labels(page)


def test_headline_and_cards_are_of_the_model_in_question_wherever_it_stands(
    visit, run_id, thorough
):
    sweep = sweeps.finished_sweep(ui.store(), run_id)
    best = recommendation.recommend(sweep, 0.5)
    last = len(sweep.models) - 1
    for place, model in enumerate(sweep.models):
        if not thorough and place not in (0, best.place, last):
            continue
        page = visit("Sweep", run=run_id, model=model.id)
        assert not page.exception
        text = words(page)
        assert plain(choices.setting_answer(sweep, place).verdict) in text
        assert plain(best.beside(place)) in text
        assert (plain(best.words) in text) == (place != best.place or not best.change)
        cards = sweep.cards(model.method, 0.5)[place]
        assert numbers(page) == {card.label: card.value for card in cards}
        assert ("Use" in labels(page)) == (place != best.place)
    button(page, "Use").click().run()
    assert page.query_params["model"] == sweep.ids[best.place]


def test_a_limit_that_is_moved_moves_the_recommendation_and_no_model(visit, run_id):
    assert "No setting keeps" not in words(visit("Sweep", run=run_id))
    sweep = sweeps.finished_sweep(ui.store(), run_id)
    chosen = sweep.ids[-1]
    page = visit("Sweep", run=run_id, model=chosen, limit="0.000001")
    assert page.query_params["model"] == chosen
    button(page, "Use").click().run()
    rows = sweeps.finished_sweep(ui.store(), run_id).result.means
    rows = rows.query("method != 'unconstrained' and validation_constant <= 0.5")
    gaps = rows["validation_demographic_parity_difference"]
    method, weight, *_ = rows.loc[gaps.idxmin(), ["method", "fairness_weight"]]
    assert float(setting_of(page)[WEIGHT]) == weight
    named = f"{CATALOG[method].label} λ {weight:g}"
    assert f"on validation rows. The nearest is {named}" in words(page)
    widget(page, "button_group", "Evidence").set_value(["how"]).run()
    assert words(page).count("compared by their gaps on validation rows") == 1


def test_the_form_asks_for_a_criterion_and_a_grid_of_ones_own(visit, dataset_id):
    page = visit("Sweep", data=dataset_id)
    choices = {box.label: box for box in page.selectbox}
    choices["Constraint"].set_value("equalized_odds")
    group(page, "Grid").set_value("custom").run()
    weights, taus = (box for box in page.text_input if "Values of" in box.label)
    weights.set_value("0.5; 2").run()
    assert "Values of λ are numbers with commas between" in page.error[0].value
    weights, taus = (box for box in page.text_input if "Values of" in box.label)
    weights.set_value("2")
    taus.set_value("0.3").run()
    assert not page.exception
    button(page, "Run sweep").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    params = {grid["method"]: grid["params"] for grid in run.spec["methods"]}
    assert params["road"]["constraints"] == "equalized_odds"
    assert params["road"]["tau"] == [0.3]
    assert run.status == "finished"
    page = visit("Sweep", data=dataset_id, sweep_form="methods=road,reductions")
    assert "Base model" in {box.label for box in page.selectbox}


def test_a_sweep_with_failing_settings_shows_the_others_and_offers_to_go_on(
    visit, dataset_id
):
    broken = {"fairness_weight": [1e39, 2.0], "tau": [0.1, 0.6]}
    run = submit(ui.store(), specification(dataset_id, broken, seeds=[0]))
    page = visit("Sweep", run=run)
    assert not page.exception
    assert "Training diverged" in page.error[0].value
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


def test_a_growing_sweep_shows_its_finished_models_and_can_be_cancelled(
    visit, run_id, dataset_id, monkeypatch
):
    store = ui.store()
    done, *rest = store.snapshot(run_id).trials
    going = store.add_run(store.run(run_id).spec, [done, *rest], "Going", dataset_id)
    monkeypatch.setattr("fairdash.ui.widgets.runs.wake", lambda store: None)
    monkeypatch.setattr("fairdash.jobs._work.wake", lambda store: None)
    store.set_status(going, "running")
    page = visit("Sweep", run=going)
    assert not page.exception
    assert "0 of 20 models finished" in words(page)
    for trial in (done, *rest[:4]):
        store.put_trial(going, trial.key, row=trial.row, seconds=1.0)
    page.run()
    assert "5 of 20 models finished" in words(page)
    assert "Models that have finished, 5 of 20." in words(page)
    document = sent(page, "linked")["summary"]
    accuracies = [trial.row["test_accuracy"] for trial in (done, *rest[:4])]
    drawn = [setting["metrics"]["accuracy"] for setting in document["settings"]]
    assert drawn == pytest.approx(accuracies, abs=1e-6)
    whole = linked.summary(sweeps.finished_sweep(store, run_id))
    assert (
        document["methods"][1]["axes"] == whole["methods"][1]["axes"]
    )  # cells to come
    assert len(document["settings"]) < len(whole["settings"])
    assert store.summaries(going) == {}  # it is not over
    for trial in rest[4:9]:
        store.put_trial(going, trial.key, row=trial.row, seconds=1.0)
    page.run()
    assert len(sent(page, "linked")["summary"]["settings"]) == 10
    button(page, "Cancel").click().run()
    assert store.run(going).cancel_asked is not None


def test_a_guarantee_is_that_of_the_certified_choice(visit, run_id):
    address = {
        "most_di": 0.9,
        "most_worst": 0.9,
        "point": "tau=0.1",
    }  # of an older link
    page = visit("Sweep", run=run_id, **address)
    page.session_state["certify"] = True  # opens what is computed once it is asked for
    page.run()
    assert not page.exception
    limits = {"demographic_parity_difference": 0.9, "worst_1_di": 0.9}
    choice = choose_certified(sweeps.finished_sweep(ui.store(), run_id), limits=limits)
    assert choices.certified_words(choice, limits) in words(page)
    button(page, "Show it").click().run()
    model_id = sweeps.finished_sweep(ui.store(), run_id).ids[int(choice.model)]
    assert page.query_params["model"] == model_id
    policy = b"{groups: [g], limits: [{measure: false_positive_rate, at_most: 0.7}]}"
    page.file_uploader(key="certified policy").upload("p.yaml", policy, "text/yaml")
    page.run()
    assert not page.exception
    assert "False positive gap ≤ 0.7 on new rows like these" in words(page)


def test_the_first_visit_reads_what_was_computed_when_the_sweep_ended(
    visit, run_id, monkeypatch
):
    first_answers(ui.store(), run_id)

    def refuse(*args):
        raise AssertionError("computed by a page")

    monkeypatch.setattr("fairdash.linked.first.linked_data", refuse)
    page = visit("Sweep", run=run_id)
    assert not page.exception
    assert len(sent(page, "linked")["summary"]["settings"]) > 1
