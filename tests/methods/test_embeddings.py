"""The documented recipe for texts: embedding columns with counterfactual pairs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairdash.methods import CLP, SenSeI, Unconstrained
from fairdash.metrics import (
    comparable_directions,
    ctf_score,
    pair_tables,
    prediction_consistency,
)

SAMPLE = Path(__file__).parents[2] / "sample_data" / "comments.csv.gz"
FRAME = pd.read_csv(SAMPLE)
NAMES = [f"e{i}" for i in range(1, 17)]
SETTINGS = {"n_epochs": 30, "batch_size": 128, "random_state": 0}


@pytest.fixture(scope="module")
def notes():
    """Return embeddings, counterfactuals, labels biased by who is written of."""
    written, exchanged = (
        FRAME[FRAME["version"] == version].set_index("comment")
        for version in ("written", "exchanged")
    )
    exchanged = exchanged.loc[written.index]
    y = written["removed"].astype(int)
    return written[NAMES], exchanged[NAMES], y.to_numpy(), written["about"].to_numpy()


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


def test_the_pairs_show_the_directions_that_were_planted(notes):
    written, exchanged, _, about = notes
    metric = comparable_directions(
        *pair_tables(written, exchanged), NAMES, n_directions=3
    )
    sign = np.where(about == "women", 1, -1)[:, None]
    planted = (sign * (written.to_numpy() - exchanged.to_numpy())).mean(0)
    kept = metric.projection @ planted
    assert np.linalg.norm(kept) < 0.01 * np.linalg.norm(planted)
