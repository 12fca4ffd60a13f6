"""The ramp beside other corrections of the same scores: over all rows and locally."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from fairdash.metrics import LocalRates, gap_table, value_table
from fairdash.postprocessing.base import PostProcessor, Report
from fairdash.postprocessing.baselines import (
    HardtThreshold,
    RejectOption,
    ShiftInference,
)
from fairdash.postprocessing.covariance import NO_SUBGROUP, CellScores, CovarianceRamp
from fairdash.postprocessing.inputs import Array
from fairdash.postprocessing.outcome import DecisionSums
from fairdash.postprocessing.ramp import RampThreshold
from fairdash.postprocessing.rows import Codes, ScoredRows
from fairdash.postprocessing.rules import Rule

BEFORE, RAMP = "No correction", "Ramp"
CROSSED, COVARIANCE = "Ramp, crossed", "Covariance control"
_FEWEST = 10  # calibration rows of each group that a crossed ramp learns from


class FittedBaselines(NamedTuple):
    """The methods that the ramp is compared with, fitted on the same rows.

    ``methods`` are by kind and label. One that cannot be fitted, since a group lacks an
    outcome or outcomes are not known, is missing.
    """

    methods: dict[tuple[str, str], PostProcessor]

    @classmethod
    def fit(cls, rows: ScoredRows) -> Self:
        """Fit Hardt's two rules, reject option and shift inference."""
        kind = rows.score_type
        candidates: dict[tuple[str, str], PostProcessor] = {
            ("hardt", "Hardt, demographic parity"): HardtThreshold(score_type=kind),
            ("odds", "Hardt, equalized odds"): HardtThreshold("equalized_odds", kind),
            ("reject", "Reject option"): RejectOption(score_type=kind),
            ("shift", "Shift inference"): ShiftInference(score_type=kind),
        }
        fitted = {}
        for name, method in candidates.items():
            try:
                fitted[name] = method.fit_rows(rows)
            except ValueError:
                continue
        return cls(fitted)

    @property
    def hardt(self) -> list[Rule] | None:
        """Hardt's rule for demographic parity by group, if it could be fitted."""
        found = [m for (kind, _), m in self.methods.items() if kind == "hardt"]
        return list(found[0].rules_.values()) if found else None

    def table(self, rows: ScoredRows) -> pd.DataFrame:
        """Return accuracy and DI of no correction and of every method on rows.

        Returns
        -------
        DataFrame with columns kind, label, and accuracy and
        demographic_parity_difference, each also with ``_low`` and ``_high``
        """
        known, h = rows.y is not None, rows.before.astype(np.float64)
        before = DecisionSums.of(
            h, rows.cells, rows.names, has_outcome=known, weight=rows.weight
        )
        outcomes = {("none", BEFORE): before.outcome().iloc[:, :4]}
        outcomes |= {
            name: method.report(rows).outcome.iloc[:, :4]
            for name, method in self.methods.items()
        }
        return pd.DataFrame([_row(*name, found) for name, found in outcomes.items()])


def _row(kind: str, label: str, outcome: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, "label": label}
    for cell in outcome.to_dict("records"):
        name = str(cell["metric"])
        row[name] = cell["value"]
        for part in ("low", "high", "change", "change_low", "change_high"):
            if part in cell:
                row[f"{name}_{part}"] = cell[part]
    return row


def trade_off_table(
    report: Report, curve: pd.DataFrame, methods: pd.DataFrame
) -> pd.DataFrame:
    """Put a ramp, its curve and other methods on the same rows into one table.

    Returns
    -------
    DataFrame with columns kind ("setting", "curve", then those of ``methods``), label,
    tolerance, and accuracy and demographic_parity_difference, each also with ``_low``,
    ``_high`` and, of the setting, ``_change``, ``_change_low`` and ``_change_high``
    """
    setting = _row("setting", "Ramp, this setting", report.outcome)
    first = pd.DataFrame([setting | {"tolerance": curve["tolerance"].iloc[0]}])
    line = curve.iloc[1:].assign(kind="curve", label="Ramp")
    return pd.concat([first, line, methods], ignore_index=True)


class LocalComparison(NamedTuple):
    """Local rates of several corrections.

    ``estimates``: of `fairdash.metrics.estimates`, whose models are corrections;
    ``overall``: their DI over all rows by ``label``; ``excluded``: corrections that
    these subgroups are too small for.
    """

    estimates: pd.DataFrame
    overall: pd.DataFrame
    excluded: list[str]

    def drawn(self) -> dict[str, Any]:
        """Return what `fairdash.plots.plot_corrections` draws of it."""
        tables = {"cells": gap_table, "values": value_table}
        named = {"model": "label"}
        shown = {
            name: make(self.estimates, "selection_rate").rename(columns=named)
            for name, make in tables.items()
        }
        return {**shown, "overall": self.overall, "excluded": self.excluded}


@dataclass(frozen=True, eq=False)
class LocalCorrections:
    """Corrections inside subgroups, sorted once, so that another width only solves.

    ``crossed`` are the calibration rows by subgroup and group, small subgroups put
    together; ``cells`` the rows reported on by the same cells, -1 where none is known.
    """

    rates: LocalRates
    learned: CellScores
    reported: CellScores
    crossed: ScoredRows
    cells: ScoredRows

    @classmethod
    def of(
        cls,
        learned: ScoredRows,
        reported: ScoredRows,
        *,
        learned_subgroups: "pd.Series[Any]",
        reported_subgroups: "pd.Series[Any]",
        min_size: int = 50,
    ) -> Self:
        """Sort rows by cell.

        Subgroups are categorical Series of the same categories; a missing one means
        none.
        """
        names = tuple(map(str, learned_subgroups.cat.categories))
        ours, theirs = (
            CellScores(rows, _codes(labels), (NO_SUBGROUP, *names))
            for rows, labels in (
                (learned, learned_subgroups),
                (reported, reported_subgroups),
            )
        )
        n_groups = len(learned.names)
        sizes = np.array([len(scores.scores) for scores in ours.by_cell])
        large = (sizes.reshape(-1, n_groups) >= _FEWEST).all(axis=1)
        place = np.where(large, np.cumsum(large), 0)  # 0 holds all small ones
        merged, wanted = (
            place[cells.subgroup] * n_groups + cells.rows.codes
            for cells in (ours, theirs)
        )
        used = np.unique(merged)
        cell_names = tuple(map(str, used))
        number = np.full(place.max() * n_groups + n_groups, -1)
        number[used] = np.arange(len(used))
        groups = np.array(reported.names, dtype=object)[reported.codes]
        return cls(
            LocalRates.of(
                sensitive_features=groups,
                subgroups=reported_subgroups,
                min_size=min_size,
                weight=reported.weight,
            ),
            ours,
            theirs,
            _regrouped(learned, number[merged], cell_names),
            _regrouped(reported, number[wanted], cell_names),
        )

    def control(self, gamma: float) -> CovarianceRamp:
        """Fit covariance control inside subgroups: the first group against others."""
        rows = self.learned.rows
        first, kind = rows.group_values[0], rows.score_type
        return CovarianceRamp(gamma, group=first, score_type=kind).fit_cells(
            self.learned
        )

    def compare(self, h: Array, gamma: float) -> LocalComparison:
        """Return local rates before and after four corrections.

        Compared are no correction, the ramp (of ``h``), a ramp for every group crossed
        with every subgroup at the most accurate common rate, and covariance control
        inside subgroups (:meth:`control`).
        """
        rows = self.reported.rows
        decided: dict[str, Array] = {BEFORE: rows.before.astype(np.float64), RAMP: h}
        excluded = [CROSSED] if (self.cells.codes < 0).any() else []
        if not excluded:
            crossed = RampThreshold(gamma, score_type=rows.score_type)
            decided[CROSSED] = crossed.fit_rows(self.crossed).chance(self.cells)
        decided[COVARIANCE] = self.control(gamma).chance(self.reported)
        tables = [self.rates.estimates(h, model=name) for name, h in decided.items()]
        weight = np.ones(len(h)) if rows.weight is None else rows.weight
        n = np.bincount(rows.codes, weight)
        seen = n > 0
        sums = [np.bincount(rows.codes, weight * h)[seen] for h in decided.values()]
        gaps = [float(np.ptp(total / n[seen])) for total in sums]
        overall = pd.DataFrame({"label": list(decided), "overall": gaps})
        table = pd.concat(tables, ignore_index=True)
        return LocalComparison(table, overall, excluded)


def _codes(labels: "pd.Series[Any]") -> Codes:
    return np.asarray(labels.cat.codes, dtype=np.int64) + 1  # 0 is no subgroup


def _regrouped(rows: ScoredRows, codes: Codes, names: tuple[str, ...]) -> ScoredRows:
    return ScoredRows(
        rows.margins, codes, names, names, rows.y, rows.weight, rows.score_type
    )
