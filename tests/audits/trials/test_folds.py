"""Cross-validated models: rows scored by those that did not see them, from disk."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from toys import ROLES, people

from fairdash import ui
from fairdash.audits import (
    cross_validated,
    every_measure,
    known_models,
    local_by_measure,
    own_models,
    search_model,
)
from fairdash.datasets import FOLDS, ScoreColumn, Subgroups, split
from fairdash.jobs import submit
from fairdash.metrics import Speech, base_rates, local_measure
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

SUBGROUPS = Subgroups(columns=("branch",), min_size=20)
DECILE = ScoreColumn(column="decile", kind="score", threshold=5)


@pytest.fixture
def dataset_id(inline):
    frame = people(700)
    frame["decile"] = pd.qcut(frame["skill"], 10, labels=False) + 1
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    roles = ROLES.model_copy(update={"scores": (DECILE,)})
    return ui.store().add_dataset(table, roles, "People", SUBGROUPS)


@pytest.fixture
def models(dataset_id):
    start_training(dataset_id, MethodGrid(method="logistic", params={}), 2)
    return known_models(ui.store(), dataset_id)[-1:]


def out_of_fold(dataset, seed):
    """Scores of every row by the logistic model that was trained without it."""
    run = ui.store().runs()[0]
    scores = np.full(dataset.n_rows, np.nan)
    fold = np.full(dataset.n_rows, -1)
    for trial in ui.store().snapshot(run.id).trials:
        if trial.seed == seed:
            place = trial.params.get("fold", 0)
            test = split(dataset, seed, fold=place).test
            scores[test] = ui.store().artifact(trial.key).scores()[test]
            fold[test] = place
    assert np.isfinite(scores).all()
    return scores, fold


def test_all_rows_are_audited_with_models_that_did_not_see_them(models, dataset_id):
    store, dataset = ui.store(), ui.store().dataset(dataset_id)
    before = cross_validated(store, models, dataset_id)
    assert before.models == []
    assert before.missing.cross_validate
    assert before.missing.seeds == (0, 1)
    run = submit(store, before.missing)
    trials = store.snapshot(run).trials
    assert len(trials) == 2 * FOLDS
    assert {t.key for t in models[0].trials} <= {t.key for t in trials}
    assert [m.id for m in known_models(store, dataset_id)[-1:]] == [models[0].id]

    found = cross_validated(store, models, dataset_id)
    assert found.missing is None
    assert [m.id for m in found.models] == [models[0].id]
    result = local_by_measure(store, found.models, dataset_id, SUBGROUPS, "accuracy")
    tables = [
        local_measure(
            "accuracy",
            dataset.y,
            (out_of_fold(dataset, seed)[0] > 0.5).astype(int),
            sensitive_features=dataset.sensitive_features,
            subgroups=dataset.frame["branch"],
            min_size=20,
        )
        for seed in (0, 1)
    ]
    for name in ("gap", "ci_low", "ci_high"):
        mean = np.mean([table[name] for table in tables], axis=0)
        np.testing.assert_allclose(result.own[name], mean)
    assert (result.own["n"] == tables[0]["n"]).all()
    said = result.verdict("hired = yes")
    assert "mean of 2 seeds, all rows, cross-validated" in said
    assert result.facts("People", SUBGROUPS)[1:] == (
        "700 rows", "subgroups branch", "5 folds", "2 seeds",
    )  # fmt: skip
    # as many subgroups as the table itself promises
    rates = base_rates(
        dataset.y,
        sensitive_features=dataset.groups,
        subgroups=SUBGROUPS.label(dataset.frame),
        min_size=SUBGROUPS.min_size,
    )
    promised = rates.local.set_index("subgroup")["estimable"]
    same = local_by_measure(store, found.models, dataset_id, SUBGROUPS).own
    assert same.set_index("subgroup")["estimable"].to_dict() == promised.to_dict()
    searched = search_model(store, found.models[0], dataset_id, "selection_rate")
    assert (searched.n_rows, searched.n_confirming) == (560, 140)
    assert "140 test rows confirm" in searched.verdict(Speech("hired", "hired"))


def test_an_area_compares_no_scores_of_different_models(models, dataset_id):
    store, dataset = ui.store(), ui.store().dataset(dataset_id)
    submit(store, cross_validated(store, models, dataset_id).missing)
    (model,) = cross_validated(store, models, dataset_id).models
    table = every_measure(store, model, dataset_id).set_index("measure")
    for place, group in enumerate(dataset.group_names):
        areas = []
        for seed in (0, 1):
            scores, fold = out_of_fold(dataset, seed)
            own = dataset.sensitive_features == group
            each = [
                (
                    dataset.y[own & (fold == k)].sum(),
                    roc_auc_score(
                        dataset.y[own & (fold == k)], scores[own & (fold == k)]
                    ),
                )
                for k in range(FOLDS)
            ]
            ones, area = np.array(each).T
            areas.append((ones * area).sum() / ones.sum())
        assert table.loc["AUC", "values"][place] == pytest.approx(
            np.mean(areas), abs=1e-6
        )


def test_a_score_column_stands_beside_on_the_same_rows(models, dataset_id):
    store, dataset = ui.store(), ui.store().dataset(dataset_id)
    own = own_models(store, dataset_id)
    both = [*own, *models]
    assert cross_validated(store, both, dataset_id).models == own
    submit(store, cross_validated(store, both, dataset_id).missing)
    found = cross_validated(store, both, dataset_id).models
    result = local_by_measure(store, found, dataset_id, SUBGROUPS, "accuracy")
    cells = result.gaps[result.gaps["label"] == own[0].label]
    table = local_measure(
        "accuracy",
        dataset.y,
        (dataset.frame["decile"] >= 5).astype(int),
        sensitive_features=dataset.sensitive_features,
        subgroups=dataset.frame["branch"],
        min_size=20,
    )
    np.testing.assert_allclose(cells["gap"], table["gap"])
    assert result.label == models[0].label
    assert result.n_seeds == 2


def test_a_failure_is_said(models, dataset_id, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no room")

    store = ui.store()
    assert cross_validated(store, models, dataset_id).failed == ""
    monkeypatch.setattr("fairdash.jobs._work.train_stack", broken)
    submit(store, cross_validated(store, models, dataset_id).missing)
    assert cross_validated(store, models, dataset_id).failed == "ValueError: no room"
    assert cross_validated(store, models, dataset_id).models == []
