"""Audits of every kind of stored model."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from fairdash.audits import (
    PortableModel,
    changed_people,
    encoding_of,
    flip_values,
)
from fairdash.sweep import SweepSpec

KINDS = {
    "unconstrained": {"n_epochs": 4, "batch_size": 128},
    "logistic": {},
    "fair_log_loss": {},
    "hinge": {"max_iter": 25},
    "noisy_ideal": {"n_rounds": 3, "n_responses": 2},
    "reductions": {},
    "hardt": {},
    "forest": {"n_estimators": 8, "max_depth": 4},
    "neighbours": {},
}


@pytest.mark.parametrize("method", KINDS)
def test_a_stored_model_scores_test_rows_as_its_trial_did(store, model_of, method):
    model = model_of(method, KINDS[method])
    kept = store.artifact(model.key).scores()[model.rows.where]
    scored = model.probability(model.rows.frame)
    np.testing.assert_allclose(scored, kept, atol=1e-5)


@pytest.mark.parametrize("method", ["logistic", "noisy_ideal", "hardt"])
def test_rows_of_another_table_are_scored_as_those_it_was_trained_with(
    store, dataset, model_of, method
):
    model = model_of(method, KINDS[method])
    kept = store.artifact(model.key).scores()
    frame = dataset.frame.iloc[::-1].reset_index(drop=True)
    portable = PortableModel.of(model)
    np.testing.assert_allclose(portable.score(frame), kept[::-1], atol=1e-5)
    feature, group = dataset.roles.features[0], dataset.roles.sensitive_feature
    with pytest.raises(ValueError, match=f"no columns \\['{feature}'\\]"):
        portable.score(frame.drop(columns=feature))
    odd = frame.assign(**{group: "elsewhere"})
    if method == "hardt":  # looks at groups
        with pytest.raises(ValueError, match="'elsewhere' in row 1"):
            portable.score(odd)


def test_features_are_scaled_and_rows_drawn_as_the_run_asked(store, dataset, model_of):
    model = model_of(
        "unconstrained", KINDS["unconstrained"], scaling="minmax", train_rows=100
    )
    assert len(model.rows.train) == 100
    kept = store.artifact(model.key).scores()[model.rows.where]
    np.testing.assert_allclose(model.probability(model.rows.frame), kept, atol=1e-5)
    (run,) = store.runs()
    (trial,) = store.snapshot(run.id).trials
    spec = SweepSpec.model_validate(run.spec)
    assert encoding_of(dataset, trial, spec) == ("minmax", 100)
    with pytest.raises(ValueError, match="trained by an earlier version"):
        encoding_of(dataset, replace(trial, key="another"), spec)


def test_changed_decisions_are_those_of_rows_changed_one_by_one(model_of):
    model = model_of("unconstrained", KINDS["unconstrained"])
    rows = model.rows
    changed = changed_people(model, flip_values(rows.dataset, ["branch", "skill"]))
    skills = np.quantile(
        rows.dataset.frame["skill"], [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest"
    )
    p = [model.probability(rows.frame)]
    for branch, skill in product(["office", "works"], skills):
        p.append(model.probability(rows.frame.assign(branch=branch, skill=skill)))
    decided = np.array(p) > 0.5
    same = (decided == decided[0]).all(0)
    assert changed.share == pytest.approx(1 - same.mean())
    assert changed.n == rows.n == 120
