"""Any measure inside subgroups: its gaps, and what chance alone makes of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole
from fairdash.metrics.group.catalog import Array, measure_of
from fairdash.metrics.group.drawn import Drawn
from old_pipelines.group.cell_values import CellValues
from old_pipelines.group.counting import (
    Counts,
    divide,
    group_codes,
    people,
    subgroup_codes,
)
from old_pipelines.group.estimates import block, estimates
from old_pipelines.group.intervals import Bounds, Interval, check_confidence
from old_pipelines.group.measured import Measured
from old_pipelines.group.views import gap_of, ratio_of_measure, worst_of

_MOST_SHUFFLED = 10**9  # rows of a subgroup, of NumPy's hypergeometric draws
METHODS = {  # of the interval of a value, and of a gap, by kind of measure
    "rate": ("Wilson", "Newcombe"),
    "mean": ("by outcome", "Zou and Donner"),
    "area": ("DeLong", "Zou and Donner"),
}


class NoiseFloor(NamedTuple):
    """The k largest gaps of a model that is fair inside every subgroup.

    Attributes
    ----------
    mean : float
        What to expect of it: the upward bias of the maximum.
    quantile : float
        What it stays below in, by default, 95 % of samples of this size.
    samples : ndarray of shape (n_permutations,)
    """

    mean: float
    quantile: float
    samples: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LocalCells:
    """Rows by subgroup and group, sorted once for any number of models.

    Attributes
    ----------
    codes, group : int64 arrays of shape (n_rows,)
        Subgroup of every row, -1 for none, and its group.
    rows : int64 array of shape (subgroups, groups)
    reasons : tuple of str
        Why a subgroup is not estimable; empty where it is.
    """

    subgroups: tuple[str, ...]
    groups: tuple[str, ...]
    codes: NDArray[np.int64]
    group: NDArray[np.int64]
    rows: NDArray[np.int64]
    min_size: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many subgroups and groups there are."""
        return len(self.subgroups), len(self.groups)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The cell of every row, -1 for none."""
        cell = self.codes * len(self.groups) + self.group
        return np.where(self.codes >= 0, cell, -1)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why a subgroup is not estimable by its rows; empty where it is."""
        return tuple(_reason(rows, self.min_size) for rows in self.rows)

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Whether local gaps of each subgroup are reported."""
        return np.array([reason == "" for reason in self.reasons], dtype=bool)


def local_cells(
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    sample_weight: ArrayLike | None = None,
) -> LocalCells:
    """Sort rows by subgroup and group, to measure many models on the same rows.

    A row whose subgroup is missing is in none. Not estimable are those below
    ``min_size`` rows, and those with rows of one group only. From ``sample_weight``
    only counts of people are used.
    """
    check_whole("min_size", min_size, at_least=1)
    groups = group_codes(sensitive_features, sensitive_features)
    subgroup = subgroup_codes(subgroups, groups.codes)
    n_subgroups = len(subgroup.names)
    n_groups = len(groups.names)
    cell = subgroup.codes * n_groups + groups.codes
    inside = subgroup.codes >= 0
    counts = people("sample_weight", sample_weight, len(cell))
    if counts is not None:
        counts = counts[inside]
    sums = np.bincount(cell[inside], counts, minlength=n_subgroups * n_groups)
    rows = np.rint(sums).astype(np.int64)
    return LocalCells(
        subgroup.names,
        groups.names,
        subgroup.codes,
        groups.codes,
        rows.reshape(n_subgroups, n_groups),
        min_size,
    )


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
                or _reason(self.values.n[s], cells.min_size, support)
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

    def gaps(self) -> Array:
        """Return the largest difference inside every subgroup, NaN undefined."""
        return self._widest(self.reported().value)

    def worst(self, k: int = 1, *, confidence: float = 0.95) -> Interval:
        """Return the mean of the k largest gaps; its interval for k = 1, else NaN."""
        ends: Bounds = (np.array(np.nan), np.array(np.nan))
        if k == 1:
            ends = self.reported().largest_gap(confidence, axes=2)
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

    def _widest(self, value: Array) -> Array:
        """Return the largest less the smallest of the last axis; NaN is no value."""
        gap = _largest(value) + _largest(-value)
        n_defined = (~np.isnan(value)).sum(axis=-1)
        return np.where(n_defined > 1, gap, np.nan)


@dataclass(frozen=True, eq=False)
class LocalMeasure(LocalValues):
    """A measure of one model over all rows and by subgroup and group."""

    measured: Any = None  # the rows: `Measured`

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | Drawn,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        min_size: int = 50,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        cluster: ArrayLike | None = None,
    ) -> "LocalMeasure":
        """Compute a measure in all cells; arguments as in `measure_by_group`.

        Subgroups with fewer rows than ``min_size`` that the measure is about are not
        estimable.
        """
        measured = Measured.of(
            measure, y_true, y_pred, sample_weight, pos_label, cluster
        )
        group_codes(sensitive_features, measured.outcomes)  # as many as rows
        cells = local_cells(
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
            sample_weight=sample_weight,
        )
        values = measured.estimate(cells.place, cells.shape)
        return cls(measure, cells, values, measured)

    @cached_property
    def whole(self) -> CellValues:
        """The measure by group over all rows."""
        values: CellValues = self.measured.estimate(
            self.cells.group, (len(self.cells.groups),)
        )
        return values

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
        gap = Interval(self._widest(reported.value), *reported.largest_gap(confidence))
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
        return Interval(self._widest(whole.value), *ends)

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

        For a rate of independent rows without weights, groups are shuffled among the
        rows it is about. Else cells get independent errors of their own: groups that
        are alike in a mean may still differ in spread (Janssen 1997), and rows in their
        weights or units. The errors are Student's of as many degrees as there are
        units; where a cell has no error of its own, as a rate of 0, it is that of the
        subgroup scaled to its effective rows.
        """
        check_whole("n_permutations", n_permutations, at_least=1)
        check_confidence(quantile)
        rng = np.random.default_rng(random_state)
        estimable = self.estimable
        if not estimable.any():
            gaps = np.full((n_permutations, 0), np.nan)
        elif self._can_shuffle(self.values.n[estimable]):
            gaps = self._shuffled_gaps(n_permutations, rng)
        else:
            errors = self._errors()[estimable]
            normal = rng.standard_normal((n_permutations, *errors.shape))
            # Errors of a rate may add up to more than the largest gap there is.
            most = 1.0 if self.values.kind == "rate" else np.inf
            gaps = np.minimum(self._widest(normal * errors), most)
        samples = mean_of_largest(gaps, k)
        return NoiseFloor(
            float(samples.mean()), float(np.quantile(samples, quantile)), samples
        )

    def _can_shuffle(self, rows: NDArray[np.int64]) -> bool:
        """Return whether groups can be shuffled among the rows of each subgroup."""
        few = int(rows.sum(axis=1).max(initial=0)) < _MOST_SHUFFLED
        return bool(self.values.kind == "rate" and self.measured.plain and few)

    def _shuffled_gaps(self, times: int, rng: np.random.Generator) -> Array:
        """Return the gaps of each estimable subgroup after shuffles of its groups.

        A shuffle hands out the positive rows of a subgroup among its groups, as a
        multivariate hypergeometric draw does.
        """
        rows = self.values.n[self.estimable]
        counts = np.rint(self.values.value * self.values.n)
        positives = np.nan_to_num(counts[self.estimable]).sum(axis=1)
        shuffled = [
            rng.multivariate_hypergeometric(n, int(k), size=times)
            for n, k in zip(rows, positives, strict=True)
        ]
        return self._widest(divide(np.stack(shuffled, axis=1), rows))

    def _errors(self) -> Array:
        """Return the standard error of each cell of a model without gaps."""
        values = self.values
        cells = self.cells
        subgroup = self.measured.estimate(cells.codes, (len(cells.subgroups),))
        size_ratio = divide(subgroup.effective[:, None], values.effective)
        pooled = subgroup.error[:, None] * np.sqrt(size_ratio)
        use_cell = np.isfinite(values.error) & (values.error > 0)
        if values.kind == "rate":
            # A rate of few rows understates its spread: that of all rows is the least.
            use_cell &= values.error > pooled
        error = np.where(use_cell, values.error, pooled)
        if values.units is not None:
            degrees = np.maximum(values.units - 1, 3)
            # The standard deviation of Student's t, beside the normal's of 1.
            error = error * np.sqrt(degrees / (degrees - 2))
        return np.where(np.isnan(values.value), np.nan, error)


def mean_of_largest(gaps: Counts, k: int) -> Counts:
    """Return the mean of the ``k`` largest of the last axis; NaN if fewer exist."""
    check_whole("k", k, at_least=1)
    if gaps.shape[-1] < k:
        return np.full(gaps.shape[:-1], np.nan)
    # NaN counts as smaller than any gap; if it is among the k, the mean is NaN.
    filled = np.where(np.isnan(gaps), -np.inf, gaps)
    largest = np.partition(filled, -k, axis=-1)[..., -k:].mean(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _as_column(interval: Interval) -> Interval:
    """Return intervals of subgroups as a column, for the groups together."""
    return Interval(*(part[:, None] for part in interval))


def _largest(value: Array) -> Array:
    """Return the largest of the last axis, NaN where none is defined."""
    largest = np.where(np.isnan(value), -np.inf, value).max(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _reason(rows: NDArray[Any], min_size: int, support: str = "") -> str:
    """Return why the rows of a subgroup are too few, "" where they are enough."""
    total = int(rows.sum())
    suffix = f" {support}" if support else ""
    if total < min_size:
        unit = "row" if total == 1 else "rows"
        return f"{total:,} {unit}{suffix}"
    if (rows > 0).sum() == 1:
        return f"one group only{suffix}"
    return ""


def _undefined(missing: NDArray[np.bool_], groups: tuple[str, ...]) -> str:
    """Return for which groups a measure is undefined, "" if two have a value."""
    if (~missing).sum() > 1:
        return ""
    names = [name for name, absent in zip(groups, missing, strict=True) if absent]
    return f"undefined for {' and '.join(names)}"
