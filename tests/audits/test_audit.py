"""Audits of every kind of stored model."""

import numpy as np
import pytest

import fairdash
from fairdash.audits import portable

KINDS = {
    "unconstrained": {"n_epochs": 4, "batch_size": 128},
    "logistic": {},
    "fair_log_loss": {},
    "noisy_ideal": {"n_rounds": 3, "n_responses": 2},
    "reductions": {},
    "hardt": {},
}


@pytest.mark.parametrize("method", KINDS)
def test_a_stored_model_scores_test_rows_as_its_trial_did(store, model_of, method):
    model = model_of(method, KINDS[method])
    stored_scores = store.artifact(model.key).scores()[model.rows.where]
    scored = model.probability(model.rows.frame)
    np.testing.assert_allclose(scored, stored_scores, atol=1e-5)


@pytest.mark.parametrize("method", ["logistic", "noisy_ideal", "hardt"])
def test_rows_of_another_table_are_scored_as_those_it_was_trained_with(
    store, dataset, model_of, method
):
    model = model_of(method, KINDS[method])
    stored_scores = store.artifact(model.key).scores()
    frame = dataset.frame.iloc[::-1].reset_index(drop=True)
    trained = portable.as_portable(model)
    np.testing.assert_allclose(trained.score(frame), stored_scores[::-1], atol=1e-5)
    feature = dataset.roles.features[0]
    group = dataset.roles.sensitive_feature
    with pytest.raises(ValueError, match=f"no columns \\['{feature}'\\]"):
        trained.score(frame.drop(columns=feature))
    odd = frame.assign(**{group: "elsewhere"})
    if method == "hardt":  # looks at groups
        with pytest.raises(ValueError, match="'elsewhere' in row 1"):
            trained.score(odd)


def test_words_and_probabilities_in_place_of_decisions_are_told_the_way():
    groups = np.array(["a", "b"] * 60)
    y = np.repeat([0, 1, 1], 40)
    words = np.where(y == 1, "yes", "no")
    share = np.linspace(0, 1, 120)
    with pytest.raises(ValueError, match="Give probabilities as `scores=`"):
        fairdash.audit(y, share, sensitive_features=groups)
    with pytest.raises(ValueError, match="is positive: `pos_label='no'` or"):
        fairdash.audit(words, words, sensitive_features=groups)
    report = fairdash.audit(words, words, pos_label="yes", sensitive_features=groups)
    assert report.verdict == fairdash.audit(y, y, sensitive_features=groups).verdict
