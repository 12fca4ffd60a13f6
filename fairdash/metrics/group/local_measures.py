"""Any measure inside subgroups: its gaps, and what chance alone makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_lengths, check_whole
from fairdash.metrics.group.catalog import measure_of
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.cells import Cells, DecidedRows
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.estimates import block, estimates
from fairdash.metrics.group.group_measure import GroupMeasure
from fairdash.metrics.group.intervals import Interval, check_confidence
from fairdash.metrics.group.local_cells import LocalCells, local_cells, reason_of
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.noise import (
    FairModel,
    NoiseFloor,
    mean_of_largest,
    widest_gap_of,
)
from fairdash.metrics.group.views import gap_of, ratio_of_measure, worst_of

METHODS = {  # of the interval of a value, and of a gap, by kind of measure
    "rate": ("Wilson", "Newcombe"),
    "mean": ("by outcome", "Zou and Donner"),
    "area": ("DeLong", "Zou and Donner"),
}


@dataclass(frozen=True, eq=False)
class LocalValues:
    """Values of a measure by subgroup and group, and the gaps between groups.

    A group without a value in a subgroup is in none of its pairs there.

    Attributes
    ----------
    values : CellValues of shape (subgroups, groups)
    """

    measure: str
    cells: LocalCells
    values: CellValues

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why a subgroup is not estimable; empty where it is."""
        cells = self.cells
        support = measure_of(self.measure).support
        reasons = []
        for s, reason_of_rows in enumerate(cells.reasons):
            # The first that applies: the subgroup, rows of the measure, the values.
            reason = (
                reason_of_rows
                or reason_of(self.values.n[s], cells.min_size, support)
                or _undefined(np.isnan(self.values.value[s]), cells.groups)
            )
            reasons.append(reason)
        return tuple(reasons)

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Whether the gap of each subgroup is reported."""
        return np.array([reason == "" for reason in self.reasons], dtype=bool)

    def reported(self) -> CellValues:
        """Return the estimates, NaN in subgroups that are not estimable."""
        return self.values.where(self.estimable[:, None])

    def gaps(self) -> FloatArray:
        """Return the largest difference inside every subgroup, NaN undefined."""
        return widest_gap_of(self.reported().value)

    def worst(self, k: int = 1, *, confidence: float = 0.95) -> Interval:
        """Return the mean of the k largest gaps with its interval."""
        ends = self.reported().largest_gap(confidence, axes=2, k=k)
        return Interval(mean_of_largest(self.gaps(), k), *ends)

    def table(
        self, *, confidence: float = 0.95, value: str = "value", gap: str = "gap"
    ) -> pd.DataFrame:
        """Return the gap between the groups' values inside every subgroup.

        Returns
        -------
        DataFrame, one row per subgroup: subgroup, n and ``n_<group>`` (rows that the
        measure is about), ``value_<group>``, gap, ci_low, ci_high (folded, of the
        largest difference), ratio (smallest over largest value; NaN for
        ``calibration``), ratio_low, ratio_high, estimable, reason (such as "11 rows
        with outcome 1"). Where not estimable gap, ratio and their intervals are NaN.
        """
        reported = self.reported()
        low, high = reported.largest_gap(confidence)
        ratio = reported.smallest_ratio(confidence)
        n = self.values.n
        n_columns = {f"n_{name}": n[:, k] for k, name in enumerate(self.cells.groups)}
        value_columns = {
            f"{value}_{name}": self.values.value[:, k]
            for k, name in enumerate(self.cells.groups)
        }
        return pd.DataFrame(
            {
                "subgroup": list(self.cells.subgroups),
                "n": n.sum(axis=1),
                **n_columns,
                **value_columns,
                gap: self.gaps(),
                "ci_low": low,
                "ci_high": high,
                "ratio": ratio.value,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "estimable": self.estimable,
                "reason": list(self.reasons),
            }
        )


@dataclass(frozen=True, eq=False)
class LocalMeasure(LocalValues):
    """A measure of one model over all rows and by subgroup and group."""

    counted: Any = None  # the rows by place: `Cells`

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | Drawn,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike | None,
        min_size: int = 50,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        cluster: ArrayLike | None = None,
    ) -> "LocalMeasure":
        """Compute a measure in all cells.

        Parameters
        ----------
        measure, y_true, y_pred, sensitive_features, sample_weight, pos_label, cluster
            As in `measure_by_group`.
        subgroups, min_size
            As in `local_cells`; with fewer rows that the measure is about than
            ``min_size`` a subgroup is not estimable.
        """
        local = local_cells(
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
            sample_weight=sample_weight,
        )
        of_each = cls.of_each(
            {measure: y_pred},
            y_true,
            local,
            sample_weight=sample_weight,
            pos_label=pos_label,
            cluster=cluster,
        )
        return of_each[measure]

    @classmethod
    def of_each(
        cls,
        predicted: Mapping[str, ArrayLike | Drawn],
        y_true: ArrayLike | None,
        local: LocalCells,
        **sampling: Any,
    ) -> "dict[str, LocalMeasure]":
        """Compute several measures of the same rows, which are counted once.

        ``predicted`` is what each measure takes of the model; measures of decisions
        share theirs. ``sampling`` are weights, units and label of `of`.
        """
        counted: Cells | None = None
        decided: Any = None
        by_measure = {}
        for measure, predictions in predicted.items():
            takes_decisions = measure_of(measure).takes == "decision"
            if counted is None or not takes_decisions or predictions is not decided:
                measured = Measured.of(measure, y_true, predictions, **sampling)
                check_lengths(measured.outcomes, local.codes)
                counted = measured.cells(local.place_of_row, local.n_places)
                decided = predictions if takes_decisions else None
            values = counted.estimate(measure, local.cell_of_place, local.shape)
            by_measure[measure] = cls(measure, local, values, counted)
        return by_measure

    @cached_property
    def whole(self) -> CellValues:
        """The measure by group over all rows."""
        cells = self.cells
        values: CellValues = self.counted.estimate(
            self.measure, cells.group_of_place, (len(cells.groups),)
        )
        return values

    @property
    def everyone(self) -> CellValues:
        """The measure over all rows and groups, a single cell."""
        one_cell = np.zeros(self.cells.n_places, np.int64)
        values: CellValues = self.counted.estimate(self.measure, one_cell, (1,))
        return values

    def of_same_rows(self, measure: str) -> "LocalMeasure":
        """Return another measure of the same decisions, which are not counted again."""
        cells = self.cells
        values = self.counted.estimate(measure, cells.cell_of_place, cells.shape)
        return replace(self, measure=measure, values=values)

    @property
    def decided_by_group(self) -> DecidedRows:
        """How many rows, or people, each group has, and how many are decided 1."""
        decided: DecidedRows = self.counted.decided_rows(
            self.cells.group_of_place, len(self.cells.groups)
        )
        return decided

    @property
    def by_group(self) -> GroupMeasure:
        """The measure by group over all rows, as tables have it."""
        return GroupMeasure(self.measure, self.cells.groups, self.whole)

    def estimates(
        self, *, model: str = "", seed: int | None = None, confidence: float = 0.95
    ) -> pd.DataFrame:
        """Return values, gaps and ratios over all rows and inside subgroups.

        A table of `fairdash.metrics.estimates`; with it the largest gap.
        """
        whole = self.whole.reshape(1, -1)
        local = self._blocks(
            self.values,
            self.reported(),
            self.cells.subgroups,
            self.reasons,
            confidence,
        )
        _, gap_method = METHODS[self.values.kind]
        largest = block(
            worst_of(self.measure),
            Interval(*(np.reshape(part, (1, 1)) for part in self.worst())),
            int(self.cells.rows.sum()),
            subgroups=[None],
            method=gap_method,
        )
        blocks = [
            *self._blocks(whole, whole, [None], [""], confidence),
            *local,
            largest,
        ]
        return estimates(blocks, model=model, seed=seed)

    def _blocks(
        self,
        values: CellValues,
        reported: CellValues,
        subgroups: Any,
        reasons: Any,
        confidence: float,
    ) -> list[Any]:
        """Return the blocks of values, of gaps and of ratios of some subgroups."""
        value_method, gap_method = METHODS[values.kind]
        gap = Interval(widest_gap_of(reported.value), *reported.largest_gap(confidence))
        ratio = reported.smallest_ratio(confidence)
        n_by_subgroup = values.n.sum(axis=1, keepdims=True)
        return [
            block(
                self.measure,
                values.interval(confidence),
                values.n,
                subgroups=subgroups,
                groups=self.cells.groups,
                method=value_method,
                reasons=reasons,
            ),
            block(
                gap_of(self.measure),
                _as_column(gap),
                n_by_subgroup,
                subgroups=subgroups,
                method=gap_method,
                reasons=reasons,
            ),
            block(
                ratio_of_measure(self.measure),
                _as_column(ratio),
                n_by_subgroup,
                subgroups=subgroups,
                method="Donner and Zou",
                reasons=reasons,
            ),
        ]

    def overall(self, *, confidence: float = 0.95) -> Interval:
        """Return the largest difference over all rows, with its interval."""
        whole = self.whole
        ends = whole.largest_gap(confidence)
        return Interval(widest_gap_of(whole.value), *ends)

    def between(
        self, group: str, than: str, *, subgroup: str | None = None, confidence: float
    ) -> Interval:
        """Return the value of a group less that of another, with its own interval.

        Over all rows, or inside a subgroup; NaN where that is not estimable.
        """
        cells = self._cells(subgroup)
        if cells is None:
            return Interval(*np.full(3, np.nan))
        first = self.cells.groups.index(group)
        second = self.cells.groups.index(than)
        return cells.between(first, second, confidence)

    def too_few(self, group: str, than: str, *, subgroup: str | None = None) -> bool:
        """Return whether two groups expect too few rows for a sentence to name them."""
        cells = self._cells(subgroup)
        if cells is None:
            return True
        first = self.cells.groups.index(group)
        second = self.cells.groups.index(than)
        return bool(cells.too_few(first, second))

    def comparable(self, subgroup: str | None = None) -> NDArray[np.bool_]:
        """Return which groups have enough rows for a pair with some other group."""
        cells = self._cells(subgroup)
        if cells is None:
            return np.zeros(len(self.cells.groups), dtype=bool)
        return cells.comparable()

    def is_widest(
        self, highest: str, lowest: str, *, subgroup: str | None = None
    ) -> bool:
        """Return whether one group has the largest value and another the smallest.

        Over all rows or inside a subgroup; there also where it has no gap at all.
        """
        cells = self._cells(subgroup)
        if cells is None or (~np.isnan(cells.value)).sum() < 2:
            return True
        if not {highest, lowest} <= set(self.cells.groups):
            return False
        high = cells.value[self.cells.groups.index(highest)]
        low = cells.value[self.cells.groups.index(lowest)]
        return bool(high == np.nanmax(cells.value) and low == np.nanmin(cells.value))

    def is_largest(self, subgroup: str) -> bool:
        """Return whether no other subgroup has a larger gap; so where none has any."""
        gaps = self.gaps()
        if np.isnan(gaps).all():
            return True
        if subgroup not in self.cells.subgroups:
            return False
        return bool(gaps[self.cells.subgroups.index(subgroup)] == np.nanmax(gaps))

    def _cells(self, subgroup: str | None) -> CellValues | None:
        """Return the estimates by group of all rows, or inside a subgroup."""
        if subgroup is None:
            return self.whole
        if subgroup not in self.cells.subgroups:
            return None
        return self.reported().at(self.cells.subgroups.index(subgroup))

    def noise_floor(
        self,
        *,
        k: int = 1,
        n_permutations: int = 1000,
        quantile: float = 0.95,
        random_state: int | None = 0,
    ) -> NoiseFloor:
        """Return the largest gaps of a model that is fair inside every subgroup.

        See `fairdash.metrics.group.noise`.
        """
        check_whole("n_permutations", n_permutations, at_least=1)
        check_confidence(quantile)
        rng = np.random.default_rng(random_state)
        gaps = self._fair().gaps(n_permutations, rng)
        samples = mean_of_largest(gaps, k)
        return NoiseFloor(
            float(samples.mean()), float(np.quantile(samples, quantile)), samples
        )

    def _fair(self) -> FairModel:
        """Return a model like this one that is fair inside every subgroup."""
        cells = self.cells
        return FairModel(
            self.values.at(self.estimable),
            self.counted.estimate(
                self.measure, cells.subgroup_of_place, (len(cells.subgroups), 1)
            ).at(self.estimable),
            independent=self.counted.sample.plain,
        )


def _as_column(interval: Interval) -> Interval:
    """Return intervals of subgroups as a column, for the groups together."""
    return Interval(*(part[:, None] for part in interval))


def _undefined(missing: NDArray[np.bool_], groups: tuple[str, ...]) -> str:
    """Return for which groups a measure is undefined, "" if two have a value."""
    if (~missing).sum() > 1:
        return ""
    names = [name for name, absent in zip(groups, missing, strict=True) if absent]
    return f"undefined for {' and '.join(names)}"
