"""A decision rule is learned on validation rows and followed on test rows."""

import numpy as np
import pytest
from toys import ROLES

from fairdash.audits import gaps, trials
from fairdash.audits.gaps.evaluation import metrics_by_setting
from fairdash.audits.trials import rows as trial_rows
from fairdash.audits.trials.own_settings import beside_trained
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import ScoreColumn, Subgroups, split
from fairdash.scored import DecisionRule

BRANCH = Subgroups(columns=("branch",), min_size=20)


def add_scores(store):
    """Add a data set whose column "skill" is a score; return its id."""
    scores = (ScoreColumn(column="skill", kind="score", threshold=0.0),)
    roles = ROLES.model_copy(update={"scores": scores, "features": ("age",)})
    table = store.datasets()[0].table_sha256
    return store.add_dataset(table, roles, "Scored")


def test_advice_is_about_all_seeds_of_a_model(store, dataset, train):
    train({"logistic": {}}, seeds=(0, 1, 2))
    data = store.datasets()[0].id
    (model,) = trials.known_models(store, data)
    few = model.decided_by(DecisionRule("top", 2))
    seeds = trial_rows.tested(store, few, data, BRANCH)
    share = np.mean(
        [of_seed.rows.predictions(of_seed.model).mean() for of_seed in seeds]
    )
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
    ruled = model.decided_by(rule)
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
    few = model.decided_by(DecisionRule("top", 2))
    assert "Choose another decision rule" in trials.alike_advice(store, few, data)
    local = gaps.local_by_measure(store, [ruled], data, BRANCH, "selection_rate")
    test = dataset.frame.iloc[parts.test]
    rates = test.assign(d=decided).groupby(["branch", "origin"])["d"].mean()
    for cell in local.by_group.itertuples():
        assert cell.value == pytest.approx(rates[cell.subgroup, cell.group])


def test_scores_without_a_split_learn_on_all_their_rows(store, dataset):
    data = add_scores(store)
    (own_model,) = trials.own_models(store, data)
    ruled = own_model.decided_by(DecisionRule("top", 10))
    rows = rows_of(store, data, None, BRANCH)
    decided = rows.predictions(ruled.trials[0])
    assert decided.mean() == pytest.approx(0.1, abs=0.005)
    skill = store.dataset(data).frame["skill"]
    assert skill[decided == 1].min() > skill[decided == 0].max()


def test_own_scores_learn_on_the_split_of_each_seed(store, dataset, train):
    train({"logistic": {}}, seeds=(0, 1))
    trained = trials.known_models(store, store.datasets()[0].id)
    data = add_scores(store)
    rule = DecisionRule("top", 10)
    models = beside_trained([*trained, *trials.own_models(store, data)])
    ruled = [model.decided_by(rule) for model in models]
    first, second = beside_trained(ruled)[-1].trials  # as a page and an audit ask
    assert (first.split, second.split) == (0, 1)
    skill = store.dataset(data).frame["skill"].to_numpy()
    thresholds = []
    for trial in (first, second):
        validation = split(store.dataset(data), trial.split).validation
        threshold = rows_of(store, data, trial.split, BRANCH).threshold(trial)
        assert (skill[validation] > threshold).mean() == pytest.approx(0.1, abs=0.01)
        thresholds.append(threshold)
    assert thresholds[0] != thresholds[1]
