"""Seconds of processor time of all measures inside subgroups, beside fairlearn.

A million rows in two groups and twelve subgroups, all nine measures with intervals;
then one measure of 50,000 rows, which is what a change of the picker computes. The
baseline is what a reader would write: fairlearn's `MetricFrame` of these rows, without
any interval.

    python benchmarks/subgroups/bench_audit.py [--rows 1000000]
"""

import argparse
import time

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score

from fairdash.metrics import MEASURES, LocalMeasure, catalog

THEIRS = {
    "selection_rate": fairlearn.selection_rate,
    "true_positive_rate": fairlearn.true_positive_rate,
    "false_positive_rate": fairlearn.false_positive_rate,
    "false_negative_rate": fairlearn.false_negative_rate,
    "accuracy": accuracy_score,
    "brier": brier_score_loss,
    "auc": roc_auc_score,
}


def make(n, seed=0):
    """Return outcomes, scores, groups and subgroups as the app holds them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    scores = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0, 1).astype(np.float32)
    groups = pd.Categorical.from_codes(rng.integers(0, 2, n), ["Female", "Male"])
    names = [f"part {k}" for k in range(12)]
    return y, scores, groups, pd.Categorical.from_codes(rng.integers(0, 12, n), names)


def given(measure, scores):
    return (
        scores if measure in catalog.SCORE_MEASURES else (scores > 0.5).astype(np.int8)
    )


def ours(measures, y, scores, groups, subgroups):
    for measure in measures:
        LocalMeasure.of(
            measure,
            y,
            given(measure, scores),
            sensitive_features=groups,
            subgroups=subgroups,
        ).table()


def theirs(measures, y, scores, groups, subgroups):
    for measure in measures:
        fairlearn.MetricFrame(
            metrics=THEIRS[measure],
            y_true=y,
            y_pred=given(measure, scores),
            sensitive_features=np.asarray(groups),
            control_features=np.asarray(subgroups),
        ).difference()


def seconds(call, *args):
    """Return the least processor time of three calls, the first warms up."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call(*args)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = make(parser.parse_args().rows)
    print(
        f"all measures, {len(rows[0]):,} rows: {seconds(ours, MEASURES, *rows):.2f} s"
    )
    few = make(50_000)
    for measure in THEIRS:
        mine, other = (seconds(call, [measure], *few) for call in (ours, theirs))
        print(f"{measure}: {1000 * mine:.0f} ms, MetricFrame {1000 * other:.0f} ms")
