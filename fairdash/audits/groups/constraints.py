"""What a constraint leaves of trained models: violations, truncated probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from fairdash._wording import number, plural
from fairdash.audits.trials.models import Setting, on_shared_seeds
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import Subgroups, encode, split
from fairdash.methods import CATALOG, TruncatedLogistic
from fairdash.metrics import decision_status, expected_violations
from fairdash.store import Snapshot, Store, TrialRecord
from fairdash.sweep import FOLD, SweepSpec

CONSTRAINTS = {
    "demographic_parity": "Demographic parity",
    "equalized_odds": "Equalized odds",
    "true_positive_rate_parity": "Equal opportunity",
}
_BOTH = -1  # outcomes, where the constraint does not tell them apart
_BINS = np.linspace(0, 1, 41)
_KINDS = ("expected", "rounded")


@dataclass(frozen=True, eq=False)
class Truncation:
    """Where the probabilities of a fair log-loss model stop.

    ``points`` are where they stop (group, outcome, -1 for both, point, side; NaN where
    they do not), ``bars`` the scores before (group, middle of a bin, share of the
    group's test rows).
    """

    points: pd.DataFrame
    bars: pd.DataFrame
    groups: tuple[str, ...]
    caption: str


def constraint_of(models: Sequence[Setting]) -> str:
    """Return the constraint that the models were trained under, if any."""
    for model in models:
        constraint = model.trials[0].params.get("constraints")
        if constraint in CONSTRAINTS:
            return str(constraint)
    return "demographic_parity"


@dataclass(frozen=True, eq=False)
class Violations:
    """Error and violation of models on test rows, before and after rounding.

    As probabilities the error is the mean distance from the outcome and the violation
    the gap in mean probabilities; rounded, the same of the decisions at one half.

    Attributes
    ----------
    table : DataFrame
        One row per model: label, colour_role, splits, error, violation and constant
        with the suffixes ``_expected`` and ``_rounded``, as mean over seeds and, with
        ``_sd`` behind, their spread. ``constant`` is the share of seeds in which the
        decisions, drawn or rounded, say nothing of the outcome: a gap of theirs is no
        sign of fairness.
    """

    table: pd.DataFrame
    caption: str


def violations(
    store: Store, models: Sequence[Setting], dataset_id: str, constraint: str
) -> Violations:
    """Return error and violation of models on the seeds that all of them have."""
    compared = on_shared_seeds(models)
    rows = []
    for model in compared.models:
        splits = pd.DataFrame(
            _measured(store, trial.key, dataset_id, trial.seed, constraint)
            for trial in model.trials
        )
        rows.append(
            {
                "label": model.label,
                "colour_role": CATALOG[model.method].colour_role,
                "splits": len(splits),
                **splits.mean(),
                **splits.std().add_suffix("_sd"),
            }
        )
    n_seeds = len(compared.seeds)
    spread = "one split, no spread"
    if n_seeds > 1:
        spread = f"mean ± standard deviation over {plural(n_seeds, 'split')}"
    words = f"Test rows, {spread}. {CONSTRAINTS[constraint]}."
    caption = " ".join(filter(None, [words, compared.note()]))
    return Violations(pd.DataFrame(rows), caption)


def _first(snapshot: Snapshot) -> TrialRecord | None:
    """Return the first finished fair log-loss that is no fold of another."""
    fitted = (t for t in snapshot.trials if t.method == "fair_log_loss")
    own = (t for t in fitted if t.status == "finished" and FOLD not in t.params)
    return next(own, None)


def truncation(store: Store, snapshot: Snapshot) -> Truncation | None:
    """Return what to show of the first fair log-loss model of a run, or None."""
    trial, run = _first(snapshot), snapshot.run
    if trial is None:
        return None
    constraint = trial.params["constraints"]
    found = _measured(store, trial.key, run.dataset_id, trial.seed, constraint)
    n_rows = len(rows_of(store, run.dataset_id, trial.seed, Subgroups()).y)
    return Truncation(
        _points(store, trial, run.dataset_id),
        _bars(store, trial.key, run.id, trial.seed),
        store.dataset(run.dataset_id).group_names,
        f"{plural(n_rows, 'test row')}, seed {trial.seed}. Groups are "
        f"{number(found['violation_expected'])} apart in probability, "
        f"{number(found['violation_rounded'])} after rounding.",
    )


def _points(store: Store, trial: TrialRecord, dataset_id: str) -> pd.DataFrame:
    model = TruncatedLogistic.from_arrays(store.artifact(trial.key).network())
    # the estimator's groups are in order of name, as those of `sensitive_features`
    names = np.unique(store.dataset(dataset_id).sensitive_features).astype(str)
    shared = trial.params["constraints"] == "demographic_parity"
    rows = []
    ends = model.truncation_points()
    for outcome in (1,) if shared else (0, 1):
        for code, name in enumerate(names.tolist()):
            side = "above" if model.pulls[outcome, code] > 0 else "below"
            place = {"group": name, "outcome": _BOTH if shared else outcome}
            rows.append({**place, "point": float(ends[outcome, code]), "side": side})
    return pd.DataFrame(rows)


@lru_cache(maxsize=200)
def _bars(store: Store, key: str, run_id: str, seed: int) -> pd.DataFrame:
    """Return the histogram of the scores of test rows, by group."""
    run = store.run(run_id)
    dataset, scaling = store.dataset(run.dataset_id), SweepSpec.of_run(run.spec).scaling
    parts = split(dataset, seed)
    model = TruncatedLogistic.from_arrays(store.artifact(key).network())
    X = encode(dataset, parts.train, scaling=scaling).rows(parts.test)
    groups = dataset.sensitive_features[parts.test]
    codes = np.searchsorted(np.unique(dataset.sensitive_features), groups)
    scores = expit(model.margins(X, codes))
    middles = (_BINS[1:] + _BINS[:-1]) / 2
    tables = []
    for name in dataset.group_names:
        counts, _ = np.histogram(scores[groups == name], _BINS)
        shares = counts / max(counts.sum(), 1)
        tables.append(pd.DataFrame({"group": name, "score": middles, "share": shares}))
    return pd.concat(tables)


@lru_cache(maxsize=5000)
def _measured(
    store: Store, key: str, dataset_id: str, seed: int, constraint: str
) -> dict[str, float]:
    """Return error and violation of a trial on its test rows."""
    rows = rows_of(store, dataset_id, seed, Subgroups())
    p = rows.scores(key).astype(np.float64)
    groups = rows.groups["sensitive_features"]
    gaps = expected_violations(rows.y, p, sensitive_features=groups)
    found = gaps.set_index("constraint").to_dict("index")[constraint]
    error = np.abs(p - rows.y).mean(), np.mean((p > 0.5) != (rows.y == 1))
    decided = p, (p > 0.5).astype(np.float64)
    silent = [float(_says_nothing(rows.y, h)) for h in decided]
    return {
        **{f"error_{kind}": float(e) for kind, e in zip(_KINDS, error, strict=True)},
        **{f"constant_{kind}": s for kind, s in zip(_KINDS, silent, strict=True)},
        **{f"violation_{kind}": float(found[kind]) for kind in _KINDS},
    }


def _says_nothing(y: NDArray[np.int8], h: NDArray[np.float64]) -> bool:
    """Tell whether decisions drawn with chances ``h`` do not go with the outcome."""
    positive = y == 1
    n_positive, n_negative = positive.sum(), (~positive).sum()
    if np.ptp(h) == 0 or not n_positive or not n_negative:
        return bool(np.ptp(h) == 0)
    if np.isin(h, (0, 1)).all():
        return bool(decision_status(y, h)["status"].item())
    more = h[positive].mean() - h[~positive].mean()
    noise = np.sqrt(h.mean() * (1 - h.mean()) * (1 / n_positive + 1 / n_negative))
    return bool(more <= norm.ppf(0.975) * noise)
