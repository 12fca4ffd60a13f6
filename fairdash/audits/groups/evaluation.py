"""From the models of a run to finished tables: means and spread over seeds, changes.

Everything is read from stored scores under the subgroups asked for, so a change of
subgroups never retrains.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import Kpi, listing, number, plural
from fairdash.audits.trials.decision_rule import rule_of_key
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Rows, Tested, score_of_key, tested
from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import (
    compare,
    decision_status,
    evaluate,
    noise_floor,
    summarise_seeds,
)
from fairdash.store import Store

DI_HELP = (
    "Demographic parity difference: the largest minus the smallest rate of positive "
    "predictions of the groups, over all test rows. 0 is fair."
)
MOST_SEEDS = 0.5  # share of seeds beyond which a model counts as constant
DECIDES = ""
_INTERVAL = {"_low": ", low", "_high": ", high"}
_NAMES = {
    "label": "Model",
    "n_seeds": "Seeds",
    "n": "Test rows",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "auc": "AUC",
    "log_loss": "Log loss",
    "demographic_parity_difference": "DI",
    "demographic_parity_ratio": "DI as ratio",
    "equalized_odds_difference": "Equalized odds",
    "equal_opportunity_difference": "Equal opportunity",
    "worst_1_di": "Worst-1-DI",
    "worst_2_di": "Worst-2-DI",
    "worst_3_di": "Worst-3-DI",
}
SHOWN = {
    "test_accuracy": "accuracy",
    "test_demographic_parity_difference": "demographic parity difference",
    "test_worst_1_di": "Worst-1-DI",
}


def metrics_by_setting(
    store: Store, chosen: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return one row per setting: its metrics on test rows, averaged over seeds.

    Columns: label, method, colour_role, n_seeds and those of
    `fairdash.metrics.summarise_seeds` over `fairdash.metrics.evaluate`; ``constant`` is
    the share of seeds in which a model decides alike for everyone, or as chance might.
    """
    rows = [
        {
            "place": place,
            "label": setting.label,
            "method": setting.method,
            "colour_role": setting.colour_role,
            "seed": trial.seed,
            **_evaluated(trial),
        }
        for place, setting in enumerate(chosen)
        for trial in tested(store, setting, dataset_id, subgroups)
    ]
    by = ["place", "label", "method", "colour_role"]  # a label may be that of two
    return summarise_seeds(pd.DataFrame(rows), by).drop(columns="place")


def paired_changes(
    store: Store,
    setting: Setting,
    reference: Setting,
    dataset_id: str,
    subgroups: Subgroups,
) -> pd.DataFrame:
    """Return how a setting differs from a reference on the same test rows.

    The table of `fairdash.metrics.compare`, averaged over the seeds both have.
    """
    others = {trial.seed: trial.key for trial in reference.trials}
    known = tested(store, setting, dataset_id, subgroups)
    tables = [
        _compared(trial, others[seed])
        for seed, trial in zip((t.seed for t in setting.trials), known, strict=True)
        if seed in others
    ]
    return pd.concat(tables).groupby("metric", sort=False).mean().reset_index()


def chance_worst(
    store: Store, setting: Setting, dataset_id: str, subgroups: Subgroups
) -> float:
    """Return what Worst-1-DI stays below, in 95 % of cases, by chance alone.

    The 95 % point of the noise floor on test rows, averaged over seeds. It depends on
    how many a model accepts in each subgroup, so a floor is of one model.
    """
    trials = tested(store, setting, dataset_id, subgroups)
    return float(np.mean([_floor(trial) for trial in trials]))


def chance_kpi(floor: float, largest: str = "Worst-1-DI") -> Kpi:
    """Return the card that says which largest gap chance alone shows."""
    return Kpi(
        f"{largest} by chance",
        number(floor),
        "95th percentile" if np.isfinite(floor) else "not estimable",
        help="What the largest gap of a model that is fair in every subgroup stays "
        "below in 95% of cases: groups shuffled within subgroups.",
    )


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return `metrics_by_setting` with readable names: each metric beside its interval.

    The spread over seeds is named "..., sd" and excluded where there is one seed.
    """
    several = bool(table["n_seeds"].max() > 1)
    columns = {}
    for name, title in _NAMES.items():
        columns[name] = title
        for end, words in _INTERVAL.items():
            columns[name + end] = title + words
        if several and name != "n":
            columns[f"{name}_sd"] = f"{title}, sd"
    present = [name for name in columns if name in table]
    shown = table[present].rename(columns=columns)
    if (table["constant"] > MOST_SEEDS).any():
        marks = (table["constant"] > MOST_SEEDS).map({True: "constant", False: ""})
        shown.insert(1, "Decides", marks)
    return shown.astype({"Seeds": int, "Test rows": int})


@lru_cache(maxsize=5000)
def _evaluated(trial: Tested) -> dict[str, Any]:
    key, rows = trial.key, trial.rows
    own = score_of_key(key)
    if own is None and rule_of_key(key)[1] is not None:
        table = _own_evaluated(rows, key, probable=True)
    elif own is None:
        table = evaluate(rows.y, rows.scores(key), **rows.groups, **rows.sampling)
    else:
        table = _own_evaluated(rows, key, own.kind in ("probability", "margin"))
    return {**table.iloc[0], "constant": constant(rows, key)}


def constant(rows: Rows, key: str) -> float:
    """Return 1 for a model that decides alike for everyone, or as chance might."""
    found = decision_status(rows.y, rows.predictions(key), **rows.sampling)
    return float(found["status"].iloc[0] != DECIDES)


def _own_evaluated(rows: Rows, key: str, probable: bool) -> pd.DataFrame:
    """Evaluate decisions at a threshold of their own; log loss takes probabilities."""
    asked = rows.sampling
    table = evaluate(rows.y, rows.predictions(key), **rows.groups, **asked)
    asked["sensitive_features"] = rows.groups["sensitive_features"]
    scores = rows.scores(key) if probable else rows.ranks(key)
    graded = evaluate(rows.y, scores, **asked)
    loss = graded["log_loss"] if probable else np.nan
    return table.assign(auc=graded["auc"], log_loss=loss)


@lru_cache(maxsize=5000)
def _compared(trial: Tested, reference: str) -> pd.DataFrame:
    rows = trial.rows
    predictions, others = rows.predictions(trial.key), rows.predictions(reference)
    return compare(rows.y, predictions, others, **rows.groups, **rows.sampling)


@lru_cache(maxsize=5000)
def _floor(trial: Tested) -> float:
    rows = trial.rows
    decided = rows.predictions(trial.key)
    return noise_floor(decided, **rows.groups, **rows.sampling).quantile


def between_seeds(models: Sequence[Setting]) -> dict[str, float]:
    """Return by how much seeds differ at one setting, by metric on test rows.

    A seed is a split and a start of its own; of several starts on a split a setting has
    the first. The standard deviation over seeds (n - 1), of several settings their root
    mean square; metrics that no setting has on two seeds are not there.
    """
    found = {}
    for metric in SHOWN:
        variances = []
        for model in models:
            rows = [trial.row or {} for trial in model.trials]
            values = np.array([row.get(metric, np.nan) for row in rows], dtype=float)
            values = values[np.isfinite(values)]
            if len(values) > 1:
                variances.append(values.var(ddof=1))
        if variances:
            found[metric] = float(np.sqrt(np.mean(variances)))
    return found


def one_of_seeds(model: Setting, models: Sequence[Setting]) -> str:
    """Say how far other seeds differ from the one that is shown.

    Where it has one seed alone, those of ``models`` of the same method, trained alike.
    """
    own = between_seeds([model])
    if own:
        whose = f"The {plural(len(model.trials), 'seed')} of this model differ by"
    else:
        alike = [
            other
            for other in models
            if (other.method, other.trained) == (model.method, model.trained)
        ]
        own = between_seeds(alike)
        label = CATALOG[model.method].label
        if not own:
            return f"One seed: how far others of {label} differ is not known."
        whose = f"One seed: at other settings of {label} seeds differ by"
    spreads = listing([f"{value:.3f} in {SHOWN[name]}" for name, value in own.items()])
    return f"{whose} {spreads} (± 1 sd over splits and starts together, test rows)."
