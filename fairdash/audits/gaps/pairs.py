"""The groups that are farthest apart inside each subgroup, over seeds of a model."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import MOST_SEEDS
from fairdash._wording import NO_SUBGROUPS
from fairdash.metrics import TOO_FEW, Finding, LocalMeasure, intervals, views

_SURE = 0.975  # confidence at which a finding is sure


def farthest_pairs(
    by_seed: Sequence[LocalMeasure], measure: str, table: pd.DataFrame
) -> tuple[Finding, ...]:
    """Return in each estimable subgroup the groups that are farthest apart.

    They are farthest by their mean values over seeds, and the higher one comes first.
    The interval holds for all pairs of groups in all estimable subgroups at once, since
    pair and subgroup are named for their gap.

    Parameters
    ----------
    by_seed : sequence of LocalMeasure
        The measure of one model on the test rows of each of its seeds.
    table : DataFrame
        Of `fairdash.metrics.views.over_seeds`.
    """
    estimable = set(views.gap_table(table, measure).query("estimable")["subgroup"])
    cells = views.value_table(table, measure).dropna(subset="value")
    cells = cells[cells["subgroup"].isin(estimable)]
    if cells.empty:
        return ()
    seeds = [_Pairs(local) for local in by_seed]
    findings = [
        _farthest_pair(seeds, measure, str(subgroup), in_subgroup)
        for subgroup, in_subgroup in cells.groupby("subgroup")
    ]
    return tuple(finding for finding in findings if finding is not None)


def _farthest_pair(
    seeds: Sequence["_Pairs"], measure: str, subgroup: str, cells: pd.DataFrame
) -> Finding | None:
    """Return the finding of one subgroup; None where its groups do not differ."""
    share_of_seeds = np.array(
        [
            np.mean([pairs.is_large(subgroup, group) for pairs in seeds])
            for group in cells["group"]
        ]
    )
    large = cells[share_of_seeds >= MOST_SEEDS]
    compared = cells if large.empty else large
    values = compared["value"].to_numpy()
    groups = compared["group"].astype(str).to_numpy()
    highest = str(groups[values.argmax()])
    lowest = str(groups[values.argmin()])
    if highest == lowest:
        return None
    pair = subgroup, highest, lowest
    low, high = _mean_ends(seeds, pair, 0.95)
    low_of_sure, _ = _mean_ends(seeds, pair, _SURE)
    too_few = any(pairs.too_few(pair) for pairs in seeds)
    return Finding(
        measure,
        None if subgroup == NO_SUBGROUPS else subgroup,
        highest,
        lowest,
        float(np.ptp(values)),
        low,
        high,
        round(cells["n"].sum()),
        bool(low_of_sure > 0) and not too_few,
        TOO_FEW if too_few else "",
    )


def _mean_ends(
    seeds: Sequence["_Pairs"], pair: tuple[str, str, str], confidence: float
) -> tuple[float, float]:
    """Return the ends of a gap, means over the seeds in which it is estimable."""
    ends = pd.DataFrame([pairs.ends(pair, confidence) for pairs in seeds])
    low, high = ends.mean()
    return float(low), float(high)


class _Pairs:
    """Differences of all pairs of groups in all subgroups of a trial, at once.

    A pair is asked for by subgroup, group and the group that is taken off it.
    """

    def __init__(self, local: LocalMeasure) -> None:
        groups = local.cells.groups
        sides = list(itertools.permutations(range(len(groups)), 2))
        self._subgroup_index = {name: i for i, name in enumerate(local.cells.subgroups)}
        self._group_index = {name: i for i, name in enumerate(groups)}
        self._pair_index = {pair: i for i, pair in enumerate(sides)}
        self._sides = np.array(sides, dtype=np.int64).reshape(-1, 2).T
        self._n_estimable = int(local.estimable.sum())
        self._cells = local.reported()
        self._large = self._cells.comparable()
        first, second = self._sides
        self._too_few = self._cells.too_few(first, second)
        self._ends: dict[float, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def is_large(self, subgroup: str, group: str) -> bool:
        """Return whether a group has enough rows in a subgroup for some pair."""
        if subgroup not in self._subgroup_index or group not in self._group_index:
            return False
        index = self._subgroup_index[subgroup], self._group_index[group]
        return bool(self._large[index])

    def too_few(self, pair: tuple[str, str, str]) -> bool:
        """Return whether two groups expect too few rows for a sentence to name them."""
        index = self._index(pair)
        return index is None or bool(self._too_few[index])

    def ends(
        self, pair: tuple[str, str, str], confidence: float
    ) -> tuple[float, float]:
        """Return the ends of a difference; the intervals of all pairs hold at once."""
        index = self._index(pair)
        if index is None:
            return np.nan, np.nan
        if confidence not in self._ends:
            n_groups = len(self._group_index)
            level = intervals.for_all_pairs(
                confidence, n_groups, times=self._n_estimable
            )
            first, second = self._sides
            between = self._cells.between(first, second, level)
            self._ends[confidence] = between.low, between.high
        low, high = self._ends[confidence]
        return float(low[index]), float(high[index])

    def _index(self, pair: tuple[str, str, str]) -> tuple[int, int] | None:
        subgroup, group, reference = pair
        if subgroup not in self._subgroup_index:
            return None
        if not {group, reference} <= self._group_index.keys():
            return None
        sides = self._group_index[group], self._group_index[reference]
        return self._subgroup_index[subgroup], self._pair_index[sides]
