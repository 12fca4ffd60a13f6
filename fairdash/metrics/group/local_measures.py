"""Any measure inside subgroups: its gaps, and what chance alone makes of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole
from fairdash.metrics.group.catalog import Array, measure_of
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import (
    Counts,
    divide,
    group_codes,
    people,
    subgroup_codes,
)
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.estimates import block, estimates
from fairdash.metrics.group.intervals import Bounds, Interval, check_confidence
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.views import gap_of, ratio_of_measure, worst_of

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
        return np.where(self.codes >= 0, self.codes * len(self.groups) + self.group, -1)

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

    A missing subgroup is none. Not estimable are those below ``min_size`` rows, and
    those with rows of one group only. Of ``sample_weight`` only counts of people count.
    """
    check_whole("min_size", min_size, at_least=1)
    groups = group_codes(sensitive_features, sensitive_features)
    named = subgroup_codes(subgroups, groups.codes)
    shape = len(named.names), len(groups.names)
    place = named.codes * shape[1] + groups.codes
    inside = named.codes >= 0
    counts = people("sample_weight", sample_weight, len(place))
    counts = None if counts is None else counts[inside]
    sums = np.bincount(place[inside], counts, minlength=shape[0] * shape[1])
    rows = np.rint(sums).astype(np.int64)
    return LocalCells(
        named.names,
        groups.names,
        named.codes,
        groups.codes,
        rows.reshape(shape),
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
        words, groups = measure_of(self.measure).support, self.cells.groups
        return tuple(
            by_rows
            or _reason(rows, self.cells.min_size, words)
            or _undefined(np.isnan(value), groups)
            for by_rows, rows, value in zip(
                self.cells.reasons, self.values.n, self.values.value, strict=True
            )
        )

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Whether the gap of each subgroup is reported."""
        return np.array([reason == "" for reason in self.reasons], dtype=bool)

    def reported(self) -> CellValues:
        """Return the estimates, NaN in subgroups that are not estimable."""
        return self.values.where(self.estimable[:, None])

    def gaps(self) -> Array:
        """Return the largest difference inside every subgroup, NaN undefined."""
        return self._apart(self.reported().value)

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
        shown = self.reported()
        low, high = shown.largest_gap(confidence)
        named, n = list(enumerate(self.cells.groups)), self.values.n
        ratio = shown.smallest_ratio(confidence)
        return pd.DataFrame(
            {
                "subgroup": list(self.cells.subgroups),
                "n": n.sum(axis=1),
                **{f"n_{name}": n[:, k] for k, name in named},
                **{f"{value}_{name}": self.values.value[:, k] for k, name in named},
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

    def _apart(self, value: Array) -> Array:
        apart = _largest(value) + _largest(-value)
        several = (~np.isnan(value)).sum(axis=-1) > 1
        return np.where(several, apart, np.nan)


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
        whole, places = self.whole.reshape(1, -1), self.cells.subgroups
        largest = block(
            worst_of(self.measure),
            Interval(*(np.reshape(part, (1, 1)) for part in self.worst())),
            int(self.cells.rows.sum()),
            subgroups=[None],
            method=METHODS[self.values.kind][1],
        )
        blocks = [
            *self._blocks(whole, whole, [None], [""], confidence),
            *self._blocks(
                self.values, self.reported(), places, self.reasons, confidence
            ),
            largest,
        ]
        return estimates(blocks, model=model, seed=seed)

    def _blocks(
        self,
        values: CellValues,
        shown: CellValues,
        subgroups: Any,
        reasons: Any,
        confidence: float,
    ) -> list[Any]:
        kind, n = METHODS[values.kind], values.n
        gap = Interval(self._apart(shown.value), *shown.largest_gap(confidence))
        ratio = shown.smallest_ratio(confidence)
        about: dict[str, Any] = {"subgroups": subgroups, "reasons": reasons}
        together = {**about, "n": n.sum(axis=1, keepdims=True)}
        return [
            block(
                self.measure,
                values.interval(confidence),
                n,
                groups=self.cells.groups,
                method=kind[0],
                **about,
            ),
            *(
                block(
                    name,
                    Interval(*(part[:, None] for part in interval)),
                    method=method,
                    **together,
                )
                for name, interval, method in (
                    (gap_of(self.measure), gap, kind[1]),
                    (ratio_of_measure(self.measure), ratio, "Donner and Zou"),
                )
            ),
        ]

    def overall(self, *, confidence: float = 0.95) -> Interval:
        """Return the largest difference over all rows, with its interval."""
        whole = self.whole
        ends = whole.largest_gap(confidence)
        return Interval(self._apart(whole.value), *ends)

    def between(
        self, group: str, than: str, *, subgroup: str | None = None, confidence: float
    ) -> Interval:
        """Return the value of a group less that of another, with its own interval.

        Over all rows, or inside a subgroup; NaN where that is not estimable.
        """
        cells = self._cells(subgroup)
        if cells is None:
            return Interval(*np.full(3, np.nan))
        first, second = map(self.cells.groups.index, (group, than))
        return cells.between(first, second, confidence)

    def too_few(self, group: str, than: str, *, subgroup: str | None = None) -> bool:
        """Tell whether two groups expect too few rows for a sentence to name them."""
        cells, pair = self._cells(subgroup), map(self.cells.groups.index, (group, than))
        return cells is None or bool(cells.too_few(*pair))

    def comparable(self, subgroup: str | None = None) -> NDArray[np.bool_]:
        """Return which groups have enough rows for a pair with some other group."""
        cells = self._cells(subgroup)
        nowhere = np.zeros(len(self.cells.groups), dtype=bool)
        return nowhere if cells is None else cells.comparable()

    def _cells(self, subgroup: str | None) -> CellValues | None:
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

        Of a rate of independent rows without weights, groups are shuffled among the
        rows it is about. Else cells get independent errors of their own: groups that
        are alike in a mean may still differ in spread (Janssen 1997), and rows in their
        weights or units. The errors are Student's of as many degrees as there are
        units; where a cell has no error of its own, as a rate of 0, it is that of the
        subgroup scaled to its effective rows.
        """
        check_whole("n_permutations", n_permutations, at_least=1)
        check_confidence(quantile)
        rng = np.random.default_rng(random_state)
        some, own = self.estimable, self.values
        if not some.any():
            drawn = np.full((n_permutations, 0), np.nan)
        elif self._shuffled(own.n[some]):
            rows = own.n[some]
            positives = np.nan_to_num(np.rint(own.value * own.n)[some]).sum(axis=1)
            handed_out = [
                rng.multivariate_hypergeometric(n, int(k), size=n_permutations)
                for n, k in zip(rows, positives, strict=True)
            ]
            drawn = self._apart(divide(np.stack(handed_out, axis=1), rows))
        else:
            errors = rng.standard_normal((n_permutations, *own.value[some].shape))
            most = 1.0 if own.kind == "rate" else np.inf
            drawn = np.minimum(self._apart(errors * self._errors()[some]), most)
        samples = mean_of_largest(drawn, k)
        mean, high = float(samples.mean()), float(np.quantile(samples, quantile))
        return NoiseFloor(mean, high, samples)

    def _shuffled(self, rows: NDArray[np.int64]) -> bool:
        """Whether groups can be shuffled among the rows of each subgroup."""
        few = int(rows.sum(axis=1).max(initial=0)) < _MOST_SHUFFLED
        return bool(self.values.kind == "rate" and self.measured.plain and few)

    def _errors(self) -> Array:
        own, cells = self.values, self.cells
        whole = self.measured.estimate(cells.codes, (len(cells.subgroups),))
        fewer = divide(whole.effective[:, None], own.effective)
        pooled = whole.error[:, None] * np.sqrt(fewer)
        sure = np.isfinite(own.error) & (own.error > 0)
        if own.kind == "rate":  # few rows say less of their spread than all do
            sure &= own.error > pooled
        error = np.where(sure, own.error, pooled)
        if own.units is not None:
            degrees = np.maximum(own.units - 1, 3)
            error = error * np.sqrt(degrees / (degrees - 2))  # the spread of Student's
        return np.where(np.isnan(own.value), np.nan, error)


def mean_of_largest(gaps: Counts, k: int) -> Counts:
    """Return the mean of the ``k`` largest of the last axis; NaN if fewer exist."""
    check_whole("k", k, at_least=1)
    if gaps.shape[-1] < k:
        return np.full(gaps.shape[:-1], np.nan)
    # NaN counts as smaller than any gap, and spreads if it is among the k
    filled = np.where(np.isnan(gaps), -np.inf, gaps)
    largest = np.partition(filled, -k, axis=-1)[..., -k:].mean(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _largest(value: Array) -> Array:
    largest = np.where(np.isnan(value), -np.inf, value).max(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def _reason(rows: NDArray[Any], min_size: int, support: str = "") -> str:
    total, kind = int(rows.sum()), f" {support}".rstrip()
    if total < min_size:
        return f"{total} row{kind}" if total == 1 else f"{total:,} rows{kind}"
    return f"one group only{kind}" if (rows > 0).sum() == 1 else ""


def _undefined(missing: NDArray[np.bool_], groups: tuple[str, ...]) -> str:
    if (~missing).sum() > 1:
        return ""
    names = [name for name, absent in zip(groups, missing, strict=True) if absent]
    return f"undefined for {' and '.join(names)}"
