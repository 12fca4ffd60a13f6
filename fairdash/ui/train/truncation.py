"""Fair log-loss on the Train page: its two players, and where it truncates."""

import numpy as np
import pandas as pd
import streamlit as st
from scipy.special import expit

from fairdash import plots
from fairdash._wording import number, plural
from fairdash.datasets import encode, split
from fairdash.methods import TruncatedLogistic
from fairdash.metrics import expected_violations
from fairdash.store import Snapshot, TrialRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.train.two_features import show_two_features
from fairdash.ui.widgets.blocks import figure
from fairdash.ui.widgets.state import store

_METHOD = "fair_log_loss"
_BOTH = -1  # outcomes, where the constraint does not tell them apart
_BINS = np.linspace(0, 1, 41)
_MARGINS = np.linspace(-8, 8, 201)
_SHARED = "demographic_parity"
_PLAYERS_HOW = """
Fair log-loss is a game. The predictor **P** gives probabilities that meet the
constraint; the approximator **Q** answers with the worst case that the training data
allow. On the dotted line they agree. A curve above it: Q holds more positive outcomes
against P, and P may not go beyond the curve's end.
"""
_POINTS_HOW = """
Scores of the test rows by the linear model alone. At a dashed line the group's
probabilities stop: all rows beyond it get the probability at the line. The constraint
holds for mean probabilities of training rows; after rounding a gap remains.
"""


def show_truncation(snapshot: Snapshot) -> None:
    """Draw both figures for the first finished fair log-loss model of a run, if any."""
    fitted = [
        trial
        for trial in snapshot.trials
        if trial.method == _METHOD and trial.status == "finished"
    ]
    if not fitted:
        return
    trial, run = fitted[0], snapshot.run
    dataset = store().dataset(run.dataset_id)
    model = TruncatedLogistic.from_arrays(store().artifact(trial.key).network())
    # the estimator's groups are in order of name, as those of `sensitive_features`
    names = [str(name) for name in np.unique(dataset.sensitive_features)]
    shared = trial.params["constraints"] == _SHARED
    curves, points = _players(model, names, shared)
    scaling = SweepSpec.of_run(run.spec).scaling
    bars = _bars(trial.key, run.dataset_id, trial.seed, scaling)
    left, right = st.columns(2, gap="medium")
    with left:
        figure(
            plots.plot_players(curves, groups=dataset.group_names),
            finding="What the predictor plays against",
            caption="The two players at the fitted multipliers (λ).",
            alt=plots.describe_players(points),
            how=_PLAYERS_HOW,
            key="players",
        )
    with right:
        figure(
            plots.plot_truncation(bars, points, groups=dataset.group_names),
            finding=plots.truncation_finding(points),
            caption=_violation(trial, run.dataset_id),
            alt=plots.describe_truncation(points),
            how=_POINTS_HOW,
            table=points,
            key="truncation",
        )
    show_two_features()


def _players(
    model: TruncatedLogistic, names: list[str], shared: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the curves and the truncation points, as the figures want them."""
    curves, rows = [], []
    ends = model.truncation_points()
    for outcome in (1,) if shared else (0, 1):
        told = _BOTH if shared else outcome
        for code, name in enumerate(names):
            p, q = model.given(_MARGINS, outcome, code)
            curves.append(
                pd.DataFrame({"group": name, "outcome": told, "p": p, "q": q})
            )
            side = "above" if model.pulls[outcome, code] > 0 else "below"
            end = float(ends[outcome, code])
            rows.append({"group": name, "outcome": told, "point": end, "side": side})
    return pd.concat(curves), pd.DataFrame(rows)


@st.cache_data(max_entries=200, show_spinner=False)
def _bars(key: str, dataset_id: str, seed: int, scaling: str) -> pd.DataFrame:
    """Return the histogram of the scores of test rows, by group."""
    dataset = store().dataset(dataset_id)
    parts = split(dataset, seed)
    model = TruncatedLogistic.from_arrays(store().artifact(key).network())
    X = encode(dataset, parts.train, scaling=scaling).rows(  # type: ignore[arg-type]
        parts.test
    )
    scores, groups = expit(model.margins(X)), dataset.sensitive_features[parts.test]
    tables = []
    for name in dataset.group_names:
        counts, _ = np.histogram(scores[groups == name], _BINS)
        middles = (_BINS[1:] + _BINS[:-1]) / 2
        shares = counts / max(counts.sum(), 1)
        tables.append(pd.DataFrame({"group": name, "score": middles, "share": shares}))
    return pd.concat(tables)


def _violation(trial: TrialRecord, dataset_id: str) -> str:
    dataset = store().dataset(dataset_id)
    test = split(dataset, trial.seed).test
    table = expected_violations(
        dataset.y[test],
        store().artifact(trial.key).scores()[test],
        sensitive_features=dataset.sensitive_features[test],
    ).set_index("constraint")
    found = table.to_dict("index")[trial.params["constraints"]]
    return (
        f"{plural(len(test), 'test row')}, seed {trial.seed}. Groups are "
        f"{number(found['expected'])} apart in probability, "
        f"{number(found['rounded'])} after rounding."
    )
