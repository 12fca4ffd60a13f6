"""Trials by a measure: what it is computed from, ratios, and pairs a sentence names."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash import metrics
from fairdash.datasets import Subgroups
from fairdash.metrics import (
    SCORE_MEASURES,
    Interval,
    LocalMeasure,
    for_all_pairs,
    ratio_interval,
)
from fairdash.results.models import Setting
from fairdash.results.rows import Rows, Tested, tested
from fairdash.store import Store


def predicted(rows: Rows, key: str, measure: str) -> Any:
    """Return what a measure of a trial is computed from on some rows."""
    if measure == "auc":
        return rows.ranks(key)
    return rows.scores(key) if measure in SCORE_MEASURES else rows.predictions(key)


@lru_cache(maxsize=64)  # a page asks the same again at every move
def measured_locally(
    trial: Tested, measure: str, reference: str | None
) -> LocalMeasure:
    """Return a measure of a trial by subgroup and group."""
    key, rows = trial.key, trial.rows
    return LocalMeasure.of(
        measure,
        rows.y,
        predicted(rows, key, measure),
        reference=reference,
        sample_weight=rows.sample_weight,
        folds=rows.folds(key),
        **rows.groups,
    )


class NamedPair(NamedTuple):
    """The interval of a pair of groups that a sentence names.

    It holds for all pairs at once, in all estimable subgroups where it is inside one:
    the pair and the subgroup are named for their gap.
    """

    trials: Sequence[Tested]
    measure: str
    reference: str | None

    def ends(
        self, one: str, other: str, subgroup: str | None = None
    ) -> tuple[float, float]:
        """Return the ends for the value of ``one`` less that of ``other``.

        Means over the seeds in which the pair has both values.
        """
        found = []
        for trial in self.trials:
            local = measured_locally(trial, self.measure, self.reference)
            sure = for_all_pairs(
                0.95,
                len(local.cells.groups),
                held=self.reference is not None,
                times=1 if subgroup is None else int(local.estimable.sum()),
            )
            found.append(
                local.between(one, other, subgroup=subgroup, confidence=sure)[1:]
            )
        low, high = np.nanmean(found, axis=0)
        return float(low), float(high)


def local_ratios(
    store: Store,
    model: Setting,
    dataset_id: str,
    subgroups: Subgroups,
    measure: str = "selection_rate",
    reference: str | None = None,
) -> pd.DataFrame:
    """Return the smallest over the largest value of the groups, inside subgroups.

    With a ``reference`` the smallest value of the other groups over that of this one.
    Over several seeds numbers are means over those in which a subgroup is estimable,
    which must be half of them.

    Returns
    -------
    DataFrame of subgroup, n, ratio, ratio_low, ratio_high, estimable, reason; first of
    all rows, then one row per subgroup. NaN for ``calibration``, which has signs.
    """
    trials = tested(store, model, dataset_id, subgroups)
    tables = pd.concat([_ratios(trial, measure, reference) for trial in trials])
    by = tables.groupby("subgroup", sort=False, observed=True)
    mean = by[["n", "ratio", "ratio_low", "ratio_high"]].mean()
    estimable = 2 * by["estimable"].sum() >= len(trials)
    mean[["ratio", "ratio_low", "ratio_high"]] = mean.drop(columns="n").where(estimable)
    mean["estimable"] = estimable & mean["ratio"].notna()
    mean["reason"] = by["reason"].max().replace("", "undefined")
    return mean.reset_index()


@lru_cache(maxsize=2000)
def ratio_of_all(trial: Tested, measure: str, reference: str | None) -> Interval:
    """Return the smallest over the largest value over all rows of a trial."""
    rows = trial.rows
    return ratio_interval(
        measure,
        rows.y,
        predicted(rows, trial.key, measure),
        sensitive_features=rows.groups["sensitive_features"],
        reference=reference,
        sample_weight=rows.sample_weight,
        folds=rows.folds(trial.key),
    )


@lru_cache(maxsize=500)
def _ratios(trial: Tested, measure: str, reference: str | None) -> pd.DataFrame:
    rows, key = trial.rows, trial.key
    return metrics.local_ratios(
        measure,
        rows.y,
        predicted(rows, key, measure),
        sample_weight=rows.sample_weight,
        folds=rows.folds(key),
        reference=reference,
        **rows.groups,
    )
