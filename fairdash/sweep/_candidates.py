"""Candidates of a certified choice: models that decide at 0.5.

They are put in order without the test rows, on which
`fairdash.sweep.choose_certified` tests them: there decisions are only counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import RowCounts, people_of
from fairdash.metrics import (
    Drawn,
    Measured,
    catalog,
    chances,
    counting,
    decision_status,
)
from fairdash.sweep._certified import COLUMNS, OVERALL, limit_of, measures_of
from fairdash.sweep._front import pareto_front

_MIDDLE = 0.5


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that candidates decide.

    Attributes
    ----------
    y : array of 0/1, (n_rows,)
    groups : int array of shape (n_rows,)
        From 0 on, the same numbers in both parts.
    inside : mapping of str to bool array, (n_rows,)
        The rows of every subgroup in which a limit is to hold.
    sample_weight : array of shape (n_rows,), optional
    unit : array of shape (n_rows,), optional
        Such as a person with several rows.
    """

    y: NDArray[Any]
    groups: NDArray[np.int64]
    inside: Mapping[str, NDArray[np.bool_]]
    sample_weight: NDArray[np.float64] | None = None
    unit: NDArray[Any] | None = None

    def counts(self, decided: NDArray[Any], measure: str) -> pd.DataFrame:
        """Return subgroup, group, n and positives of a rate of decisions, (n_rows,).

        Positives of error costs are their sum; those of chances of decisions are the
        expected number.
        """
        costs = catalog.error_costs(measure)
        everyone = np.ones(len(self.y), bool)
        about = everyone
        value = np.asarray(decided, np.float64)
        if costs is None:
            # The rate of a measure may be over the rows of one outcome only.
            is_counted, *_ = catalog.rate_of(measure)
            about = is_counted(self.y, np.ones(len(self.y)))
        else:
            # The cost of each row as a share of the larger cost, so at most 1.
            y = np.asarray(self.y, np.float64)
            cost = costs[0] * value * (1 - y) + costs[1] * (1 - value) * y
            value = cost / max(costs)
        present = np.unique(self.groups)
        people = people_of(self.sample_weight)
        tables = []
        for name, within in {OVERALL: everyone, **self.inside}.items():
            chosen = about & within
            groups = self.groups[chosen]
            counted = value[chosen]
            times = None
            if people is not None:
                times = people[chosen]
                counted = counted * times
            size = np.bincount(groups, times, minlength=present[-1] + 1)
            positive = np.bincount(groups, counted, present[-1] + 1)
            n = np.rint(size[present]).astype(np.int64)
            cells = {"n": n, "positives": positive[present]}
            tables.append(pd.DataFrame({"group": present, **cells, "subgroup": name}))
        return pd.concat(tables, ignore_index=True)

    def tested(self, decided: NDArray[np.bool_], measure: str) -> pd.DataFrame:
        """Return the rows of one model for `choose_certified`.

        That is counts, and with weights or units rates with their variances.
        """
        counts = self.counts(decided, measure).assign(measure=measure)
        # Counts of people are rows; sampling weights are not.
        is_sample = self.sample_weight is not None and not isinstance(
            self.sample_weight, RowCounts
        )
        if not is_sample and self.unit is None:
            return counts
        measured = Measured.of(
            measure, self.y, decided, self.sample_weight, cluster=self.unit
        )
        shape = (int(self.groups.max()) + 1,)
        parts = []
        for name in counts["subgroup"].unique():
            within = self.inside.get(name, np.ones(len(self.y), bool))
            estimate = measured.estimate(np.where(within, self.groups, -1), shape)
            units = estimate.n if estimate.units is None else estimate.units
            most = max(catalog.error_costs(measure) or (1.0,))
            numbers_by_group = {
                "rate": estimate.value / most,
                "variance": (estimate.error / most) ** 2,
                "units": units,
            }
            groups = counts.loc[counts["subgroup"] == name, "group"]
            parts.append(pd.DataFrame(numbers_by_group).loc[groups])
        numbers = pd.concat(parts, ignore_index=True)
        return pd.concat([counts, numbers], axis=1)

    def gaps(self, decided: NDArray[Any], measure: str) -> "pd.Series[float]":
        """Return the gap between groups over all rows and in every subgroup."""
        cells = self.counts(decided, measure)
        cells["rate"] = counting.divide(
            cells["positives"].to_numpy(), cells["n"].to_numpy()
        )
        return cells.groupby("subgroup", sort=False)["rate"].agg(np.ptp)


def candidate_table(
    models: Sequence[int],
    scores: Callable[[int], tuple[NDArray[Any] | Drawn, NDArray[Any]]],
    parts: tuple[Part, Part],
    *,
    limits: Mapping[str, float],
    local: Mapping[int, float] | None = None,
) -> pd.DataFrame:
    """Return the table for `choose_certified`: models on the front, counted.

    The front is of accuracy against the largest gap, in units of its limit, over the
    models that decide, all on validation rows.

    Parameters
    ----------
    models : sequence of int
        By which the table names them.
    scores : callable
        From a model to its scores of validation and of test rows. For a random mixture
        the former may be `Drawn`, and the latter are decisions once drawn: the test
        counts decisions.
    parts : pair of `Part`
        Validation rows and test rows.
    local : mapping of int to float, optional
        Local gaps of each model in units of their limit, judged by other rows.
    """
    validation, test = parts
    weight = validation.sample_weight
    # Where local gaps are judged by other rows, these judge the gaps over all rows.
    judged = validation if local is None else replace(validation, inside={})
    axes = ("validation_worst_1_di", "validation_accuracy")
    ranked = []
    for model in models:
        validation_scores, _ = scores(model)
        decided = validation_scores
        if not isinstance(decided, Drawn):
            decided = decided > _MIDDLE
        status = decision_status(validation.y, decided, sample_weight=weight)
        if status["status"].iloc[0]:
            continue
        chance = chances("scores", decided)
        chance_of_right = 1 - np.abs(chance - validation.y)
        accuracy = np.average(chance_of_right, weights=weight)
        share = _share(judged, chance, limits)
        if local is not None:
            share = max(share, local[model])
        ranked.append([model, share, float(accuracy)])
    if not ranked:
        return pd.DataFrame(columns=COLUMNS)
    front = pareto_front(pd.DataFrame(ranked, columns=["model", *axes]), axes=axes)
    tables = []
    for model, gap, accuracy in front[["model", *axes]].itertuples(index=False):
        _, test_scores = scores(model)
        decided = test_scores > _MIDDLE
        for measure in measures_of(limits):
            tested = test.tested(decided, measure)
            tables.append(tested.assign(model=model, accuracy=accuracy, gap=gap))
    table = pd.concat(tables, ignore_index=True)
    return table[[*COLUMNS, *table.columns.drop(list(COLUMNS))]]


def _share(part: Part, decided: NDArray[Any], limits: Mapping[str, float]) -> float:
    """Return the largest gap in units of its limit."""
    shares = []
    for measure in measures_of(limits):
        for name, gap in part.gaps(decided, measure).items():
            limit = limit_of(str(name), limits, measure)
            if limit is not None:
                shares.append(gap / limit)
    return float(np.max(shares, initial=0.0))
