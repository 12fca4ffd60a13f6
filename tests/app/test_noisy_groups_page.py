import re

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from reading import figures, labels, numbers, widget, words

from fairdash import ui
from fairdash.audits import Noise, certificates
from fairdash.datasets import Roles, Subgroups, split
from fairdash.methods.noisy_groups import tv_certificate

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    return trained("unconstrained", **QUICK)


def decided(run_id):
    """Outcome, decisions and groups of the test rows."""
    store = ui.store()
    (trial,) = store.snapshot(run_id).trials
    dataset = store.dataset(store.run(run_id).dataset_id)
    test = split(dataset, 0).test
    groups = np.asarray(dataset.sensitive_features, dtype=str)
    positive = (store.artifact(trial.key).scores() > 0.5).astype(int)
    return dataset.y[test], positive[test], groups[test]


def worst(page):
    """Return the points of the card of the worst case."""
    (value,) = (v for k, v in numbers(page).items() if re.match(r"Worst, [\d.]+%", k))
    return float(value.split()[0])


def test_a_first_visit_says_what_it_takes(visit, dataset_id):
    page = visit("Noisy groups", data=dataset_id)
    assert not page.exception
    assert "No model to certify yet" in words(page)
    assert "Train a model" in labels(page)


@pytest.mark.parametrize(
    ("method", "params", "promise"),
    sampled(
        [
            ("road", {"constraints": "equalized_odds"}, "equalized_odds"),
            ("unconstrained", {}, "true_positive_rate_parity"),
            ("noisy_naive", {}, "true_positive_rate_parity"),
            ("road", {}, "demographic_parity"),
        ],
        2,
    ),
)
def test_the_page_opens_on_what_the_run_was_trained_for(
    trained, visit, method, params, promise
):
    some = QUICK if method != "noisy_naive" else {"max_iter": 20}
    run = trained(method, **some, **params)
    page = visit("Noisy groups", run=run)
    assert not page.exception
    assert widget(page, "selectbox", "Promise").value == promise
    models = ui.known_models(ui.store().run(run).dataset_id, run)
    for model in models:  # the plain one beside it as well
        assert certificates.trained_for(ui.store(), model, run) == promise


def test_the_first_screen_says_how_many_may_be_wrong_and_assumes_nothing(visit, run_id):
    page = visit("Noisy groups", run=run_id)
    assert not page.exception
    y, positive, noisy = decided(run_id)
    # how much of the weakest group may be wrong, by hand
    share = pd.Series(y == 1).groupby(noisy).mean()
    rate = pd.Series(positive)[y == 1].groupby(noisy[y == 1]).mean()
    least = ((rate - positive[y == 1].mean() + 0.05) * share).min()
    text = numbers(page)["May be wrong"]
    if least < 0:
        assert text == "none"
        assert "broken already" in words(page)
    else:
        assert float(text.strip("%")) == pytest.approx(100 * least, abs=0.151)
        assert f"at most {text} of any group" in words(page)
    wrong = widget(page, "slider", "Recorded wrongly (γ)").value / 100
    table = tv_certificate(y, positive, noisy, wrong, slack=0.05)
    most = 100 * (table["worst_violation"].max() + 0.05)
    assert worst(page) == pytest.approx(most, abs=0.051)
    assert "Can be wrong" not in numbers(page)
    assert figures(page) == 1


def test_what_was_chosen_is_in_the_address_and_shown_again(visit, run_id):
    page = visit("Noisy groups", run=run_id)
    y, positive, groups = decided(run_id)
    for constraint in ("demographic_parity", "equalized_odds"):
        label = constraint.capitalize().replace("_", " ")
        widget(page, "selectbox", "Promise").select(label).run()
        wrong = widget(page, "slider", "Recorded wrongly (γ)").value / 100
        table = tv_certificate(
            y, positive, groups, wrong, constraints=constraint, slack=0.05
        )
        gap = 100 * (table["worst_violation"].max() + 0.05)
        assert worst(page) == pytest.approx(gap, abs=0.051)
    widget(page, "number_input", "Slack (α)").set_value(0.02).run()
    widget(page, "selectbox", "Known of wrong groups").select("assumed").run()
    assert numbers(page)["Can be wrong"].endswith("%")
    widget(page, "number_input", "Wrong in every group").set_value(0.05).run()
    widget(page, "button_group", "Evidence").set_value(["bounds"]).run()
    assert not page.exception
    again = visit("Noisy groups", **dict(page.query_params.items()))
    assert numbers(again) == numbers(page)
    assert widget(again, "number_input", "Wrong in every group").value == 0.05
    moved = visit("Noisy groups", run=run_id, radius="0.03")
    assert "Worst, 3.0% wrong" in numbers(moved)


def test_decisions_follow_the_rule_of_the_address(visit, run_id):
    page = visit("Noisy groups", run=run_id, decided="as_many", radius="0")
    assert not page.exception
    store = ui.store()
    (trial,) = store.snapshot(run_id).trials
    dataset = store.dataset(store.run(run_id).dataset_id)
    train, validation, test = split(dataset, 0)
    scores = store.artifact(trial.key).scores()
    share = dataset.y[train].mean()
    cut = np.sort(scores[validation])[-round(share * len(validation))]
    positive = (scores[test] >= cut).astype(int)
    groups = dataset.sensitive_features[test]
    table = tv_certificate(dataset.y[test], positive, groups, 0, slack=0.05)
    assert worst(page) == pytest.approx(100 * (table["violation"].max() + 0.05), abs=2)


def test_a_link_to_a_source_that_is_gone_opens_with_a_sentence(visit, run_id):
    page = visit("Noisy groups", run=run_id, noise_source="simulated", noise="0.2")
    assert not page.exception
    text = "This link names a source of noise that is no longer offered"
    assert text in words(page)
    assert widget(page, "selectbox", "Known of wrong groups").value == "unknown"


def test_a_table_with_both_columns_bounds_what_can_be_wrong(visit, run_id):
    page = visit("Noisy groups", run=run_id, opened="bounds")
    widget(page, "selectbox", "Known of wrong groups").select("sample").run()
    assert not page.exception
    table = np.array([[880, 30], [20, 70]])
    names = np.array(["here", "there"])
    true, recorded = (
        np.repeat(names[at.ravel()], table.ravel()) for at in np.mgrid[:2, :2]
    )
    frame = pd.DataFrame({"true": true, "recorded": recorded})
    box = widget(page, "file_uploader", "File with both groups")
    page = box.upload("both.csv", frame.to_csv(index=False).encode(), "text/csv").run()
    assert not page.exception
    dataset = ui.store().dataset(ui.store().run(run_id).dataset_id)
    noise = Noise.from_sample(dataset.sensitive_features, frame, "true", "recorded")
    reach = max(noise.on(split(dataset, 0).test).reach.values())
    assert numbers(page)["Can be wrong"] == f"{reach:.1%}"
    shares = page.dataframe[0].value.set_index(["Recorded as", "Is"])["Share"]
    assert shares["here", "here"] == pytest.approx(880 / 900)


def test_probabilities_stand_for_a_group_that_is_not_recorded(visit, inline):
    rng = np.random.default_rng(1)
    share = rng.choice([0.05, 0.95], 900)
    hired = rng.random(900) < np.where(rng.random(900) < share, 0.1, 0.8)
    frame = pd.DataFrame({"p(a)": share, "p(b)": 1 - share, "hired": hired * 1})
    frame = frame.assign(age=np.arange(900) % 50, sex=rng.choice(["f", "m"], 900))
    store = ui.store()
    table = store.add_table(frame.to_csv(index=False).encode(), "t.csv")
    about = {"target": "hired", "positive": "1", "sensitive_feature": "sex"}
    data = store.add_dataset(table, Roles(**about, features=("age",)), "T", Subgroups())
    store.log_scores(data, 0.8 * (share < 0.5), name="Vendor")
    place = {"data": data, "noise_source": "memberships"}
    page = visit("Noisy groups", **place, memberships=["p(a)", "p(b)"])
    assert "The promise is broken: p(a) is at least" in words(page)
    assert figures(page) == 1
    page = visit("Noisy groups", **place, memberships=["p(a)", "age"])
    assert any("add to 1 in every row" in message.value for message in page.error)
