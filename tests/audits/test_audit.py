"""Audits of every kind of stored model."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score

from fairdash.audits import (
    PortableModel,
    audit_flips,
    audit_run,
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


@pytest.mark.parametrize("method", ["unconstrained", "fair_log_loss", "forest"])
def test_the_audit_is_that_of_rows_changed_one_by_one(model_of, method):
    model = model_of(method, KINDS[method])
    rows = model.rows
    found = audit_flips(model, flip_values(rows.dataset, ["branch", "skill"]))
    skills = np.quantile(
        rows.dataset.frame["skill"], [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest"
    )
    p = [model.probability(rows.frame)]
    for branch, skill in product(["office", "works"], skills):
        p.append(model.probability(rows.frame.assign(branch=branch, skill=skill)))
    p = np.array(p)
    decided = p > 0.5
    same = (decided == decided[0]).all(0)
    assert found["consistency"] == pytest.approx(same.mean())
    assert found["ctf"] == pytest.approx(p.std(0).mean())
    assert found["moved"] == pytest.approx(np.abs(p - p[0]).max(0).mean())
    assert found["n"] == rows.n == 120
    balanced = balanced_accuracy_score(rows.y, decided[0])
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    told = rows.frame.assign(origin=rows.dataset.sensitive_features[rows.where])
    for column, suffix in (("origin", ""), ("branch", ":branch")):
        gaps = []
        for label in (0, 1):
            recalls = [
                recall_score(rows.y[mine], decided[0][mine], pos_label=label)
                for mine in (
                    (told[column] == value).to_numpy()
                    for value in told[column].unique()
                )
            ]
            gaps.append(np.ptp(recalls))
        assert found[f"gap_max{suffix}"] == pytest.approx(max(gaps))
        rms = np.sqrt(np.mean(np.square(gaps)))
        assert found[f"gap_rms{suffix}"] == pytest.approx(rms)


def test_a_run_is_audited_model_by_model_with_its_spread(store, train):
    quick = {"n_epochs": 2, "batch_size": 128}
    kinds = {"unconstrained": quick, "clp": {**quick, "fairness_weight": (0.5, 5.0)}}
    run = train(kinds, seeds=(0, 1))
    flips = {"branch": ("office", "works")}
    each = audit_run(store, run, flips, by_seed=True)
    mean = audit_run(store, run, flips)
    assert len(each) == 6
    assert len(mean) == 3
    assert mean.columns[:3].tolist() == ["method", "fairness_weight", "n_seeds"]
    mine = each[each["method"] == "unconstrained"]["consistency"]
    assert mean["consistency"][0] == pytest.approx(mine.mean())
    assert mean["consistency_sd"][0] == pytest.approx(mine.std(ddof=1))


def test_a_column_that_is_no_feature_is_refused_with_those_there_are(dataset):
    with pytest.raises(ValueError, match=r"'hired' cannot be flipped.*age, skill"):
        flip_values(dataset, ["hired"])


def test_a_number_of_many_values_is_set_to_quantiles(dataset):
    (values,) = flip_values(dataset, ["skill"]).values()
    assert len(values) == 5
    assert set(values) <= set(dataset.frame["skill"])


def test_a_run_without_a_finished_model_is_refused(store, train):
    run = train({"road": {"fairness_weight": 1e39, "n_epochs": 1}})
    with pytest.raises(ValueError, match="no finished model"):
        audit_run(store, run, {"branch": ("works",)})
