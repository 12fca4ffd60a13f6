import re

import numpy as np
import pandas as pd
import pytest
from reading import button, figures, labels, numbers, sent, widget, words
from toys import people

from fairdash import ui
from fairdash._wording import change, interval
from fairdash.audits import from_levels
from fairdash.datasets import encode, split
from fairdash.methods import NoisyGroupsDRO
from fairdash.methods.noisy_groups import (
    estimate_noise,
    robust_rates,
    tv_certificate,
    violations,
)
from fairdash.ui.widgets.scores import Upload

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    return trained("unconstrained", **QUICK)


def bounds(page):
    tables = [frame.value for frame in page.dataframe]
    return next(table for table in tables if "In any case" in table)


def stored(run_id, level=0.1):
    """Outcome, decisions and groups of the test rows, and their noise set by hand."""
    store = ui.store()
    (trial,) = store.snapshot(run_id).trials
    dataset = store.dataset(store.run(run_id).dataset_id)
    test = split(dataset, 0).test
    groups = np.asarray(dataset.sensitive_features, dtype=str)
    decided = (store.artifact(trial.key).scores() > 0.5).astype(int)
    known = from_levels(groups, dict.fromkeys(np.unique(groups), level)).on(test)
    return dataset.y[test], decided[test], groups[test], known


def test_first_visits_offer_the_sample_or_the_bounds_of_the_table(visit, dataset_id):
    page = visit("Noisy groups", data=dataset_id)
    assert not page.exception
    assert "No model to certify yet" in words(page)
    assert figures(page) == 1
    assert "If shares agree (Lemma 1)" in bounds(page)
    ui.store().delete_dataset(dataset_id)
    page = visit("Noisy groups")
    assert not page.exception
    assert "No groups yet" in words(page)
    assert "Open the sample" in labels(page)


def test_the_first_screen_has_the_exact_certificate_of_the_model(visit, run_id):
    page = visit("Noisy groups", run=run_id)
    assert not page.exception
    y, decided, noisy, known = stored(run_id)
    table = tv_certificate(y, decided, noisy, known.reach, slack=0.05)
    shown = numbers(page)
    assert shown["Exact certificate"] == change(table["worst_violation"].max())
    assert shown["On noisy groups"] == change(table["violation"].max())
    assert "On true groups" not in shown
    assert figures(page) == 2
    holds = table["worst_violation"].max() <= 0
    verdict = "guaranteed" if holds else "not guaranteed"
    said = re.search(rf"Unconstrained: {verdict}(.*?)\. With", words(page))
    # the answer to the question of the page: how much of the weakest may be wrong
    rates = table.set_index("group")
    share = pd.Series(y == 1).groupby(noisy).mean()
    least = ((rates["value"] - rates["overall"] + 0.05) * share).min()
    if not holds:
        beyond = re.search(r"beyond ([\d.]+)% of a group", said.group(1))
        assert (beyond is None) == (least < 0)
        if beyond:
            assert float(beyond.group(1)) == pytest.approx(100 * least, abs=0.151)


def test_the_browser_gets_the_worst_rates_of_every_radius(visit, run_id):
    page = visit("Noisy groups", run=run_id)
    y, decided, noisy, known = stored(run_id)
    curve = sent(page, "live_ball")
    for step, radius in enumerate(curve["radii"]):
        if step % 25 == 0 or radius == curve["radii"][-1]:
            radii = {name: min(radius, far) for name, far in known.reach.items()}
            exact = robust_rates(y, decided, noisy, radii)["min_tpr"]
            for row in curve["groups"]:
                assert row["worst"][step] == pytest.approx(
                    exact[row["name"].removeprefix("origin: ")], abs=1e-6
                )


def scores_file(groups=("blue", "red"), seed=0, n=900):
    """Scores of a model from elsewhere, with outcome and groups."""
    rng = np.random.default_rng(seed)
    team, paid = rng.choice(groups, n), rng.random(n) < 0.5
    score = np.clip(0.3 + 0.4 * paid + rng.normal(scale=0.2, size=n), 0, 1)
    frame = pd.DataFrame({"score": score.round(3), "team": team})
    return frame.assign(paid=np.where(paid, "yes", "no"))


def send(page, frame, outcome=None):
    """Upload a file of scores, say which column is the outcome, and use it."""
    box = widget(page, "file_uploader", "File of scores")
    box.upload("scores.csv", frame.to_csv(index=False).encode(), "text/csv").run()
    if outcome:
        widget(page, "selectbox", "Outcome").select(outcome).run()
    return button(page, "Use these scores").click().run()


def test_uploaded_scores_are_certified_over_all_their_rows(visit, run_id):
    frame = scores_file(("blue", "green", "red"))
    page = send(visit("Noisy groups", run=run_id), frame, "paid")
    assert not page.exception
    assert widget(page, "selectbox", "Model").value == "File scores.csv, score"
    y, decided = (
        (frame["paid"] == "yes").astype(int),
        (frame["score"] > 0.5).astype(int),
    )
    team = frame["team"].to_numpy(str)
    levels = dict.fromkeys(["blue", "green", "red"], 0.1)
    radii = from_levels(team, levels).on(np.arange(len(team))).reach
    table = tv_certificate(y, decided, team, radii, slack=0.05)
    shown = numbers(page)
    assert shown["Exact certificate"] == change(table["worst_violation"].max())
    assert figures(page) == 2


def test_uploaded_scores_need_no_table_and_without_an_outcome_only_parity(visit):
    page = send(visit("Noisy groups"), scores_file())
    assert not page.exception
    assert widget(page, "selectbox", "Constraint").options == ["Demographic parity"]
    frame = scores_file()
    rates = (frame["score"] > 0.5).groupby(frame["team"]).mean()
    gap = (frame["score"] > 0.5).mean() - rates.min() - 0.05
    assert numbers(page)["On noisy groups"] == change(gap)


def test_what_was_chosen_is_in_the_address_and_shown_again(visit, run_id):
    page = visit("Noisy groups", run=run_id)
    wrong = "Wrong among origin: here"
    widget(page, "number_input", wrong).set_value(0.05).run()
    for constraint in ("demographic_parity", "equalized_odds"):
        label = constraint.capitalize().replace("_", " ")
        widget(page, "selectbox", "Constraint").select(label).run()
        y, decided, groups, _ = stored(run_id)
        table = violations(y, decided, groups, constraints=constraint, slack=0.05)
        assert numbers(page)["On noisy groups"] == change(table["violation"].max())
    widget(page, "number_input", "Slack (α)").set_value(0.02).run()
    address = dict(page.query_params.items())
    again = visit("Noisy groups", **address)
    assert numbers(again) == numbers(page)
    assert widget(again, "number_input", wrong).value == 0.05
    moved = visit("Noisy groups", **address, radius="0.03")
    assert sent(moved, "live_ball")["start"] == 0.03
    assert numbers(moved)["Exact certificate"] != numbers(page)["Exact certificate"]
    assert "γ = 0.030" in words(moved)
    none = visit("Noisy groups", **address, radius="0")
    assert sent(none, "live_ball")["start"] == 0
    assert numbers(none)["Exact certificate"] == numbers(none)["On noisy groups"]


def test_a_link_to_a_source_that_is_gone_opens_with_a_sentence(visit, run_id):
    for source in ("simulated", "column"):
        page = visit("Noisy groups", run=run_id, noise_source=source, noise="0.2")
        assert not page.exception
        said = "This link names a source of noise that is no longer offered"
        assert said in words(page)
        assert widget(page, "selectbox", "Noise").value == "assumed"


def test_a_table_with_both_columns_trains_every_approach(
    visit, run_id, dataset_id, monkeypatch
):
    from fairdash.audits.noisy_groups import training as noise_training

    monkeypatch.setattr(noise_training, "SEEDS", 1)
    page = visit("Noisy groups", run=run_id)
    widget(page, "selectbox", "Noise").select("From a table").run()
    assert not page.exception
    assert "No table yet" in words(page)
    table = np.array([[880, 30], [20, 70]])
    names = np.array(["here", "there"])
    true, recorded = (
        np.repeat(names[at.ravel()], table.ravel()) for at in np.mgrid[:2, :2]
    )
    frame = pd.DataFrame({"true": true, "recorded": recorded})
    box = widget(page, "file_uploader", "File with both groups")
    page = box.upload("both.csv", frame.to_csv(index=False).encode(), "text/csv").run()
    assert not page.exception
    known = estimate_noise(true, recorded)
    ends = known.bounds["general_high"]
    for name in ends.index:
        assert f"{name} {ends[name]:.3f}" in words(page)
    shown = bounds(page).set_index("Group")["In any case"]
    for name, row in known.bounds.iterrows():
        inner = interval(row["general_low"], row["general_high"])
        assert shown[f"origin: {name}"] == f"{row['general']:.3f} ({inner})"
    assert re.search(r"\d% of origin: \w+ appear as another group", words(page))
    button(page, "Train for this noise").click().run()
    store = ui.store()
    run = next(r for r in store.runs(dataset_id) if r.name.endswith("this noise"))
    trials = {t.method: t for t in store.snapshot(run.id).trials}
    assert set(trials) == {"hinge", "noisy_naive", "noisy_dro", "noisy_soft"}
    assert {t.status for t in trials.values()} == {"finished"}
    dataset = store.dataset(dataset_id)
    asked = dict(trials["noisy_dro"].params)
    train = split(dataset, 0).train
    X = encode(dataset, train).rows(train)
    asked = {**asked, "auxiliary": "", "tv_radius": ends.to_dict()}
    groups = dataset.sensitive_features
    model = NoisyGroupsDRO(**asked, random_state=0)
    model.fit(X, dataset.y[train], sensitive_features=groups[train])
    network = store.artifact(trials["noisy_dro"].key).network()
    np.testing.assert_allclose(network["weight_0"].ravel(), model.coef_.ravel())
    address = dict(page.query_params.items()) | {"run": run.id}
    page = visit("Noisy groups", **address)
    assert "trained for what is known here" in words(page)
    assert "DRO η 0 α 0.05 P(G|Ĝ)" in widget(page, "selectbox", "Model").options


def test_a_reload_keeps_the_model_chosen_beside_a_file_of_scores(visit, run_id):
    content = people().to_csv(index=False).encode()
    table = ui.store().add_table(content, "scored.csv")
    columns = ("skill", ("origin",), "hired", "yes", "margin")
    file = Upload(table, "scored.csv", *columns)
    page = visit("Noisy groups", run=run_id)
    model = widget(page, "selectbox", "Model").value
    page = visit("Noisy groups", run=run_id, scores=file.id, model=model)
    assert not page.exception
    assert widget(page, "selectbox", "Model").value == model
    page = visit("Noisy groups", run=run_id, scores=file.id)
    assert "scored.csv" in widget(page, "selectbox", "Model").value
