"""The documented recipe for texts: embedding columns with counterfactual pairs."""

import numpy as np
import pytest

from fairdash.methods import CLP, SenSeI, Unconstrained
from fairdash.metrics import (
    comparable_directions,
    ctf_score,
    pair_tables,
    prediction_consistency,
)

NAMES = [f"e{i}" for i in range(16)]
SETTINGS = {"n_epochs": 30, "batch_size": 128, "random_state": 0}


@pytest.fixture(scope="module")
def notes():
    """Return embeddings, counterfactuals, labels biased by who is written of."""
    rng = np.random.default_rng(0)
    direction = np.linalg.qr(rng.normal(size=(16, 3)))[0]
    who = rng.integers(2, size=900)
    meaning = rng.normal(size=(900, 16))
    meaning -= meaning @ direction @ direction.T
    at = np.where(who, 1.0, -1.0)[:, None] * [2.0, 1.0, 0.5]
    noise = 0.05 * rng.normal(size=(2, 900, 16))
    written = meaning + at @ direction.T + noise[0]
    exchanged = meaning - at @ direction.T + noise[1]
    toxic = meaning[:, 0] + 0.8 * at[:, 0] + rng.logistic(size=900) * 0.5 > 0
    return written, exchanged, toxic.astype(int), who


def consistency(model, notes):
    written, exchanged, *_ = notes
    return prediction_consistency([model.predict(written), model.predict(exchanged)])


def spread(model, notes):
    written, exchanged, *_ = notes
    return ctf_score([model.predict_proba(X)[:, 1] for X in (written, exchanged)])


def test_pairs_of_embeddings_make_predictions_consistent(notes):
    written, exchanged, y, who = notes
    rows, pairs = pair_tables(written, exchanged)
    metric = comparable_directions(rows, pairs, NAMES, n_directions=3)
    assert metric.explained[0] > 0.7
    plain = Unconstrained(**SETTINGS).fit(written, y, sensitive_features=who)
    sensei = SenSeI(metric, fairness_weight=5.0, **SETTINGS)
    sensei.fit(written, y, sensitive_features=who)
    clp = CLP(fairness_weight=5.0, **SETTINGS)
    clp.fit(written, y, sensitive_features=who, counterfactuals=exchanged)
    assert consistency(plain, notes) < 0.3
    assert consistency(sensei, notes) > 0.7
    assert spread(sensei, notes) < 0.1 * spread(plain, notes)
    assert consistency(clp, notes) > 0.9
