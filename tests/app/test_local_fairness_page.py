from urllib.parse import parse_qs

import pandas as pd
import pytest
from by_hand import local_measure
from reading import button, drawn, figures, labels, numbers, widget, words

from fairdash import ui
from fairdash._escaping import plain
from fairdash.audits import DecisionRule, gaps, search_model
from fairdash.audits.subgroups import facts
from fairdash.datasets import SAMPLES, Subgroups, split
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    """ROAD and the unconstrained model, two seeds each."""
    return trained("road", 2, **QUICK)


def ranked(page):
    """The table of subgroups, which stands below the figure."""
    return page.dataframe[-1].value


def test_first_visit_without_a_model_leads_to_training(visit, dataset_id):
    page = visit("Local fairness", data=dataset_id)
    assert not page.exception
    assert "No trained model yet" in words(page)
    button(page, "Train a model").click().run()
    assert "What does training change?" in words(page)


def test_a_larger_smallest_size_leaves_no_estimate_and_says_so(visit, run_id):
    page = visit("Local fairness", run=run_id, opened="table")
    widget(page, "select_slider", "Smallest subgroup").set_value(500).run()
    assert not page.exception
    assert numbers(page)["Subgroups estimable"] == "0 of 2"
    assert numbers(page)["Largest gap"] == "–"
    assert "No subgroup is estimable. Choose wider ones" in words(page)
    assert ranked(page)["Not estimable"].str.fullmatch(r"\d+ rows").all()


def test_models_of_other_runs_are_offered_and_told_apart(visit, run_id, dataset_id):
    longer = {**QUICK, "n_epochs": 5}
    other_run = start_training(dataset_id, MethodGrid(method="road", params=longer), 1)
    page = visit("Local fairness", run=other_run)
    assert not page.exception
    models = widget(page, "multiselect", "Models")
    assert len(models.options) == 4
    assert len(set(models.options)) == 4
    assert "epochs 5" in " ".join(models.value)
    assert "epochs 4" not in " ".join(models.value)
    models.set_value(models.options).run()
    assert not page.exception
    assert len(widget(page, "button_group", "Model").options) == 4
    elsewhere = visit("Weights", **page.query_params)  # the tray is on every page
    assert widget(elsewhere, "multiselect", "Models").value == models.options[2:]


def test_a_reload_and_a_link_show_the_same_page(visit, run_id):
    page = visit("Local fairness", run=run_id, opened="table")
    widget(page, "selectbox", "Seed").set_value(1).run()
    widget(page, "multiselect", "Models").set_value(["Unconstrained"]).run()
    widget(page, "multiselect", "Columns").set_value(["branch", "age"]).run()
    widget(page, "select_slider", "Smallest subgroup").set_value(10).run()
    assert not page.exception
    again = visit("Local fairness", **page.query_params)
    assert not again.exception
    assert numbers(again) == numbers(page)
    assert again.query_params == page.query_params
    pd.testing.assert_frame_equal(ranked(again), ranked(page))
    weights = visit("Weights", **page.query_params)
    assert "seed 1" in words(weights)
    assert widget(weights, "multiselect", "Columns").value == ["branch", "age"]


def test_the_measure_is_a_choice_that_a_reload_keeps(visit, run_id, dataset_id):
    page = visit("Local fairness", run=run_id, opened=["measures", "table"])
    default = numbers(page)
    widget(page, "selectbox", "Measure").set_value("false_positive_rate").run()
    assert not page.exception
    assert page.query_params["measure"] == "false_positive_rate"
    dataset = ui.store().dataset(dataset_id)
    (road,) = [
        candidate
        for candidate in ui.known_models(dataset_id, run_id)
        if candidate.method == "road"
    ]
    by_model = []
    for trial in road.trials:
        rows = split(dataset, trial.seed).test
        scores = ui.store().artifact(trial.key).scores()[rows]
        table = local_measure(
            "false_positive_rate",
            dataset.y[rows],
            (scores > 0.5).astype(int),
            sensitive_features=dataset.sensitive_features[rows],
            subgroups=dataset.frame["branch"].iloc[rows],
            min_size=20,
        )
        by_model.append(table.set_index("subgroup")["gap"])
    worst = sum(gap.max() for gap in by_model) / 2
    mean = pd.concat(by_model).groupby(level=0).mean()
    assert numbers(page)["Largest gap"] == f"{100 * worst:.1f} pt"
    document = ranked(page).set_index("Subgroup")["Gap"].to_dict()
    assert document == pytest.approx(mean.to_dict())
    again = visit("Local fairness", **page.query_params)
    assert numbers(again) == numbers(page)
    widget(again, "selectbox", "Measure").set_value("selection_rate").run()
    assert numbers(again) == default
    widget(again, "selectbox", "Measure").set_value("calibration").run()
    assert not again.exception
    assert figures(again) == 2


def test_a_search_waits_until_it_is_opened_and_a_found_subgroup_is_looked_at(
    visit, run_id, dataset_id, monkeypatch
):
    monkeypatch.setattr(facts, "ALPHA", 0.999)  # as if all were beyond chance
    page = visit("Local fairness", run=run_id)
    widget(page, "button_group", "Evidence").set_value(["find"]).run()
    assert not page.exception
    assert "find" in page.query_params["opened"]
    model = next(m for m in ui.known_models(dataset_id, run_id) if m.method == "road")
    subgroups = search_model(
        ui.store(), model, dataset_id, "selection_rate", min_size=20
    )
    assert subgroups.caption() in words(page).replace("\\", "")
    first = subgroups.beyond.iloc[0]
    assert plain(first["subgroup"]) in labels(page)
    speech = gaps.speech_of(ui.store(), dataset_id)
    assert subgroups.verdict(speech) in words(page).replace("\\", "")
    # one click: ROAD's form, and thresholds of this model, with the subgroup along
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    road = parse_qs(links["Train ROAD beside it"].query_string)
    assert '"road"' in road["form"][0]
    fix = parse_qs(links["Fix in Post-process"].query_string)
    assert fix["scores"] == [model.id]
    assert fix["subgroups"] == road["subgroups"]
    button(page, plain(first["subgroup"])).click().run()
    assert not page.exception
    parameter = page.query_params["subgroups"]
    chosen = Subgroups.model_validate_json(
        parameter if isinstance(parameter, str) else parameter[0]
    )
    assert set(chosen.columns) == {link.column for link in first["conditions"]}
    widget(page, "selectbox", "Measure").set_value("auc").run()
    assert not page.exception
    assert "AUC is not searched; choose one of" in words(page)


def test_the_reader_weighs_what_errors_cost(visit, run_id, dataset_id):
    page = visit("Local fairness", run=run_id, measure="error_cost", opened="measures")
    widget(page, "number_input", "Wrong 0s a wrong 1 is worth").set_value(4.0).run()
    assert not page.exception
    assert "Gap in error cost 4 : 1 by subgroup on 120 test rows" in words(page)
    table = next(t.value for t in page.dataframe if "Measure" in t.value)
    row = table.set_index("Measure").loc["Error cost 4 : 1"]
    store = ui.store()
    dataset = store.dataset(dataset_id)
    costs = []
    for trial in store.snapshot(run_id).trials:
        if trial.method == "road":
            rows = split(dataset, trial.seed).test
            decided = store.artifact(trial.key).scores()[rows] > 0.5
            cost = (decided - dataset.y[rows].astype(float)).clip(-0.25) * 1.6
            of_group = dataset.sensitive_features[rows] == "there"
            costs.append(abs(cost[of_group]).mean())
    assert row["origin: there"] == pytest.approx(sum(costs) / 2, abs=1e-6)


def test_the_reader_chooses_how_scores_become_decisions(visit, run_id, dataset_id):
    page = visit("Local fairness", run=run_id, opened="measures")
    usual = numbers(page)
    widget(page, "radio", "Decided 1").set_value("top").run()
    assert not page.exception
    widget(page, "number_input", "Percent decided 1").set_value(30.0).run()
    assert not page.exception
    assert page.query_params["decided"] in ("top 30", ["top 30"])
    assert numbers(page) != usual
    store, dataset = ui.store(), ui.store().dataset(dataset_id)
    rates = []
    for trial in store.snapshot(run_id).trials:
        if trial.method == "road":
            parts = split(dataset, trial.seed)
            scores = store.artifact(trial.key).scores()
            rule = DecisionRule.of("top 30")
            y = dataset.y[parts.validation]
            cut = rule.threshold(scores[parts.validation], y, base_rate=0.5)
            inside = parts.test[dataset.sensitive_features[parts.test] == "there"]
            rates.append((scores[inside] > cut).mean())
    table = next(t.value for t in page.dataframe if "Four fifths" in t.value)
    line = table.set_index("Measure").loc["Selection rate", "origin: there"]
    assert line == pytest.approx(sum(rates) / 2, abs=1e-6)
    train = visit("Train", **page.query_params)
    assert not train.exception
    assert widget(train, "radio", "Decided 1").value == "top"
    odd = visit("Local fairness", run=run_id, decided="top nothing")
    assert not odd.exception
    assert numbers(odd) == usual


def test_a_sample_shows_its_planted_gap(visit, inline, finished_sweep):
    finished_sweep("loans", inline)
    (run,) = ui.store().runs()
    page = visit("Local fairness", run=run.id, data=run.dataset_id)
    assert not page.exception
    name = "planted gap (truth)"
    (marks,) = [m for m in drawn(page)["data"] if m.get("name") == name]
    truth = SAMPLES["loans"].truth().subgroups
    assert sorted(marks["x"]) == sorted(truth.loc[truth["planted"], "decided"])
    page = visit("Local fairness", run=run.id, data=run.dataset_id, measure="accuracy")
    assert name not in {mark.get("name") for mark in drawn(page)["data"]}
