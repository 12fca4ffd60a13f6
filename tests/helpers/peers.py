"""Measures as fairlearn and scikit-learn compute them, and rows to compare on."""

import fairlearn.metrics as fairlearn
import numpy as np
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    precision_score,
    roc_auc_score,
)


def _precision(y, d, sample_weight=None):
    return precision_score(y, d, sample_weight=sample_weight, zero_division=np.nan)


OTHERS = {
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


def table(n=600, groups=3, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    group = rng.choice([f"g{k}" for k in range(groups)], n)
    y = rng.integers(0, 2, n)
    p = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0, 1)
    return y, (p.round(1) if ties else p), group, rng.uniform(0.2, 3, n)
