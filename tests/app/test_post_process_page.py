import json

import numpy as np
import pandas as pd
import pytest
from reading import figures, labels, numbers, widget, words
from toy_correction import TOY
from toys import ROLES, people

from fairdash import ui
from fairdash._wording import gap_size
from fairdash.datasets import Roles, Subgroups, split
from fairdash.postprocessing import HardtThreshold, RampThreshold, catalog
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


GAP = "Gap, test rows"


def expected(run_id, **parameters):
    """Accuracy and DI on test rows of a ramp learned on validation rows."""
    margins, dataset = stored(run_id)
    rows = split(dataset, 0)
    groups = dataset.sensitive_features
    ramp = RampThreshold(**parameters).fit(
        margins[rows.validation],
        dataset.y[rows.validation],
        sensitive_features=groups[rows.validation],
    )
    test = rows.test
    h = ramp.predict_proba(margins[test], sensitive_features=groups[test])
    accuracy = np.where(dataset.y[test] == 1, h, 1 - h).mean()
    rates = [h[groups[test] == name].mean() for name in set(groups[test])]
    return ramp, [accuracy, np.ptp(rates)]


def test_a_visit_without_anything_says_what_it_takes(visit):
    page = visit("Post-process")
    assert not page.exception
    assert "No scores yet" in words(page)
    assert "Train a model" in labels(page)


def test_the_first_screen_is_the_most_accurate_ramp_on_test_rows(visit, run_id):
    page = visit("Post-process", run=run_id)
    assert not page.exception
    _, (accuracy, gap) = expected(run_id, gamma=0.1)
    document = numbers(page)
    assert document["Expected accuracy"] == f"{accuracy:.1%}"
    assert document[GAP] == gap_size(abs(gap))
    assert figures(page) == 0  # ramps are drawn by the component
    headline = page.header[0].value
    assert len(headline.split()) <= 20
    assert headline.startswith("The ramp ")
    assert "120 validation rows · 120 test rows" in words(page)
    evidence = ["trade", "measure", "inside", "apply", "how"]
    widget(page, "button_group", "Evidence").set_value(evidence).run()
    assert not page.exception
    methods = set(page.dataframe[0].value["Method"])
    assert {"Ramp, this setting", "No correction"} <= methods


def test_a_link_opens_the_same_ramp_on_the_same_scores(visit, run_id):
    address = {"gamma": "0.98", "target_rate": "0.345", "tolerance": "0.05"}
    page = visit("Post-process", run=run_id, **address)
    assert not page.exception
    settings = {"gamma": 0.98, "target_rate": 0.345, "tolerance": 0.05}
    _, (accuracy, gap) = expected(run_id, **settings)
    assert numbers(page)["Expected accuracy"] == f"{accuracy:.1%}"
    assert numbers(page)[GAP] == gap_size(gap)
    target = widget(page, "button_group", "Target rate (ρ)")
    assert target.value == "hand"
    page.run()
    assert numbers(page)[GAP] == gap_size(gap)
    for name, text in address.items():
        assert page.query_params[name] == text


def test_before_and_after_accept_the_share_of_the_rule(visit, run_id):
    page = visit("Post-process", run=run_id, decided="top 20", opened="trade")
    assert not page.exception
    margins, dataset = stored(run_id)
    validation, test = split(dataset, 0)[1:]
    cut = np.sort(margins[validation])[-25]  # a fifth of 120 rows is above it
    before = margins[test] > cut
    _, (_, gap) = expected(run_id, gamma=0.1, target_rate=0.2)
    assert numbers(page)[GAP] == f"{100 * gap:.1f} pt"
    uncorrected = page.dataframe[0].value.set_index("Method").loc["No correction"]
    right = (before == dataset.y[test]).mean()
    assert uncorrected[["Decided 1", "Accuracy"]].tolist() == [before.mean(), right]


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
    source = ui.scores.post_sources(ui.known_models(dataset_id, run_id), [])[0]
    data = ui.scores.scored(dataset_id, source)
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
    document = numbers(page)
    assert document["Expected accuracy"] == f"{right:.1%}"
    assert document[GAP] == gap_size(rates.max() - rates.min())
    before = frame["p"] > 0.5
    changed = frame["h"][~before].sum() + (1 - frame["h"][before]).sum()
    assert document["Changed decisions"] == f"{changed / len(frame):.1%}"


def test_gaps_are_those_inside_the_subgroups_that_another_page_chose(visit, run_id):
    answers = []
    for column in ("age", "lost"):
        chosen = Subgroups(columns=(column,), cuts={"age": (40,)}, min_size=20)
        address = {"subgroups": chosen.model_dump_json(), "opened": "inside"}
        page = visit("Post-process", run=run_id, **address)
        (table,) = page.dataframe
        answers.append(table.value["Subgroup"].tolist())
    assert answers == [["age under 40", "age 40 or more"], ["office", "works"]]


def test_groups_too_small_to_learn_from_are_explained(visit, dataset_id):
    table = people()
    table.loc[table.index[:4], "origin"] = "moon"  # one of them a validation row
    sha = ui.store().add_table(table.to_csv(index=False).encode(), "moon.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    moon = ui.store().add_dataset(sha, ROLES, "Moon", subgroups)
    page = visit(
        "Post-process", run=start_training(moon, MethodGrid(method="logistic"), 1)
    )
    assert not page.exception
    assert "These groups cannot be corrected" in words(page)
    assert "fewer than two rows" in words(page)


def test_of_a_table_of_counts_the_people_are_counted(visit):
    table = people().assign(n=np.arange(600) % 3 + 1)
    score = {"column": "skill", "kind": "score", "threshold": 0}
    roles = Roles.model_validate(
        {**vars(ROLES), "features": (), "scores": (score,), "count": "n"}
    )
    sha = ui.store().add_table(table.to_csv(index=False).encode(), "counts.csv")
    data = ui.store().add_dataset(sha, roles, "Counts", Subgroups(columns=("branch",)))
    dataset = ui.store().dataset(data)
    test = dataset.people_in(split(dataset, 0).test)
    page = visit("Post-process", data=data)
    assert not page.exception
    assert (
        f"{dataset.n_people - test:,} calibration people · {test} test people"
        in words(page)
    )


def test_another_method_is_chosen_with_its_parameters(visit, run_id):
    page = visit("Post-process", run=run_id)
    widget(page, "selectbox", "Method").select("hardt").run()
    assert not page.exception
    widget(page, "selectbox", "Equal between groups").select("equalized_odds").run()
    assert not page.exception
    assert page.query_params["correction"] in ("hardt", ["hardt"])
    margins, dataset = stored(run_id)
    rows = split(dataset, 0)
    groups = dataset.sensitive_features
    hardt = HardtThreshold("equalized_odds").fit(
        margins[rows.validation],
        dataset.y[rows.validation],
        sensitive_features=groups[rows.validation],
    )
    h = hardt.predict_proba(margins[rows.test], sensitive_features=groups[rows.test])
    accuracy = np.where(dataset.y[rows.test] == 1, h, 1 - h).mean()
    assert numbers(page)["Expected accuracy"] == f"{accuracy:.1%}"
    assert page.header[0].value.startswith("Hardt ")
    assert figures(page) == 1
    again = visit("Post-process", **page.query_params, opened="trade")
    assert numbers(again) == numbers(page)
    methods = again.dataframe[0].value["Method"].tolist()
    assert methods[0] == "Hardt, this setting"
    assert "Ramp, most accurate" in methods
    usual = visit("Post-process", run=run_id, correction="gone", dials="hardt x=9")
    assert widget(usual, "selectbox", "Method").value == "ramp"


def test_a_method_of_one_entry_is_on_the_page(visit, run_id, monkeypatch):
    monkeypatch.setattr(catalog, "_CATALOG", dict(catalog._CATALOG))
    catalog.add(TOY)
    page = visit("Post-process", run=run_id, correction=TOY.key, opened="apply")
    assert not page.exception
    assert page.header[0].value.startswith("The same threshold ")
    widget(page, "number_input", "Threshold").set_value(0.25).run()
    assert not page.exception
    scripts = [code.value for code in page.code]
    (script,) = [text for text in scripts if "import SameThreshold" in text]
    assert "from toy_correction import SameThreshold" in script
    assert "    cut=0.25," in script


def test_a_parameter_that_is_empty_is_chosen_by_the_method(visit, run_id):
    page = visit("Post-process", run=run_id, correction="reject_option")
    assert not page.exception
    by_itself = numbers(page)
    dial = widget(page, "number_input", "Doubtful up to (θ)")
    assert dial.value is None
    dial.set_value(0.9).run()
    assert not page.exception
    assert numbers(page) != by_itself
    widget(page, "number_input", "Doubtful up to (θ)").set_value(None).run()
    assert not page.exception
    assert numbers(page) == by_itself
