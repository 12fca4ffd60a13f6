"""A measure of a model by group: what it takes, and who is farthest apart."""

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from fairdash._change import excludes_zero
from fairdash._deciding import MOST_SEEDS
from fairdash.audits.trials.memo import memoised
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Tested, TrialRows, tested
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    TOO_FEW,
    Drawn,
    Finding,
    LocalMeasure,
    Speech,
    calibration_curve,
    catalog,
    intervals,
    measure_gaps,
)
from fairdash.scored import ScoredModel
from fairdash.store import Store

_ALL = Subgroups()


def asked_of(
    rows: TrialRows, model: ScoredModel, measure: str, *, inside: bool = False
) -> dict[str, Any]:
    """Return what the functions of `fairdash.metrics` take to measure a model on rows.

    ``inside`` subgroups, else over all of the rows.
    """
    groups = rows.groups
    if not inside:
        groups = {"sensitive_features": groups["sensitive_features"]}
    y: Any = rows.y
    predicted: Any
    kind = catalog.measure_of(measure)
    if kind.outcome != "classes":
        y, predicted = rows.numbers(model, measure)
    elif kind.takes == "rank":
        predicted = rows.ranks(model)
    elif kind.takes == "probability":
        predicted = rows.scores(model)
    else:
        predicted = rows.decisions(model)
    return {
        "measure": measure,
        "y_true": y,
        "y_pred": predicted,
        **rows.sampling,
        **groups,
    }


def other_measures(store: Store, model: Setting, dataset_id: str) -> list[str]:
    """Return the measures of a model that are not of two classes.

    A column of numbers has errors where the outcome is a number; scores rank the rows.
    """
    score = model.score
    if score is not None and score.kind == "decision":
        return []
    numbers = catalog.NUMBER_MEASURES if _of_numbers(store, model, dataset_id) else ()
    return [*numbers, *catalog.RANKING_MEASURES]


def opening_measure(
    store: Store, model: Setting, dataset_id: str, measure: str = "selection_rate"
) -> str:
    """Return the measure that an audit of own scores opens at.

    That is the mean error of predicted numbers, and the false positive rate where a
    positive outcome is bad news, else ``measure``.
    """
    if _of_numbers(store, model, dataset_id):
        return measure if measure in catalog.NUMBER_MEASURES else "mean_error"
    roles = store.dataset(dataset_id).roles
    unfavourable = roles.positive_is == "unfavourable"
    return "false_positive_rate" if unfavourable else measure


def _of_numbers(store: Store, model: Setting, dataset_id: str) -> bool:
    score = model.score
    numbers = store.dataset(dataset_id).outcome_numbers
    return score is not None and score.kind == "score" and numbers is not None


def recalibrated(model: Setting, measure: str) -> str:
    """Say how deciles become probabilities where a measure takes these; else ""."""
    score = model.score
    graded = score is not None and score.kind == "score"
    takes = catalog.measure_of(measure).takes
    return catalog.RECALIBRATED if graded and takes == "probability" else ""


@memoised(2000)
def values_of(
    store: Store, model: Setting, dataset_id: str, measure: str
) -> pd.DataFrame:
    """Return value by group, over seeds, and how often a group is large enough."""
    tables = []
    for trial in tested(store, model, dataset_id, _ALL):
        local = local_measure(trial, measure)
        columns = {"value": local.whole.value, "large": local.comparable()}
        table = pd.DataFrame(columns, index=local.cells.groups)
        tables.append(table.astype(float))
    mean = pd.concat(tables).groupby(level=0).mean()
    return mean.reindex(store.dataset(dataset_id).group_names)


def widest_gap(
    store: Store,
    model: Setting,
    dataset_id: str,
    measure: str = "selection_rate",
    *,
    favourable: bool = True,
    reference: str | None = None,
) -> Finding:
    """Return who is furthest over all rows from a group, by default the best off.

    A gap that is sure comes before a larger one that is not. Over several seeds the gap
    and the ends of its interval are means. The interval holds for all pairs of groups
    at once, since this one is named for its gap.

    Returns
    -------
    Finding, of that group less the other
    """
    table = values_of(store, model, dataset_id, measure)
    values = table["value"].to_numpy(np.float64)
    best = reference
    if best is None:
        of_large_groups = np.where(table["large"] >= MOST_SEEDS, values, np.nan)
        index = catalog.best_off(measure, of_large_groups, favourable=favourable)
        best = store.dataset(dataset_id).group_names[index]
    level = intervals.for_all_pairs(
        0.95, int(np.isfinite(values).sum()), held=reference is not None
    )
    gaps = pd.concat(
        [
            gaps_of(trial, measure, best, level)
            for trial in tested(store, model, dataset_id, _ALL)
        ]
    )
    numbers = ["difference", "ci_low", "ci_high", "n", "too_few"]
    by_group = gaps.groupby("group", sort=False)[numbers].mean().reset_index()
    clear = excludes_zero(by_group["ci_low"], by_group["ci_high"])
    clear &= by_group["too_few"] <= MOST_SEEDS
    if clear.any():
        by_group = by_group[clear]
    widest = by_group.iloc[int(by_group["difference"].abs().fillna(-1).argmax())]
    too_few = bool(widest["too_few"] > MOST_SEEDS)
    sure = bool(excludes_zero(widest["ci_low"], widest["ci_high"])) and not too_few
    reason = ""
    if too_few:
        reason = TOO_FEW
    elif not sure:
        reason = "the interval reaches 0"
    return Finding(
        measure,
        None,
        str(widest["group"]),
        best,
        widest["difference"],
        widest["ci_low"],
        widest["ci_high"],
        round(widest["n"]),
        sure,
        reason,
    )


def speech_of(store: Store, dataset_id: str) -> Speech:
    """Return what a data set calls a positive prediction, and its groups."""
    roles = store.dataset(dataset_id).roles
    favourable = {"favourable": True, "unfavourable": False}.get(
        roles.positive_is or ""
    )
    return Speech.of(roles.spoken_outcome(), roles.group_prefix(), favourable)


def calibration_of(store: Store, model: Setting, dataset_id: str) -> pd.DataFrame:
    """Return the calibration curve of a model by group, on the first of its seeds.

    Of a score column the curve is of the score as it stands in the table.
    """
    return _calibration(tested(store, model, dataset_id, _ALL)[0])


@lru_cache(maxsize=500)
def _calibration(trial: Tested) -> pd.DataFrame:
    rows = trial.rows
    groups = rows.groups["sensitive_features"]
    scores = rows.raw_scores(trial.model)
    return calibration_curve(rows.y, scores, sensitive_features=groups, **rows.sampling)


@lru_cache(maxsize=64)  # a page asks the same again at every move
def local_measure(trial: Tested, measure: str) -> LocalMeasure:
    """Return a measure of a trial by group, over all rows and inside subgroups."""
    return LocalMeasure.of(**asked_of(trial.rows, trial.model, measure, inside=True))


@lru_cache(maxsize=2000)
def gaps_of(
    trial: Tested,
    measure: str,
    reference: str,
    confidence: float,
    rejected: bool = False,
) -> pd.DataFrame:
    """Return `measure_gaps` of a trial, or of its ``rejected`` rows."""
    if not rejected:
        of_groups = local_measure(trial, measure).by_group
        return of_groups.gaps(reference=reference, confidence=confidence)
    options = asked_of(trial.rows, trial.model, measure)
    decisions = options["y_pred"]
    if isinstance(decisions, Drawn):
        options["y_pred"] = decisions.rejected
    else:
        options["y_pred"] = 1 - decisions
    return measure_gaps(**options, reference=reference, confidence=confidence)
