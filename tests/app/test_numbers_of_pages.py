"""Train, Sweep, Weights and the audits: drawn numbers are those of the exported rows.

Each page is read as it is drawn and recomputed with pandas and fairlearn; pages that
speak of the same model on the same rows say the same.
"""

import re

import numpy as np
import pandas as pd
import pytest
from reading import drawn, numbers, sent, widget, words
from recompute import add_table, exported, figures_of, train
from sklearn.metrics import balanced_accuracy_score

from fairdash import _wording, ui
from fairdash.audits import known_models, opened_on
from fairdash.datasets import training_rows

cases = pytest.mark.parametrize(
    ("kind", "n_groups"), [("three seeds", 4), ("sweep", 2)]
)


def models_of(dataset_id, run):
    """Return the models of a run by label, and the seeds that all of them have."""
    here = {trial.key for trial in ui.store().snapshot(run).trials}
    models = known_models(ui.store(), dataset_id, run)
    known = {m.label: m for m in models if here & {t.key for t in m.trials}}
    return known, frozenset.intersection(*(m.seeds for m in known.values()))


def notes(page):
    """Return the quiet text of every card by its label."""
    return {m.label: m.proto.delta_description for m in page.metric}


@cases
def test_train_shows_one_set_of_numbers(visit, inline, train_once, kind, n_groups):
    data = add_table(n_groups)
    run = train_once(ui.store(), train, data, kind)
    page = visit("Train", run=run)
    assert not page.exception
    known, seeds = models_of(data, run)
    chosen = opened_on(ui.store(), run)
    main = chosen.label if chosen else next(k for k in known if k != "Unconstrained")
    figures = {k: figures_of(exported(data, m, seeds)) for k, m in known.items()}
    marks = [t for t in drawn(page)["data"] if t["name"] in known]
    for mark, place in zip(marks, np.repeat([0, 1, 2], len(marks) // 3), strict=True):
        assert mark["x"] == pytest.approx([figures[mark["name"]][place]])
    accuracy, gap, worst = figures[main]
    shown, before = numbers(page), figures["Unconstrained"]
    assert shown["Accuracy"] == f"{accuracy:.1%}"
    assert (shown["DI"], shown["Worst-1-DI"]) == (f"{gap:.3f}", f"{worst:.3f}")
    chips = {m.label: m.delta for m in page.metric}
    assert chips["DI"] == _wording.change(gap - before[1])
    assert chips["Worst-1-DI"] == _wording.change(worst - before[2])
    assert ("mean of 3 seeds" in words(page)) == (len(seeds) == 3)
    # Local fairness on the same model and seeds
    local = numbers(visit("Local fairness", run=run))
    assert local["Largest gap"] == shown["Worst-1-DI"]
    assert local["Largest by chance"] == shown["Largest by chance"]


def test_a_sweep_shows_one_set_of_numbers(visit, inline, train_once):
    data = add_table(4)
    run = train_once(ui.store(), train, data, "sweep")
    axes = {"across": "worst_1_di", "opened": "how"}
    page = visit("Sweep", run=run, **axes)
    assert not page.exception
    known, seeds = models_of(data, run)
    assert seeds == {0}
    test = {k: figures_of(exported(data, m, seeds)) for k, m in known.items()}
    at = {
        k: figures_of(exported(data, m, seeds, "validation")) for k, m in known.items()
    }
    marks = [t for t in drawn(page)["data"] if t.get("mode") == "markers"]
    found = {
        text.split("<br>")[0]: (y, x)
        for t in marks
        for text, x, y in zip(t["text"], t["x"], t["y"], strict=True)
    }
    assert found == {k: pytest.approx((f[0], f[2])) for k, f in test.items()}
    kept, total, on_test = re.search(
        r"(\d+) of (\d+) keep DI within 0.05 on validation rows, (\d+) on test",
        words(page),
    ).groups()
    assert int(total) == len(known)
    assert int(kept) == sum(f[1] <= 0.05 for f in at.values())
    assert int(on_test) == sum(f[1] <= 0.05 for f in test.values())
    cards = [card["label"] for card in sent(page, "live_setting")["cards"]]
    for setting in sent(page, "live_setting")["settings"]:
        values = dict(zip(cards, setting["values"], strict=True))
        accuracy, gap, worst = test[setting["label"]]
        assert values["Accuracy"]["value"] == f"{accuracy:.1%}"
        assert values["DI"]["value"] == f"{gap:.3f}"
        assert values["Worst-1-DI"]["value"] == f"{worst:.3f}"
        assert values["DI"]["delta"] == _wording.change(gap - test["Unconstrained"][1])
        limit = at[setting["label"]][1] <= 0.05, gap <= 0.05
        words_of = {(True, True): "yes", (True, False): "not on test"}
        words_of |= {(False, True): "only on test", (False, False): "no"}
        assert values["Within the limit"]["value"] == words_of[limit]


@cases
def test_weights_are_those_of_the_training_rows(
    visit, inline, train_once, kind, n_groups
):
    data = add_table(n_groups)
    run = train_once(ui.store(), train, data, kind)
    page = visit("Weights", run=run, opened="table")
    assert not page.exception
    known, _ = models_of(data, run)
    model = known[next(k for k in known if k in words(page) and k != "Unconstrained")]
    trial, store = model.trials[0], ui.store()
    assert f"{model.label} · seed {trial.seed}" in words(page)
    ratio = store.artifact(trial.key).ratio().astype(float)
    dataset = store.dataset(data)
    where = training_rows(dataset, trial.seed, None)
    (plain,) = [t for t in known["Unconstrained"].trials if t.seed == trial.seed]
    rows = pd.DataFrame(
        {
            "r": ratio,
            "group": dataset.sensitive_features[where],
            "branch": dataset.frame["branch"].iloc[where].to_numpy(),
            "decided": store.artifact(plain.key).scores()[where] > 0.5,
        }
    )
    shown = numbers(page)
    assert shown["Largest r"] == f"{ratio.max():.1f}"
    assert shown["Effective rows"] == f"{ratio.sum() ** 2 / (ratio**2).sum():,.0f}"
    assert shown["Mean r by group"] == f"{rows.groupby('group')['r'].mean().mean():.2f}"
    rates = rows.pivot_table("decided", "branch", "group")
    (mark,) = drawn(page)["data"][:1]
    gaps = rates.max(axis=1) - rates.min(axis=1)
    mean = rows.groupby("branch")["r"].mean()
    assert sorted(mark["x"]) == pytest.approx(sorted(gaps))
    assert sorted(mark["y"]) == pytest.approx(sorted(mean))
    table = next(t.value for t in page.dataframe if "mean_ratio" in t.value)
    table = table.set_index("subgroup")
    assert table["local_di"].to_dict() == pytest.approx(gaps.to_dict())
    assert table["mean_ratio"].to_dict() == pytest.approx(mean.to_dict())


@cases
def test_post_processing_starts_from_the_decisions_of_the_model(
    visit, inline, train_once, kind, n_groups
):
    data = add_table(n_groups)
    run = train_once(ui.store(), train, data, kind)
    page = visit("Post-process", run=run, opened=["trade", "inside"])
    assert not page.exception
    known, _ = models_of(data, run)
    said = words(page)
    label, seed = re.search(r"People · (.*?)(?:, seed (\d+))? ·", said).groups()
    rows = exported(data, known[label], {int(seed or 0)})
    accuracy, gap, worst = figures_of(rows)
    metric = {m.label: m for m in page.metric}
    change = float(metric["Gap (DI), test rows"].delta.replace("−", "-"))
    now = float(metric["Gap (DI), test rows"].value)
    assert now - change == pytest.approx(gap, abs=1.1e-3)
    gain = float(
        metric["Expected accuracy"].delta.replace("−", "-").removesuffix(" pt")
    )
    after = float(metric["Expected accuracy"].value.removesuffix("%"))
    assert after - gain == pytest.approx(100 * accuracy, abs=0.11)
    taken = re.search(r"takes ([\d.]+) off DI", said)
    if taken:  # else the interval of the change covers 0
        assert float(taken.group(1)) == pytest.approx(-change, abs=1.1e-3)
    else:
        assert "The change of DI is not clear" in said
    before = float(re.search(r"rows: worst local DI ([\d.]+) before", said).group(1))
    assert before == pytest.approx(worst, abs=6e-3)
    table = next(t.value for t in page.dataframe if {"label", "gap"} <= {*t.value})
    for name, mine in table.groupby("label"):
        told = {"Ramp": "ramp", "Ramp, crossed": "crossed"}.get(name)
        if told:
            found = float(re.search(rf"([\d.]+) {told}", said).group(1))
            assert found == pytest.approx(mine["gap"].max(), abs=6e-3)


@cases
def test_noisy_groups_say_one_share_and_one_violation(
    visit, inline, train_once, kind, n_groups
):
    data = add_table(n_groups)
    run = train_once(ui.store(), train, data, kind)
    page = visit("Noisy groups", run=run, opened="models")
    assert not page.exception
    shown = numbers(page)
    table = next(t.value for t in page.dataframe if "None wrong" in t.value)
    table = table.set_index("Model")
    known, _ = models_of(data, run)
    label = table.index[0]
    (card,) = (name for name in shown if re.match(r"Worst, [\d.]+%", name))
    share = card.removeprefix("Worst, ")
    for name, column in ((card, share), ("Worst, none wrong", "None wrong")):
        points = float(shown[name].split()[0])
        assert points == pytest.approx(table.loc[label, column], abs=0.051)
    for other in table.index:  # on the same rows: those of the chosen model's seeds
        assert known[label].seeds <= known[other].seeds
        theirs = exported(data, known[other], known[label].seeds)
        lowest = [
            (part["decided"].mean() - part.groupby("group")["decided"].mean()).max()
            for _, part in theirs[theirs["y"] == 1].groupby("seed")
        ]
        points = 100 * np.mean(lowest)
        assert table.loc[other, "None wrong"] == pytest.approx(points, abs=0.051)
        assert table.loc[other, "None wrong"] <= table.loc[other, share] + 1e-9


@pytest.mark.parametrize("kind", ["three seeds", "sweep"])
def test_individual_fairness_counts_the_people_it_shows(
    visit, inline, train_once, kind
):
    data = add_table(2)
    run = train_once(ui.store(), train, data, kind)
    page = visit("Individual fairness", run=run, opened=["table", "models"])
    assert not page.exception
    shown = numbers(page)
    people = next(t.value for t in page.dataframe if "decision_changed" in t.value)
    share = people["decision_changed"].sum() / 240
    assert shown["Similar, other result"] == f"{share:.1%}"
    label = widget(page, "button_group", "Model").value
    table = next(t.value for t in page.dataframe if "Balanced accuracy" in t.value)
    table = table.set_index("Model")
    assert table.loc[label, "Similar, other result"].startswith(f"{share:.1%} (")
    known, _ = models_of(data, run)
    for name, row in table.iterrows():
        seed = min(known[label].seeds)
        (part,) = (p for _, p in exported(data, known[name], {seed}).groupby("seed"))
        accuracy = balanced_accuracy_score(part["y"], part["decided"])
        assert row["Balanced accuracy"] == f"{accuracy:.1%}"
