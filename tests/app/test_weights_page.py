import json

import numpy as np
import pandas as pd
import pytest
from reading import button, figures, numbers, widget, words

from fairdash import ui
from fairdash.datasets import Subgroups, split, training_rows
from fairdash.jobs import submit
from fairdash.metrics import weights
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128, "fairness_weight": 3.0}


@pytest.fixture
def run_id(trained):
    return trained("road", 2, **QUICK)


def stored(run_id, seed=0, train_rows=None):
    """Weights and training rows of a seed of ROAD."""
    store = ui.store()
    trials = store.snapshot(run_id).trials
    trial = next(t for t in trials if t.method == "road" and t.seed == seed)
    dataset = store.dataset(store.run(run_id).dataset_id)
    ratio = np.asarray(store.artifact(trial.key).ratio(), dtype=float)
    return ratio, dataset, training_rows(dataset, seed, train_rows)


def test_without_a_method_that_weighs_rows_the_page_says_so(visit, dataset_id):
    plain = {"n_epochs": 2, "batch_size": 128}
    run = start_training(
        dataset_id, MethodGrid(method="unconstrained", params=plain), 1
    )
    page = visit("Weights", run=run)
    assert not page.exception
    assert "No model with weights yet" in words(page)
    button(page, "Train ROAD").click().run()
    assert "What does training change?" in words(page)


def test_numbers_are_those_of_the_stored_weights(visit, run_id):
    page = visit("Weights", run=run_id, opened=["traits"])
    assert not page.exception
    ratio, _, rows = stored(run_id)
    document = numbers(page)
    assert document["Largest r"] == f"{ratio.max():.1f}"
    assert document["Effective rows"] == f"{weights.effective_rows(ratio):,.0f}"
    assert figures(page) == 1
    assert "Share of these rows" in page.dataframe[-1].value
    assert f"People · {len(rows)} training rows · ROAD λ 3 τ 0.3 · seed 0" in words(
        page
    )


def test_what_is_open_at_first_can_be_closed(visit, run_id):
    page = visit("Weights", run=run_id)
    evidence = widget(page, "button_group", "Evidence")
    assert evidence.value == ["gaps"]
    evidence.set_value([]).run()
    evidence = widget(page, "button_group", "Evidence")
    assert evidence.value == []
    assert figures(page) == 1
    evidence.set_value(["traits"]).run()
    assert page.query_params["opened"] == "traits"


def test_the_spread_comes_first_and_moves_through_the_epochs(visit, run_id):
    page = visit("Weights", run=run_id, opened=["gaps", "table"])
    assert not page.exception
    ratio, dataset, rows = stored(run_id)
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert [frame["name"] for frame in spec["frames"]] == ["1", "2", "3", "4"]
    assert spec["layout"]["sliders"][0]["active"] == 3
    groups = dataset.sensitive_features[rows]
    (table,) = [d.value for d in page.dataframe if "q50" in d.value]
    everyone = table[table["subgroup"] == ""].set_index("group")
    for name in dataset.group_names:
        median = np.median(ratio[groups == name])
        assert everyone.loc[name, "q50"] == pytest.approx(median, rel=1e-5)
    heavy = np.sort(ratio)[::-1].cumsum()
    share = ((heavy < heavy[-1] / 2).sum() + 1) / len(ratio)
    assert numbers(page)["Half of the weight"] == f"{share:.0%}"


def test_for_broad_any_tau_is_shown_beside_the_trained_one(visit, trained):
    run = trained("broad", 1, tau=0.21, **QUICK)
    page = visit("Weights", run=run, opened=["taus"])
    assert not page.exception
    assert "this adversary would give" in words(page)
    spec = json.loads(page.get("plotly_chart")[1].proto.spec)
    names = [frame["name"] for frame in spec["frames"]]
    assert len(names) == 25
    assert "0.21" in names
    store = ui.store()
    trial = next(t for t in store.snapshot(run).trials if t.method == "broad")
    ratio = np.asarray(store.artifact(trial.key).ratio(), dtype=float)
    dataset = store.dataset(store.run(run).dataset_id)
    groups = dataset.sensitive_features[training_rows(dataset, 0, None)]
    frame = spec["frames"][names.index("0.01")]
    medians = frame["data"][3]["x"]  # of the first group: all rows come first
    of_group = ratio[groups == dataset.group_names[0]].astype(np.longdouble)
    powered = of_group ** (0.21 / 0.01)
    expected = np.median(powered / powered.mean())
    assert medians[0] == pytest.approx(max(float(expected), 1e-3), rel=1e-3)


def test_other_subgroups_are_measured_and_decided_by_the_rule_of_the_address(
    visit, run_id
):
    page = visit("Weights", run=run_id, opened="gaps", decided="top 20")
    widget(page, "multiselect", "Columns").set_value(["branch", "age"]).run()
    widget(page, "select_slider", "Smallest subgroup").set_value(50).run()
    assert not page.exception
    (table,) = [d.value for d in page.dataframe if "mean_ratio" in d.value]
    ratio, dataset, rows = stored(run_id)
    ages = Subgroups(columns=("branch", "age"), min_size=50)
    named = ages.label(dataset.frame).iloc[rows].astype(str).to_numpy()
    mean = pd.Series(ratio).groupby(named).agg(["mean", "size"])
    assert table.set_index("subgroup")["mean_ratio"].to_dict() == pytest.approx(
        mean["mean"].to_dict()
    )
    assert table.set_index("subgroup")["n"].to_dict() == mean["size"].to_dict()
    assert not table.loc[table["n"] < 50, "estimable"].any()
    trials = ui.store().snapshot(run_id).trials
    plain = next(t for t in trials if t.method == "unconstrained" and t.seed == 0)
    scores = ui.store().artifact(plain.key).scores()
    validation = split(dataset, 0)[1]
    cut = np.sort(scores[validation])[-round(0.2 * len(validation)) - 1]
    rates = pd.Series(scores[rows] > cut)
    rates = rates.groupby([named, dataset.sensitive_features[rows]]).mean()
    gap = rates.groupby(level=0).agg(np.ptp)
    gaps_by_subgroup = table[table["estimable"]].set_index("subgroup")["local_di"]
    assert gaps_by_subgroup.to_dict() == pytest.approx(
        gap[gaps_by_subgroup.index].to_dict()
    )


def test_weights_of_a_subsample_belong_to_its_rows(visit):
    spec = SweepSpec.model_validate(
        {
            "data": {"sample": "loans"},
            "methods": [{"method": "road", "params": QUICK}],
            "train_rows": 1500,
        }
    )
    run = submit(ui.store(), spec)
    page = visit("Weights", run=run)
    assert not page.exception
    ratio, dataset, rows = stored(run, train_rows=1500)
    assert ratio.shape == rows.shape == (1500,)
    assert "1,500 training rows" in words(page)
    # weights are of mean one in each group over the rows they belong to
    groups = dataset.sensitive_features[rows]
    means = [ratio[groups == name].mean() for name in dataset.group_names]
    assert np.allclose(means, 1, atol=1e-4)
