"""From the models of a run to finished tables: means and spread over seeds, changes.

Everything is read from stored scores under the subgroups asked for, so a change of
subgroups never retrains.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from fairdash._deciding import ALIKE, DECIDES, Deciding
from fairdash._metric_names import METRIC_NAMES, ODDS, OPPORTUNITY, metric_title
from fairdash._wording import Kpi, gap_size
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Decisions, Tested, TrialRows, tested
from fairdash.datasets import Subgroups
from fairdash.metrics import Drawn, compare, decision_status, evaluate, summarise_seeds
from fairdash.scored import ScoredModel
from fairdash.store import Store

GAP_HELP = (
    "Demographic parity difference: the largest minus the smallest rate of positive "
    "predictions of the groups, over all test rows. 0 is fair."
)
_INTERVAL = {"_low": ", low", "_high": ", high"}
_OF_PROBABILITIES = ("log_loss", "log_loss_low", "log_loss_high")
_NAMES = {
    "label": "Model",
    "n_seeds": "Seeds",
    "n": "Test rows",
    **{metric: metric_title(metric) for metric in METRIC_NAMES},
    "demographic_parity_ratio": "Ratio",
    ODDS: "Equalized odds",
    OPPORTUNITY: "Equal opportunity",
}


def metrics_by_setting(
    store: Store, chosen: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return one row per setting: its metrics on test rows, averaged over seeds.

    Columns: label, method, colour_role, n_seeds and those of
    `fairdash.metrics.summarise_seeds` over `fairdash.metrics.evaluate`, and over
    `decision_facts`, of which `Deciding.of` makes the fact of a model.
    """
    rows = [
        {
            "place": place,
            "label": setting.label,
            "method": setting.method,
            "colour_role": setting.colour_role,
            "seed": trial.model.split,
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
    *,
    inside: bool = True,
) -> pd.DataFrame:
    """Return how a setting differs from a reference on the same test rows.

    The table of `fairdash.metrics.compare`, averaged over the seeds both have. A change
    has an interval where it has one in each of its seeds. Without looking ``inside``
    subgroups worst_1_di is NaN, and the rest takes milliseconds.
    """
    reference_of_split = {trial.split: trial for trial in reference.trials}
    tables = [
        _compared(trial, reference_of_split[trial.model.split], inside)
        for trial in tested(store, setting, dataset_id, subgroups)
        if trial.model.split in reference_of_split
    ]
    if len(tables) == 1:  # as where hundreds of settings are told from a plain one
        return tables[0].copy()
    by_metric = pd.concat(tables).groupby("metric", sort=False)
    means = by_metric.mean()
    counts = by_metric.count()
    # the ends of some seeds need not hold the mean of all
    in_each = counts["low"] == counts["difference"]
    means[["low", "high"]] = means[["low", "high"]].where(in_each)
    return means.reset_index()


def chance_kpi(floor: float, style: Callable[[float], str] = gap_size) -> Kpi:
    """Return the card that says which largest gap chance alone shows."""
    return Kpi(
        "Largest by chance",
        style(floor),
        "95th percentile" if np.isfinite(floor) else "not estimable",
        help="The largest gap of a model that is fair in every subgroup stays below "
        "this in 95% of cases. Groups are shuffled within subgroups; of means, and of "
        "rows with weights or units, each group gets an error by chance instead.",
    )


def of_seeds(n_seeds: float) -> str:
    """Return "one seed" or "mean of 3 seeds"."""
    return "one seed" if n_seeds == 1 else f"mean of {n_seeds:.0f} seeds"


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
    readable_table = table[present].rename(columns=columns)
    marks = [Deciding.of(row).mark() for row in table.to_dict("records")]
    if any(marks):
        readable_table.insert(1, "Decides", [mark or "yes" for mark in marks])
    return readable_table.astype({"Seeds": int, "Test rows": int})


@lru_cache(maxsize=5000)
def _evaluated(trial: Tested) -> dict[str, Any]:
    model = trial.model
    rows = trial.rows
    if model.score is not None:
        probable = model.score.kind in ("probability", "margin")
        table = _evaluated_apart(rows, model, probable)
    elif not model.rule.usual:
        table = _evaluated_apart(rows, model, probable=True)
    else:
        decisions = rows.decisions(model)
        predicted = decisions if isinstance(decisions, Drawn) else rows.scores(model)
        table = evaluate(rows.y, predicted, **rows.groups, **rows.sampling)
    return {**table.iloc[0], **decision_facts(rows, model)}


def decision_facts(rows: TrialRows, model: ScoredModel) -> dict[str, float]:
    """Return what the decisions of a model are worth, as numbers to average over seeds.

    ``constant`` is 1 where it does not decide, ``alike`` where it accepts all or none
    or nearly so, ``accepted`` the share that it accepts; and ``balanced_accuracy``.
    """
    facts = decision_status(rows.y, rows.decisions(model), **rows.sampling).iloc[0]
    return {
        "constant": float(facts["status"] != DECIDES),
        "alike": float(facts["status"] in ALIKE),
        "accepted": float(facts["selection_rate"]),
        "balanced_accuracy": float(facts["balanced_accuracy"]),
    }


def _evaluated_apart(
    rows: TrialRows, model: ScoredModel, probable: bool
) -> pd.DataFrame:
    """Evaluate decisions, and beside them the scores that do not make them at 0.5."""
    table = evaluate(rows.y, rows.predictions(model), **rows.groups, **rows.sampling)
    groups = rows.groups["sensitive_features"]
    scores = rows.scores(model) if probable else rows.ranks(model)
    graded = evaluate(rows.y, scores, sensitive_features=groups, **rows.sampling)
    of_scores = graded.filter(regex="^(auc|log_loss)")
    if not probable:
        of_scores = of_scores.assign(**dict.fromkeys(_OF_PROBABILITIES, np.nan))
    return table.assign(**of_scores)


@lru_cache(maxsize=5000)
def _compared(trial: Tested, reference: ScoredModel, inside: bool) -> pd.DataFrame:
    rows = trial.rows
    decisions = rows.decisions(trial.model)
    reference_decisions = _reference(rows, reference)
    groups = dict(rows.groups)
    # codes are compared sooner than names
    groups["sensitive_features"] = rows.dataset.group[rows.where]
    if not inside:
        groups["subgroups"] = None
    return compare(rows.y, decisions, reference_decisions, **groups, **rows.sampling)


@lru_cache(maxsize=8)
def _reference(rows: TrialRows, model: ScoredModel) -> Decisions:
    return rows.decisions(model)
