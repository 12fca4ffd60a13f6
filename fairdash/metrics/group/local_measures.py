"""Any measure inside subgroups: its gaps, and what chance alone makes of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_one_of, check_whole
from fairdash.metrics.group.catalog import measure_of
from fairdash.metrics.group.chance import NoiseFloor, hand_out
from fairdash.metrics.group.counting import divide, group_codes, spread
from fairdash.metrics.group.estimates import (
    block,
    estimates,
    gap_of,
    ratio_of_measure,
    worst_of,
)
from fairdash.metrics.group.intervals import (
    Bounds,
    Interval,
    check_confidence,
    difference_of,
    largest_gap,
    smallest_ratio,
)
from fairdash.metrics.group.local import (
    LocalCells,
    local_cells,
    mean_of_largest,
    reason_of,
    undefined_of,
)
from fairdash.metrics.group.measured import Array, CellValues, Measured

METHODS = {  # of the interval of a value, and of a gap, by kind of measure
    "rate": ("Wilson", "Newcombe"),
    "mean": ("normal", "normal"),
    "bounded": ("normal", "normal"),
    "area": ("DeLong", "Zou and Donner"),
}


@dataclass(frozen=True, eq=False)
class LocalMeasure:
    """A measure of one model by subgroup and group.

    Attributes
    ----------
    group : int64 array of shape (n_rows,)
    values : CellValues of shape (subgroups, groups)
    reasons : tuple of str
        Why a subgroup is not estimable; empty where it is.
    reference : int or None
        Place of the group that gaps are from; None for the largest of all gaps.
    """

    measured: Measured
    cells: LocalCells
    group: NDArray[np.int64]
    values: CellValues
    reasons: tuple[str, ...]
    reference: int | None = None

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        min_size: int = 50,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        reference: str | None = None,
        folds: ArrayLike | None = None,
    ) -> "LocalMeasure":
        """Compute a measure in all cells; see `local_measure`."""
        measured = Measured.of(measure, y_true, y_pred, sample_weight, pos_label, folds)
        cells = local_cells(
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        )
        group = group_codes(sensitive_features, measured.y).codes
        shape = len(cells.subgroups), len(cells.groups)
        place = np.where(cells.codes >= 0, cells.codes * shape[1] + group, -1)
        values = measured.estimate(place, shape[0] * shape[1]).reshape(*shape)
        words = measure_of(measure).support
        reasons = tuple(
            known
            or reason_of(rows, cells.groups, min_size, words)
            or undefined_of(np.isnan(row), cells.groups)
            for known, rows, row in zip(
                cells.reasons, values.n, values.value, strict=True
            )
        )
        if reference is not None:
            check_one_of("reference", reference, cells.groups)
        held = None if reference is None else cells.groups.index(reference)
        return cls(measured, cells, group, values, reasons, held)

    @property
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
            ends = self._ends(self.reported(), confidence, axes=2)
        return Interval(mean_of_largest(self.gaps(), k), *ends)

    def overall(self, *, confidence: float = 0.95) -> Interval:
        """Return the largest difference over all rows, with its interval."""
        found = self.measured.estimate(self.group, len(self.cells.groups))
        return Interval(self._apart(found.value), *self._ends(found, confidence))

    def between(
        self, one: str, other: str, *, subgroup: str | None = None, confidence: float
    ) -> Interval:
        """Return the value of a group less that of another, with its own interval.

        Over all rows, or inside a subgroup; NaN where that is not estimable.
        """
        found = self.measured.estimate(self.group, len(self.cells.groups))
        if subgroup is not None:
            if subgroup not in self.cells.subgroups:
                return Interval(*np.full(3, np.nan))
            place = np.array(self.cells.subgroups.index(subgroup))
            found = self.reported().at(place)
        every = found.interval(confidence)
        first, second = (
            Interval(*(part[self.cells.groups.index(name)] for part in every))
            for name in (one, other)
        )
        return Interval(first.value - second.value, *difference_of(first, second))

    def estimates(
        self, *, model: str = "", seed: int | None = None, confidence: float = 0.95
    ) -> pd.DataFrame:
        """Return values, gaps and ratios over all rows and inside subgroups.

        A table of `fairdash.metrics.estimates`; with it the means of the k = 1, 2 and 3
        largest gaps.
        """
        measure, groups = self.measured.measure, self.cells.groups
        whole = self.measured.estimate(self.group, len(groups))
        kept, n = self.reported(), self.values.n
        parts = [
            (whole.reshape(1, -1), [None], [""], whole.n[None]),
            (kept, self.cells.subgroups, self.reasons, n),
        ]
        blocks = []
        for values, subgroups, reasons, rows in parts:
            about: dict[str, Any] = {"subgroups": subgroups, "reasons": reasons}
            of_cells = values.interval(confidence)
            if values is kept:  # a rate is known wherever there are rows
                of_cells = self.values.interval(confidence)
            gap = Interval(self._apart(values.value), *self._ends(values, confidence))
            ratio = self._ratio(values, confidence)
            kind = METHODS[values.kind]
            blocks.append(
                block(measure, of_cells, rows, groups=groups, method=kind[0], **about)
            )
            blocks += [
                block(
                    name,
                    Interval(*(np.atleast_1d(part)[:, None] for part in found)),
                    rows.sum(axis=1, keepdims=True),
                    method=method,
                    **about,
                )
                for name, found, method in (
                    (gap_of(measure), gap, kind[1]),
                    (ratio_of_measure(measure), ratio, "Donner and Zou"),
                )
            ]
        blocks += [
            block(
                worst_of(measure, k),
                Interval(*(np.reshape(p, (1, 1)) for p in self.worst(k))),
                len(self.group),
                subgroups=[None],
                method=METHODS[kept.kind][1],
            )
            for k in (1, 2, 3)
        ]
        return estimates(blocks, model=model, seed=seed)

    def table(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return the table of `local_measure`."""
        kept = self.reported()
        low, high = self._ends(kept, confidence)
        named, n = list(enumerate(self.cells.groups)), self.values.n
        ratio = self._ratio(kept, confidence)
        return pd.DataFrame(
            {
                "subgroup": list(self.cells.subgroups),
                "n": n.sum(axis=1),
                **{f"n_{name}": n[:, k] for k, name in named},
                **{f"value_{name}": self.values.value[:, k] for k, name in named},
                "gap": self.gaps(),
                "ci_low": low,
                "ci_high": high,
                "ratio": ratio.value,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "estimable": self.estimable,
                "reason": list(self.reasons),
            }
        )

    def noise_floor(
        self, *, k: int = 1, n_permutations: int = 1000, random_state: int | None = 0
    ) -> NoiseFloor:
        """Return the largest gaps after shuffling groups within subgroups.

        Of a rate without weights, groups are shuffled among the rows it is about, as in
        :func:`noise_floor`. Else the cells get independent normal errors. Of a rate
        these have the standard error of their subgroup scaled to their effective rows,
        as groups with one rate would; of a mean or an area their own, since groups that
        are alike in it may still differ in spread (Janssen 1997).
        """
        check_whole("n_permutations", n_permutations, at_least=1)
        rng = np.random.default_rng(random_state)
        kept, own = self.estimable, self.values
        if own.kind == "rate" and self.measured.weight is None:
            positives = np.rint(own.value * own.n)[kept].sum(axis=1)
            rows = own.n[kept].astype(np.float64)
            gaps = self._apart(
                divide(hand_out(positives, rows, n_permutations, rng), rows)
            )
        else:
            whole = self.measured.estimate(self.cells.codes, len(kept))
            fewer = divide(whole.effective[:, None], own.effective)
            error = whole.error[:, None] * np.sqrt(fewer)
            if own.kind != "rate":
                sure = np.isfinite(own.error) & (own.error > 0)
                error = np.where(sure, own.error, error)
            error = error[kept]
            drawn = rng.standard_normal((n_permutations, *error.shape))
            gaps = self._apart(drawn * error)
        samples = mean_of_largest(gaps, k)
        return NoiseFloor(
            float(samples.mean()), float(np.quantile(samples, 0.95)), samples
        )

    def _ends(self, found: CellValues, confidence: float, axes: int = 1) -> Bounds:
        """Return the interval of the largest difference."""
        return largest_gap(
            found.value,
            found.ends,
            confidence=confidence,
            axes=axes,
            most=found.most,
            reference=self.reference,
        )

    def _apart(self, value: Array) -> Array:
        """Return the largest difference along the last axis; NaN spreads."""
        if self.reference is None:
            return spread(value)
        return np.abs(value - value[..., [self.reference]]).max(axis=-1)

    def _ratio(self, kept: CellValues, confidence: float) -> Interval:
        """Return `smallest_ratio` of every subgroup; NaN of what has signs."""
        if kept.kind == "mean":
            return Interval(*np.full((3, len(kept.value)), np.nan))
        return smallest_ratio(
            kept.value, kept.ends, confidence=confidence, reference=self.reference
        )


def local_measure(
    measure: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    min_size: int = 50,
    confidence: float = 0.95,
    reference: str | None = None,
) -> pd.DataFrame:
    r"""Gap between the groups' values of a measure inside every subgroup.

    .. math:: \max_s m(s, g) - \min_s m(s, g)

    for the measure m of the rows of group s in subgroup g; of the selection rate this
    is :func:`local_di`.

    Parameters
    ----------
    measure, y_true, y_pred, sample_weight, pos_label
        As in :func:`measure_by_group`.
    min_size : int, default=50
        Subgroups with fewer rows that the measure is about are not estimable.
    confidence : float, default=0.95
        Of the folded interval of the largest difference, see :func:`gap_interval`: the
        intervals of two groups combine as Newcombe's do (Zou and Donner 2008).
    reference : str, optional
        A group: the gap is the largest difference from it, the ratio the smallest of
        other groups over it. Without, the group inside a subgroup that has most.

    Returns
    -------
    DataFrame, one row per subgroup: subgroup, n and ``n_<group>`` (rows that the
    measure is about), ``value_<group>``, gap, ci_low, ci_high, ratio (smallest over
    largest value; NaN for ``calibration``), ratio_low, ratio_high, estimable, reason
    (such as "11 rows with outcome 1"). Where not estimable gap, ratio and their
    intervals are NaN.
    """
    check_confidence(confidence)
    return LocalMeasure.of(
        measure,
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
        pos_label=pos_label,
        reference=reference,
    ).table(confidence=confidence)
