"""Measures as fairlearn and scikit-learn compute them, and rows to compare on."""

import fairlearn.metrics as fairlearn
import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    precision_score,
    roc_auc_score,
)


def _precision(y, d, sample_weight=None):
    return precision_score(y, d, sample_weight=sample_weight, zero_division=np.nan)


_ELSEWHERE = {
    "selection_rate": fairlearn.selection_rate,
    "true_positive_rate": fairlearn.true_positive_rate,
    "false_positive_rate": fairlearn.false_positive_rate,
    "false_negative_rate": fairlearn.false_negative_rate,
    "precision": _precision,
    "accuracy": accuracy_score,
    "brier": brier_score_loss,
    "auc": roc_auc_score,
    "calibration": lambda y, p, sample_weight=None: np.average(
        p - y, weights=sample_weight
    ),
}


def elsewhere(measure):
    """Return how another library, or a line of NumPy, computes a measure."""
    if measure not in _ELSEWHERE:
        pytest.fail(
            f"Say in _ELSEWHERE of tests/helpers/peers.py how another library, or a "
            f"line of NumPy, computes {measure!r}."
        )
    return _ELSEWHERE[measure]


def table(n=600, groups=3, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    group = rng.choice([f"g{k}" for k in range(groups)], n)
    y = rng.integers(0, 2, n)
    p = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0, 1)
    return y, (p.round(1) if ties else p), group, rng.uniform(0.2, 3, n)
