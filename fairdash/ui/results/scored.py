"""Scores by group, sorted once, and what ramps make of them on test rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.metrics import gap_interval, wilson_interval
from fairdash.postprocessing import (
    ByOutcome,
    Rule,
    ScoreType,
    SortedScores,
    Thresholds,
    balanced_rate,
    by_outcome,
    changed_decisions,
    expected_outcome,
    most_accurate_rate,
)

KNOTS = 513
BINS = 40
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows with scores: where they stand in the table, margins, groups, outcome."""

    where: NDArray[np.int64]
    margins: Array
    codes: NDArray[np.int64]
    y: NDArray[np.int8] | None

    @property
    def before(self) -> NDArray[np.int8]:
        """Decisions without a correction."""
        return (self.margins > 0).astype(np.int8)

    def sorted_by_outcome(self) -> list[ByOutcome] | None:
        """Return the scores of every group by outcome, if outcomes are known."""
        if self.y is None:
            return None
        return by_outcome(self.margins, self.codes, self.y)


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores that no part of was used in training, sorted by group once.

    Attributes
    ----------
    name : str
        Of the table.
    names, columns : tuple of str
        Groups, and the columns that they are crossed from.
    row_number : ndarray of int64
        Of every row, in the file.
    calibration, test : Part
        Thresholds are learned on the one, figures are of the other.
    groups : list of SortedScores
    summary : list of dict
        What the browser gets of each group.
    score_type : {"margin", "probability"}
        What the scores were before they became margins; decision files say so.
    told, judges : list of ByOutcome, or None
        Calibration and test rows by group, told apart by their outcome.
    """

    name: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    row_number: NDArray[np.int64]
    calibration: Part
    test: Part
    groups: list[SortedScores]
    summary: list[dict[str, Any]] = field(repr=False)
    told: list[ByOutcome] | None
    judges: list[ByOutcome] | None
    score_type: ScoreType
    _rates: dict[tuple[str, float], float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        names: tuple[str, ...],
        columns: tuple[str, ...],
        row_number: NDArray[np.int64],
        calibration: Part,
        test: Part,
        score_type: ScoreType,
    ) -> "Scored":
        """Sort the rows."""
        margins, codes = calibration.margins, calibration.codes
        groups = [SortedScores(margins[codes == k]) for k in range(len(names))]
        return cls(
            name,
            names,
            columns,
            row_number,
            calibration,
            test,
            groups,
            [summarise(*pair) for pair in zip(names, groups, strict=True)],
            calibration.sorted_by_outcome(),
            test.sorted_by_outcome(),
            score_type,
        )

    def rate(self, target: str, gamma: float) -> float:
        """Return the target rate of ``fairdash.postprocessing.RampThreshold``.

        The most accurate one needs outcomes; without them it is the balanced one.
        """
        if (target, gamma) not in self._rates:
            self._rates[target, gamma] = (
                balanced_rate(self.groups, gamma)
                if target == "balanced" or self.told is None
                else most_accurate_rate(self.told, gamma)
            )
        return self._rates[target, gamma]

    def starts(
        self, gamma: float, rate: float, tolerance: float, *, center: bool
    ) -> Array:
        """Return where the ramp of each group starts, exactly."""
        shift = gamma / 2 if center else 0.0
        return np.array(
            [group.threshold(gamma, rate, tolerance, shift) for group in self.groups]
        )

    def h(self, starts: Array, gamma: float) -> Array:
        """Return the probability of a positive decision of every test row."""
        return ramp_h(self.test.margins, starts[self.test.codes], gamma)

    def judge(self, starts: Array, gamma: float) -> dict[str, float]:
        """Return accuracy and DI of test rows, with intervals, from sorted scores."""
        assert self.judges is not None, "needs outcomes"
        right, rates = 0.0, []
        n = np.array([group.total for group in self.judges])
        for (negative, positive), start in zip(self.judges, starts, strict=True):
            decided = [float(s.sum_h(start, gamma)) for s in (negative, positive)]
            right += negative.total - decided[0] + decided[1]
            rates.append(sum(decided))
        total = int(n.sum())
        gap = gap_interval(rates, n)
        accuracy = wilson_interval(right, total)
        return {
            "accuracy": right / total,
            "accuracy_low": float(accuracy[0]),
            "accuracy_high": float(accuracy[1]),
            "demographic_parity_difference": float(np.ptp(rates / n)),
            "demographic_parity_difference_low": float(gap[0]),
            "demographic_parity_difference_high": float(gap[1]),
        }

    def outcome(self, h: Array) -> pd.DataFrame:
        """Return accuracy and DI of test rows against no correction."""
        rows = self.test
        return expected_outcome(
            h, sensitive_features=rows.codes, y=rows.y, reference=rows.before
        )

    def flips(self, h: Array) -> pd.DataFrame:
        """Return expected flips of test rows by group."""
        rows = self.test
        table = changed_decisions(h, rows.before, sensitive_features=rows.codes)
        return table.assign(group=list(self.names))

    def thresholds(self, starts: Array, gamma: float, method: str) -> Thresholds:
        """Return the ramps as data."""
        rules = {
            name: Rule.ramp(float(start), gamma)
            for name, start in zip(self.names, starts, strict=True)
        }
        rates = {
            name: float(group.mean_h(start, gamma))
            for name, group, start in zip(self.names, self.groups, starts, strict=True)
        }
        margins = self.calibration.margins
        ends = margins if self.score_type == "margin" else (margins + 1) / 2
        span = float(ends.min()), float(ends.max())
        return Thresholds(rules, method, self.score_type, rates, span)

    @property
    def test_scores(self) -> Array:
        """Scores of test rows as they were given."""
        margins = self.test.margins
        return margins if self.score_type == "margin" else (margins + 1) / 2


def ramp_h(margins: Array, starts: Array, gamma: float) -> Array:
    """Return the probability of a positive decision of every row."""
    h: Array = np.clip((margins - starts) / gamma, 0, 1)
    return h


def summarise(name: str, scores: SortedScores) -> dict[str, Any]:
    """Return what the browser needs to know of the scores of a group.

    Counts and sums are exact at `KNOTS` quantiles and linear between. From a width of
    0.05 on, rates are within 1e-4 of the exact ones, 1e-3 if scores take few values.
    """
    last = len(scores.scores)
    at = np.unique(np.linspace(0, last, KNOTS).round().astype(int))
    bins = np.histogram(scores.scores, BINS, (-1, 1), weights=scores.weights)[0]
    return {
        "name": name,
        "score": np.take(scores.scores, np.minimum(at, last - 1)).round(7).tolist(),
        "mass": (scores.mass[at] / scores.total).round(9).tolist(),
        "moment": (scores.moment[at] / scores.total).round(9).tolist(),
        "bins": (bins / scores.total).round(6).tolist(),
    }
