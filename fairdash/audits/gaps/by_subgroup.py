"""A measure of several models inside subgroups, on the rows that all of them have."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash._metric_names import PARITY, WORST
from fairdash.audits.gaps.evaluation import (
    decision_facts,
    metrics_by_setting,
    paired_changes,
)
from fairdash.audits.gaps.local import LocalResult
from fairdash.audits.gaps.local_gaps import SEVERAL, subgroup_of
from fairdash.audits.gaps.measured import local_measure, recalibrated, widest_gap
from fairdash.audits.gaps.pairs import farthest_pairs
from fairdash.audits.trials.memo import memoised
from fairdash.audits.trials.models import Setting, on_shared_seeds
from fairdash.audits.trials.own_settings import beside_trained
from fairdash.audits.trials.rows import Tested, tested
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    Finding,
    LocalMeasure,
    both_ways,
    catalog,
    intervals,
    views,
)
from fairdash.store import Store
from fairdash.sweep import BASELINE

_GAPS = {"overall": PARITY, "worst_1": WORST}  # of a `LocalResult` and of an evaluation


def local_by_measure(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
) -> LocalResult:
    """Compare a measure of some models inside subgroups.

    Trained models are looked at on the test rows of the seeds that all of them have,
    score columns on the same rows, or on all rows where no trained model is compared.
    Paired changes are of selection rates.
    """
    favourable = store.dataset(dataset_id).roles.positive_is != "unfavourable"
    return _local_result(store, models, dataset_id, subgroups, measure, favourable)


def named_metrics(
    store: Store, models: Sequence[Setting], dataset_id: str, subgroups: Subgroups
) -> pd.DataFrame:
    """Return `metrics_by_setting`, its gaps those of `local_by_measure`.

    So a gap that Train and Local fairness show has one interval.
    """
    table = metrics_by_setting(store, models, dataset_id, subgroups)
    for index, model in zip(table.index, models, strict=True):
        row = local_by_measure(store, [model], dataset_id, subgroups).row
        for name, metric in _GAPS.items():
            # An evaluation has no gap where some group has no value.
            if np.isfinite(table.loc[index, metric]):
                for end in ("", "_low", "_high"):
                    table.loc[index, f"{metric}{end}"] = row[f"{name}{end}"]
    return table


@memoised(256)
def _local_result(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    subgroups: Subgroups,
    measure: str,
    favourable: bool,
) -> LocalResult:
    compared = on_shared_seeds(beside_trained(models))
    first = compared.models[0]
    main = compared.models[-1]
    by_model = [
        _measured_model(store, model, dataset_id, subgroups, measure, favourable)
        for model in compared.models
    ]
    main_seeds = [
        local_measure(trial, measure)
        for trial in tested(store, main, dataset_id, subgroups)
    ]
    changes = None
    # the plain model is what others change, and changes nothing itself
    corrected = main is not first and main.method != BASELINE
    all_trained = not any(model.is_own for model in models)
    if measure == "selection_rate" and corrected and all_trained:
        changes = paired_changes(store, main, first, dataset_id, subgroups)
    notes = [compared.note(), recalibrated(main, measure)]
    return LocalResult(
        main.label,
        pd.concat([measured.table for measured in by_model], ignore_index=True),
        pd.DataFrame([measured.row for measured in by_model]),
        by_model[-1].chance,
        changes,
        " ".join(filter(None, notes)),
        measure,
        on_all_rows=not main.seeds,
        inside=by_model[-1].inside,
        whole=by_model[-1].whole,
        earlier=tuple(measured.inside for measured in by_model[:-1]),
        opposed=both_ways(main_seeds),
        noun=store.dataset(dataset_id).roles.noun,
    )


class _MeasuredModel(NamedTuple):
    """A model over its seeds: what a `LocalResult` has of it."""

    table: pd.DataFrame  # of `views.over_seeds`
    row: dict[str, Any]
    chance: float
    inside: tuple[Finding, ...]
    whole: Finding


def _measured_model(
    store: Store,
    model: Setting,
    dataset_id: str,
    subgroups: Subgroups,
    measure: str,
    favourable: bool,
) -> _MeasuredModel:
    trials = tested(store, model, dataset_id, subgroups)
    by_trial = [_measured_trial(trial, measure) for trial in trials]
    # on all rows the trials of several seeds are of the same rows
    estimates = pd.concat(
        [trial.estimates.assign(seed=seed) for seed, trial in enumerate(by_trial)],
        ignore_index=True,
    )
    table = views.over_seeds(estimates.assign(model=model.label))
    by_seed = [local_measure(trial, measure) for trial in trials]
    inside = farthest_pairs(by_seed, measure, table)
    whole = widest_gap(store, model, dataset_id, measure, favourable=favourable)
    table = _with_named_intervals(table, measure, by_seed, inside, whole)
    row = _model_row(model, table, measure, by_trial)
    chance = float(np.mean([trial.chance for trial in by_trial]))
    return _MeasuredModel(table, row, chance, inside, whole)


def _with_named_intervals(
    table: pd.DataFrame,
    measure: str,
    by_seed: Sequence[LocalMeasure],
    inside: Sequence[Finding],
    whole: Finding,
) -> pd.DataFrame:
    """Give a gap the interval with which it is named, so that a number has one.

    A gap is that of the groups named where these are farthest apart in every seed. Else
    it is a mean over gaps of other groups, and keeps its own interval. The largest gap
    has that of a subgroup whose gap is the largest in every seed.
    """
    table = table.copy()
    of_gaps = (table["measure"] == views.gap_of(measure)) & table["group"].isna()

    def give(rows: "pd.Series[bool]", finding: Finding) -> None:
        low, high = intervals.folded(finding.low, finding.high)
        table.loc[rows, "low"] = float(low)
        table.loc[rows, "high"] = float(high)

    for finding in inside:
        subgroup = subgroup_of(finding)
        if _is_widest(by_seed, finding, subgroup):
            give(of_gaps & (table["subgroup"] == subgroup), finding)
    if _is_widest(by_seed, whole, None):
        give(of_gaps & table["subgroup"].isna(), whole)
    gaps = table[of_gaps & table["subgroup"].notna() & np.isfinite(table["value"])]
    if gaps.empty:
        return table
    widest = gaps.loc[gaps["value"].idxmax()]
    if all(local.is_largest(widest["subgroup"]) for local in by_seed):
        of_largest = table["measure"] == views.worst_of(measure)
        table.loc[of_largest, "low"] = widest["low"]
        table.loc[of_largest, "high"] = widest["high"]
    return table


def _is_widest(
    by_seed: Sequence[LocalMeasure], finding: Finding, subgroup: str | None
) -> bool:
    """Return whether the groups of a finding are farthest apart in every seed.

    With the same one ahead: a gap that turns between seeds has another mean.
    """
    higher = finding if finding.value >= 0 else finding.turned()
    return all(
        local.is_widest(higher.group, higher.reference, subgroup=subgroup)
        for local in by_seed
    )


def _model_row(
    model: Setting, table: pd.DataFrame, measure: str, trials: Sequence["_Trial"]
) -> dict[str, Any]:
    deciding = pd.DataFrame([trial.deciding for trial in trials]).mean()
    row: dict[Any, Any] = {
        "label": model.label,
        "method": model.method,
        "colour_role": model.colour_role,
        "n_seeds": len(trials),
        "n": float(np.mean([trial.n for trial in trials])),
        **deciding.to_dict(),
        "worst_k": float(np.mean([trial.worst_k for trial in trials])),
        "chance_k": float(np.mean([trial.chance_k for trial in trials])),
    }
    gaps = {"overall": views.gap_of(measure), "worst_1": views.worst_of(measure)}
    for name, gap in gaps.items():
        whole = views.of_all_rows(table, gap).iloc[0]
        row[name] = whole["value"]
        row[f"{name}_low"] = whole["low"]
        row[f"{name}_high"] = whole["high"]
    return row


class _Trial(NamedTuple):
    """A model on the test rows of one seed."""

    estimates: pd.DataFrame
    chance: float
    n: int
    deciding: dict[str, float]  # of `decision_facts`; empty where nothing is decided
    worst_k: float  # mean of the `SEVERAL` largest gaps, NaN of fewer
    chance_k: float


@lru_cache(maxsize=2000)
def _measured_trial(trial: Tested, measure: str) -> _Trial:
    local = local_measure(trial, measure)
    rows = trial.rows
    n_estimable = int(local.estimable.sum())
    chance = worst_k = chance_k = float("nan")
    if n_estimable:
        chance = local.noise_floor().quantile
    if n_estimable >= SEVERAL:
        worst_k = float(local.worst(SEVERAL).value)
        chance_k = float(local.noise_floor(k=SEVERAL).quantile)
    decides = catalog.measure_of(measure).outcome == "classes"
    return _Trial(
        local.estimates(),
        chance,
        rows.dataset.people_in(rows.where),
        decision_facts(rows, trial.model) if decides else {},
        worst_k,
        chance_k,
    )
