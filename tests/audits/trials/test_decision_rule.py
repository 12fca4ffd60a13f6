"""A decision rule is learned on validation rows and followed on test rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import ROLES

from fairdash.audits import DecisionRule, gaps, trials
from fairdash.audits.gaps.evaluation import metrics_by_setting
from fairdash.audits.trials import rows as trial_rows
from fairdash.audits.trials.decision_rule import rule_of_key, ruled_key
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import ScoreColumn, Subgroups, split

BRANCH = Subgroups(columns=("branch",), min_size=20)


@given(st.integers(0, 10_000), st.sampled_from(["top 20", "top 83", "as_many"]))
def test_a_share_is_met_as_nearly_as_ties_allow(seed, text):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    scores = rng.integers(0, 12, n) / 12
    y, weight = rng.integers(0, 2, n), rng.random(n) + 0.1
    rule, share = DecisionRule.of(text), rng.random()
    at = rule.threshold(scores, y, base_rate=share, sample_weight=weight)
    wanted = share if text == "as_many" else rule.amount / 100
    reached = weight[scores > at].sum() / weight.sum()
    every = [weight[scores > cut].sum() / weight.sum() for cut in (-1, *scores)]
    assert abs(reached - wanted) == pytest.approx(min(abs(np.array(every) - wanted)))


@given(st.integers(0, 10_000), st.sampled_from([0.2, 1.0, 5.0]))
def test_costs_are_least_among_all_thresholds(seed, ratio):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(0, 9, 40) / 9, rng.integers(0, 2, 40)
    at = DecisionRule("costs", ratio).threshold(scores, y, base_rate=0.5)

    def cost(cut):
        decided = scores > cut
        return ratio * (decided & (y == 0)).sum() + (~decided & (y == 1)).sum()

    assert cost(at) == pytest.approx(min(cost(cut) for cut in (-1, *scores)))


@pytest.mark.parametrize("text", ["above", "top 0", "top 100", "costs -1", "top x"])
def test_what_is_no_rule_is_refused_with_what_would_be(text):
    with pytest.raises(ValueError, match=f"'{text}' is no decision rule"):
        DecisionRule.of(text)


@pytest.mark.parametrize("key", ["ab12", 'column {"column": "x decided by 0 top 20"}'])
def test_a_key_keeps_its_rule_and_gives_it_back(key):
    rule = DecisionRule("top", 12.5)
    assert rule_of_key(key) == (key, None)
    ruled = ruled_key(key, rule, 3)
    assert rule_of_key(ruled) == (key, (rule, 3))
    assert ruled_key(ruled, DecisionRule("half"), 3) == key
    assert ruled_key(ruled, rule, 3) == ruled


def test_advice_is_about_all_seeds_of_a_model(store, dataset, train):
    train({"logistic": {}}, seeds=(0, 1, 2))
    data = store.datasets()[0].id
    (model,) = trials.known_models(store, data)
    few = trials.decided_by(model, DecisionRule("top", 2))
    seeds = trial_rows.tested(store, few, data, BRANCH)
    share = np.mean([each.rows.predictions(each.key).mean() for each in seeds])
    assert 0 < share < 0.1
    advice = trials.alike_advice(store, few, data)
    assert f"predicts the outcome for {share:.1%} of rows" in advice


def test_every_number_of_a_model_follows_its_rule(store, dataset, train):
    train({"logistic": {}})
    data = store.datasets()[0].id
    (model,) = trials.known_models(store, data)
    scores = store.artifact(model.trials[0].key).scores()
    parts = split(dataset, 0)
    rule = DecisionRule("top", 15)
    ruled = trials.decided_by(model, rule)
    at = rule.threshold(
        scores[parts.validation], dataset.y[parts.validation], base_rate=0.5
    )
    decided = scores[parts.test] > at
    assert abs((scores[parts.validation] > at).mean() - 0.15) < 0.01
    (row,) = metrics_by_setting(store, [ruled], data, BRANCH).to_dict("records")
    (usual,) = metrics_by_setting(store, [model], data, BRANCH).to_dict("records")
    assert row["accuracy"] == pytest.approx((decided == dataset.y[parts.test]).mean())
    assert row["auc"] == pytest.approx(usual["auc"])
    assert row["accuracy"] != usual["accuracy"]
    assert trials.alike_advice(store, model, data) == ""
    few = trials.decided_by(model, DecisionRule("top", 2))
    assert "Choose another decision rule" in trials.alike_advice(store, few, data)
    local = gaps.local_by_measure(store, [ruled], data, BRANCH, "selection_rate")
    test = dataset.frame.iloc[parts.test]
    rates = test.assign(d=decided).groupby(["branch", "origin"])["d"].mean()
    for cell in local.by_group.itertuples():
        assert cell.value == pytest.approx(rates[cell.subgroup, cell.group])


def test_scores_without_a_split_learn_on_all_their_rows(store, dataset):
    scores = (ScoreColumn(column="skill", kind="score", threshold=0.0),)
    roles = ROLES.model_copy(update={"scores": scores, "features": ("age",)})
    table = store.datasets()[0].table_sha256
    data = store.add_dataset(table, roles, "Scored")
    (own,) = trials.own_models(store, data)
    ruled = trials.decided_by(own, DecisionRule("top", 10))
    rows = rows_of(store, data, -1, BRANCH)
    decided = rows.predictions(ruled.trials[0].key)
    assert decided.mean() == pytest.approx(0.1, abs=0.005)
    skill = store.dataset(data).frame["skill"]
    assert skill[decided == 1].min() > skill[decided == 0].max()
