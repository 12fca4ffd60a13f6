import json

import numpy as np
import pandas as pd
import pytest
from reading import drawn, figures, labels, numbers, widget, words
from toys import ROLES, people

from fairdash import ui
from fairdash.datasets import Subgroups, split
from fairdash.postprocessing import (
    RampThreshold,
    ScoredRows,
    choose_ramp,
    expected_outcome,
)
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    return trained("unconstrained", **QUICK)


def stored(run_id):
    """Margins of the trained model and the data set."""
    store = ui.store()
    (trial,) = store.snapshot(run_id).trials
    dataset = store.dataset(store.run(run_id).dataset_id)
    return 2.0 * store.artifact(trial.key).scores() - 1, dataset


GAP = "Gap (DI), test rows"


def expected(run_id, **parameters):
    """Accuracy and DI on test rows of a ramp learned on validation rows."""
    margins, dataset = stored(run_id)
    rows, groups = split(dataset, 0), dataset.sensitive_features
    ramp = RampThreshold(**parameters).fit(
        margins[rows.validation],
        dataset.y[rows.validation],
        sensitive_features=groups[rows.validation],
    )
    test = rows.test
    h = ramp.predict_proba(margins[test], sensitive_features=groups[test])
    table = expected_outcome(h, sensitive_features=groups[test], y=dataset.y[test])
    return ramp, table["value"].tolist()


def test_a_visit_without_anything_says_what_it_takes(visit):
    page = visit("Post-process")
    assert not page.exception
    assert "No scores yet" in words(page)
    assert "Train a model" in labels(page)


def test_the_first_screen_is_the_most_accurate_ramp_on_test_rows(visit, run_id):
    page = visit("Post-process", run=run_id)
    assert not page.exception
    _, (accuracy, gap) = expected(run_id, gamma=0.1)
    shown = numbers(page)
    assert shown["Expected accuracy"] == f"{accuracy:.1%}"
    assert shown[GAP] == f"{abs(gap):.3f}"
    assert figures(page) == 0  # ramps are drawn by the component
    said = page.header[0].value
    assert len(said.split()) <= 20
    assert said.startswith("The ramp ")
    assert "120 validation rows · 120 test rows" in words(page)
    evidence = ["trade", "measure", "inside", "apply", "how"]
    widget(page, "button_group", "Evidence").set_value(evidence).run()
    assert not page.exception
    assert figures(page) == 2


def test_width_and_rate_can_be_chosen_by_folds_of_validation_rows(visit, run_id):
    page = visit("Post-process", run=run_id)
    next(b for b in page.button if b.label == "Choose γ and ρ").click().run()
    assert not page.exception
    margins, dataset = stored(run_id)
    rows = split(dataset, 0).validation
    found = choose_ramp(
        ScoredRows.read(
            (margins[rows] + 1) / 2,
            sensitive_features=dataset.sensitive_features[rows],
            y=dataset.y[rows],
            score_type="probability",
        )
    )
    assert float(page.query_params["gamma"]) == found.gamma
    assert page.query_params["target_rate"] == str(found.target_rate)
    chosen = {"gamma": found.gamma, "target_rate": found.target_rate}
    _, (accuracy, _) = expected(run_id, **chosen)
    assert numbers(page)["Expected accuracy"] == f"{accuracy:.1%}"


def test_a_link_opens_the_same_ramp_on_the_same_scores(visit, run_id):
    told = {"gamma": "0.98", "target_rate": "0.345", "tolerance": "0.05"}
    page = visit("Post-process", run=run_id, **told)
    assert not page.exception
    given = {"gamma": 0.98, "target_rate": 0.345, "tolerance": 0.05}
    _, (accuracy, gap) = expected(run_id, **given)
    assert numbers(page)["Expected accuracy"] == f"{accuracy:.1%}"
    assert numbers(page)[GAP] == f"{gap:.3f}"
    target = widget(page, "button_group", "Target rate (ρ)")
    assert target.value == "hand"
    page.run()
    assert numbers(page)[GAP] == f"{gap:.3f}"
    for name, text in told.items():
        assert page.query_params[name] == text


def test_an_address_that_makes_no_sense_is_the_usual_page(visit, run_id):
    for address in (
        {"gamma": "-3", "tolerance": "7", "target_rate": "2"},
        {"gamma": "x", "scores": "nothing", "crossed": "nothing", "rest": "?"},
        {"scores": 'file ["a", 1]'},
    ):
        page = visit("Post-process", run=run_id, **address)
        assert not page.exception
        assert not page.error
        assert GAP in numbers(page)


def test_the_exported_file_gives_the_numbers_of_the_page(visit, run_id):
    page = visit("Post-process", run=run_id, gamma="0.4", tolerance="0.02")
    dataset_id = ui.store().run(run_id).dataset_id
    source = ui.post_sources(ui.known_models(dataset_id, run_id), [], [])[0]
    data = ui.scored(dataset_id, source, ())
    parts = data.split
    ramp = RampThreshold(0.4, tolerance=0.02, score_type="probability")
    file = json.loads(ramp.fit_rows(parts.calibration).thresholds().to_json())
    assert file["score_type"] == "probability"
    _, dataset = stored(run_id)
    (trial,) = ui.store().snapshot(run_id).trials
    frame = pd.DataFrame(
        {
            "p": ui.store().artifact(trial.key).scores(),
            "group": dataset.sensitive_features,
            "y": dataset.y,
        }
    ).iloc[split(dataset, 0).test]
    rule = frame["group"].map(file["groups"])
    low, high = (rule.map(lambda r, i=i: r["score"][i]) for i in (0, 1))
    frame["h"] = ((2 * frame["p"].astype(float) - 1 - low) / (high - low)).clip(0, 1)
    right = frame["h"].where(frame["y"] == 1, 1 - frame["h"]).mean()
    rates = frame.groupby("group")["h"].mean()
    shown = numbers(page)
    assert shown["Expected accuracy"] == f"{right:.1%}"
    assert shown[GAP] == f"{rates.max() - rates.min():.3f}"
    before = frame["p"] > 0.5
    for name, part in frame.groupby("group"):
        was = before[part.index]
        changed = part["h"][~was].sum() + (1 - part["h"][was]).sum()
        assert shown[f"origin: {name}"] == str(round(changed))


def test_gaps_are_those_inside_the_subgroups_that_another_page_chose(visit, run_id):
    shown = []
    for column in ("age", "lost"):
        chosen = Subgroups(columns=(column,), cuts={"age": (40,)}, min_size=20)
        told = {"subgroups": chosen.model_dump_json(), "opened": "inside"}
        page = visit("Post-process", run=run_id, **told)
        (points, *_) = drawn(page)["data"]
        shown.append([text.split(":")[0] for text in points["text"]])
    assert shown == [["under 40", "40 or more"], ["office", "works"]]


def test_groups_too_small_to_learn_from_are_explained(visit, dataset_id):
    table = people()
    rows = split(ui.store().dataset(dataset_id), 0)  # depends on outcome and group only
    table.loc[rows.validation[0], "branch"] = "moon"
    sha = ui.store().add_table(table.to_csv(index=False).encode(), "moon.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    moon = ui.store().add_dataset(sha, ROLES, "Moon", subgroups)
    page = visit(
        "Post-process", run=start_training(moon, MethodGrid(method="logistic"), 1)
    )
    widget(page, "multiselect", "Cross origin with").set_value(["branch"]).run()
    assert not page.exception
    assert "These groups cannot be corrected" in words(page)
    assert "fewer than two rows" in words(page)


def test_an_uploaded_column_of_probabilities_serves_as_scores(visit, inline):
    table = people()
    rng = np.random.default_rng(0)
    table["model"] = 1 / (1 + np.exp(-table["skill"] + rng.normal(size=len(table))))
    sha = ui.store().add_table(table.to_csv(index=False).encode(), "people.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    dataset_id = ui.store().add_dataset(sha, ROLES, "People", subgroups)
    page = visit("Post-process", data=dataset_id)
    assert not page.exception
    assert widget(page, "selectbox", "Scores of").value == "column model"
    assert "480 calibration rows · 120 test rows" in words(page)
    assert pd.notna(float(numbers(page)[GAP]))


def scores_file(n=400, *, seed=0):
    """Scores of another model, with an outcome that may be left out."""
    rng = np.random.default_rng(seed)
    team = rng.choice(["blue", "red"], n)
    score = np.clip(rng.normal(0.45 + 0.1 * (team == "red"), 0.2, n), 0, 1).round(4)
    paid = np.where(rng.random(n) < score, "yes", "no")
    return pd.DataFrame({"score": score, "team": team, "paid": paid})


def send(page, label, frame, name="scores.csv"):
    content = frame.to_csv(index=False).encode()
    box = next(one for one in page.get("file_uploader") if one.label == label)
    box.upload(name, content, "text/csv").run()
    return page


def use(page, outcome=None):
    if outcome is not None:
        widget(page, "selectbox", "Outcome").set_value(outcome).run()
    next(b for b in page.button if b.label == "Use these scores").click().run()
    assert not page.exception
    return page


def test_uploaded_scores_without_an_outcome_have_no_accuracy(visit, inline):
    page = use(send(visit("Post-process"), "File of scores", scores_file()))
    shown = numbers(page)
    assert shown["Expected accuracy"] == "–"
    options = widget(page, "button_group", "Target rate (ρ)").options
    assert "Most accurate" not in [str(getattr(o, "content", o)) for o in options]
    assert float(shown[GAP]) < 0.3
    widget(page, "button_group", "Evidence").set_value(["trade"]).run()
    assert "not known without an outcome" in words(page)
    assert any({"up", "down"} <= set(frame.value) for frame in page.dataframe)


def test_uploaded_scores_with_an_outcome_are_judged_on_held_out_rows(visit, inline):
    frame = scores_file(2000)
    page = use(send(visit("Post-process"), "File of scores", frame), "paid")
    shown = numbers(page)
    before = ((frame["score"] > 0.5) == (frame["paid"] == "yes")).mean()
    assert abs(float(shown["Expected accuracy"].rstrip("%")) / 100 - before) < 0.08
    assert "1,600 calibration rows · 400 test rows" in words(page)


def test_a_file_without_scores_or_groups_says_so(visit, inline):
    for frame, message in (
        (scores_file().drop(columns="score"), "no column of numbers"),
        (scores_file()[["score"]], "no column of two to twenty"),
        (scores_file().assign(score=lambda one: one["score"] * 9), "row"),
    ):
        page = send(visit("Post-process"), "File of scores", frame)
        offered = [b for b in page.button if b.label == "Use these scores"]
        if offered:
            offered[0].click().run()
        assert not page.exception
        assert message in words(page)
        assert bool(offered) == bool(ui.store().tables())  # what is refused goes


def test_a_new_file_of_scores_is_decided_or_its_first_bad_row_named(visit, run_id):
    _, dataset = stored(run_id)
    groups = dataset.frame["origin"].iloc[:50].to_numpy()
    table = pd.DataFrame({"risk": np.linspace(0, 1, 50), "origin": groups})
    page = send(visit("Post-process", run=run_id, opened="apply"), "New file", table)
    widget(page, "selectbox", "Scores").set_value("risk").run()
    assert "50 rows decided" in page.success[0].value
    table.loc[7, "origin"] = "elsewhere"
    page = send(visit("Post-process", run=run_id, opened="apply"), "New file", table)
    widget(page, "selectbox", "Scores").set_value("risk").run()
    assert not page.exception
    assert "Column 'origin' has 'elsewhere' in row 8" in words(page).replace("\\", "")
    page = send(
        visit("Post-process", run=run_id, opened="apply"), "New file", table[["risk"]]
    )
    assert "no column 'origin'" in words(page).replace("\\", "")
