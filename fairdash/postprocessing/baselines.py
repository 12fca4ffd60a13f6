"""The methods that the ramp is compared with: Hardt and reject option."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from fairdash._validation import CONSTRAINTS, check_one_of, check_positive
from fairdash.postprocessing.base import PostProcessor, Report
from fairdash.postprocessing.inputs import Array, ScoreType
from fairdash.postprocessing.outcome import expected_outcome
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import Rule
from fairdash.postprocessing.target_rate import ByOutcome

BEFORE, PARITY, ODDS = (
    "No correction",
    "Hardt, demographic parity",
    "Hardt, equalized odds",
)
OPPORTUNITY = "true_positive_rate_parity"
Baselines = Mapping[str, PostProcessor]
GRID = np.arange(1, 101) / 100  # critical regions of reject option


@dataclass(frozen=True, eq=False)
class Operating:
    """Vertices of the concave hull of a group's ROC curve.

    Attributes
    ----------
    threshold : ndarray
        Margin from which rows are decided positive, falling; the first is infinite.
        Others lie halfway between neighbouring scores.
    true, false : ndarray
        Positive decisions of either outcome up to each vertex, as counts.
    """

    threshold: Array
    true: Array
    false: Array

    @classmethod
    def of(cls, group: ByOutcome) -> "Operating":
        """Return the hull, by pooling neighbouring scores whose outcomes fall.

        Shares of positive outcomes that rise with the score are what isotonic
        regression gives, and the ends of its blocks are the vertices.
        """
        scores = np.unique(np.concatenate([side.scores for side in group]))[::-1]
        true, false = (
            side.total - side.mass[np.searchsorted(side.scores, scores)]
            for side in (group.positive, group.negative)
        )
        selected = np.diff(true + false, prepend=0)
        share = np.diff(true, prepend=0) / selected
        pooled = isotonic_regression(share, weights=selected, increasing=False)
        last = pooled.blocks[1:] - 1
        below = np.append(scores[1:], -np.inf)[last]
        halfway = np.where(np.isfinite(below), (scores[last] + below) / 2, scores[last])
        return cls(
            np.append(np.inf, halfway),
            np.append(0.0, true[last]),
            np.append(0.0, false[last]),
        )

    def rule(
        self, axis: Array, at: float, mixed: float = 1.0, floor: float = 0.0
    ) -> Rule:
        """Return the mixture of two neighbouring thresholds that reaches a rate.

        ``axis`` are the rising rates at the vertices; the share ``mixed`` of rows is
        decided so, and ``floor`` is what the others add to all.
        """
        after = int(np.clip(np.searchsorted(axis, at), 1, len(axis) - 1))
        width = axis[after] - axis[after - 1]
        share = float((at - axis[after - 1]) / width) if width > 0 else 1.0
        jumps = [
            (float(self.threshold[place]), mixed * part)
            for place, part in ((after - 1, 1 - share), (after, share))
            if part > 0 and np.isfinite(self.threshold[place])
        ]
        if not jumps or mixed == 0:
            return Rule(score=(0.0,), probability=(floor,))
        return Rule.steps(jumps, floor)


@dataclass(eq=False, repr=False)
class HardtThreshold(PostProcessor):
    """Group thresholds, randomised between two, that meet a constraint.

    Maximises accuracy on the fitting sample subject to equal positive rates
    (demographic parity), true positive rates, or both true and false positive rates
    (equalized odds), exactly: on the hull of each group's ROC curve, found by isotonic
    regression.

    Parameters
    ----------
    constraints : {"demographic_parity", "true_positive_rate_parity", "equalized_odds"}

    Attributes
    ----------
    rules_ : dict of str to Rule
        Staircases of at most two steps.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised
    learning. NeurIPS.
    """

    constraints: str = "demographic_parity"
    score_type: ScoreType = "margin"

    def _rules(self, rows: ScoredRows) -> Sequence[Rule]:
        check_one_of("constraints", self.constraints, (*CONSTRAINTS, OPPORTUNITY))
        for name, group in zip(rows.names, rows.by_outcome, strict=True):
            if not group.negative.total or not group.positive.total:
                seen = int(group.positive.total > 0)
                raise ValueError(
                    f"`y` is {seen} in every row of group {name!r}; its thresholds "
                    "need both outcomes. Merge the group with another or exclude it."
                )
        reachable = [Operating.of(group) for group in rows.by_outcome]
        if self.constraints == "equalized_odds":
            return _odds(reachable)
        of_positives = self.constraints == OPPORTUNITY
        counts = [g.true if of_positives else g.true + g.false for g in reachable]
        return _same_rate(reachable, [count / count[-1] for count in counts])


def _same_rate(groups: Sequence[Operating], axes: Sequence[Array]) -> list[Rule]:
    rates = np.unique(np.concatenate(axes))
    right = []
    for axis, g in zip(axes, groups, strict=True):
        first = np.append(True, np.diff(axis) > 0)  # of one rate it errs least
        right.append(np.interp(rates, axis[first], (g.true - g.false)[first]))
    best = float(rates[np.argmax(np.sum(right, axis=0))])
    return [g.rule(axis, best) for axis, g in zip(axes, groups, strict=True)]


def _odds(groups: Sequence[Operating]) -> list[Rule]:
    # What all groups can reach lies below all ROC hulls; a group whose hull is above
    # the common point mixes it with a coin of the common false positive rate.
    false = [g.false / g.false[-1] for g in groups]
    true = [g.true / g.true[-1] for g in groups]
    curves = list(zip(false, true, strict=True))
    rates = np.unique(np.concatenate(false))
    heights = np.array([_height(rates, *curve) for curve in curves])
    rates = np.union1d(rates, _crossings(rates, heights))
    common = np.min([_height(rates, *curve) for curve in curves], axis=0)
    positives = sum(g.true[-1] for g in groups)
    negatives = sum(g.false[-1] for g in groups)
    best = int(np.argmax(positives * common - negatives * rates))
    x, y = float(rates[best]), float(common[best])
    rules = []
    for g, (across, up) in zip(groups, curves, strict=True):
        top = float(_height(rates[best : best + 1], across, up)[0])
        coin = (top - y) / (top - x) if top > x else 0.0
        # along the curve by the sum of both rates, which rises strictly
        rules.append(g.rule(across + up, x + top, 1 - coin, coin * x))
    return rules


def _height(rates: Array, across: Array, up: Array) -> Array:
    # of vertices above one another the last counts, which is the highest
    last = np.append(np.diff(across) > 0, True)
    return np.interp(rates, across[last], up[last])


def _crossings(rates: Array, heights: Array) -> Array:
    crossings = []
    for first, second in itertools.combinations(heights, 2):
        gap = first - second
        turn = np.flatnonzero(gap[:-1] * gap[1:] < 0)
        share = gap[turn] / (gap[turn] - gap[turn + 1])
        crossings.append(rates[turn] + share * (rates[turn + 1] - rates[turn]))
    return np.concatenate(crossings)


@dataclass(eq=False, repr=False)
class RejectOption(PostProcessor):
    """Decide doubtful rows for groups of low rate and against groups of high rate.

    Rows whose margin is at most ``width`` from 0 are decided positive in the groups
    whose rate of positive decisions is below that of all rows, and negative in the
    others: thresholds of -width and +width.

    Parameters
    ----------
    width : float, optional
        Critical region (theta) on the scale of margins, in (0, 1]. Without it, the
        one of 0.01, 0.02, ..., 1 with the smallest gap on the fitting sample.

    Attributes
    ----------
    favoured_ : tuple of groups
        Groups whose doubtful rows are decided positive.

    References
    ----------
    F. Kamiran, A. Karim, X. Zhang (2012), Decision theory for discrimination-aware
    classification. ICDM.
    """

    width: float | None = None
    score_type: ScoreType = "margin"

    def _rules(self, rows: ScoredRows) -> Sequence[Rule]:
        if self.width is not None:
            check_positive("width", self.width)
            if self.width > 1:
                raise ValueError(f"`width` must lie in (0, 1], got {self.width!r}.")
        groups = rows.by_group
        total = np.array([group.total for group in groups])
        above = total - np.array([group.below(0.0, "right") for group in groups])
        low = above / total < above.sum() / total.sum()
        widths = GRID if self.width is None else np.array([self.width])
        starts = [-widths if favoured else _above(widths) for favoured in low]
        corrected = np.array(
            [
                1 - group.below(start) / group.total
                for group, start in zip(groups, starts, strict=True)
            ]
        )
        best = int(np.argmin(np.ptp(corrected, axis=0)))
        self.width_ = float(widths[best])
        self.favoured_ = tuple(
            value
            for value, is_low in zip(rows.group_values, low, strict=True)
            if is_low
        )
        chosen = np.where(low, -self.width_, _above(self.width_))
        return [Rule.steps([(float(start), 1.0)]) for start in chosen]


def _above(width: ArrayLike) -> np.ndarray:
    return np.nextafter(width, np.inf)


def fit_baselines(rows: ScoredRows) -> Baselines:
    """Fit the methods that the ramp is compared with, by their labels.

    One that cannot be fitted, since a group lacks an outcome or outcomes are not known,
    is missing.
    """
    kind = rows.score_type
    candidates: Baselines = {
        PARITY: HardtThreshold(score_type=kind),
        ODDS: HardtThreshold("equalized_odds", kind),
        "Reject option": RejectOption(score_type=kind),
    }
    fitted = {}
    for label, method in candidates.items():
        try:
            fitted[label] = method.fit_rows(rows)
        except ValueError:
            continue
    return fitted


def trade_off_table(report: Report, baselines: Baselines) -> pd.DataFrame:
    """Return accuracy and DI of a ramp, of no correction, and of other methods.

    All are of the rows of ``report``, which is that of the ramp.

    Returns
    -------
    DataFrame with columns method, selection_rate, and accuracy and
    demographic_parity_difference, each also with ``_low`` and ``_high``
    """
    rows = report.rows
    before = expected_outcome(rows, rows.before.astype(np.float64))
    outcomes = {
        "Ramp, this setting": (report.outcome, report.accepted[1]),
        BEFORE: (before, report.accepted[0]),
    }
    for label, method in baselines.items():
        other = method.report(rows)
        outcomes[label] = other.outcome, other.accepted[1]
    lines = []
    for label, (outcome, rate) in outcomes.items():
        line: dict[str, Any] = {"method": label, "selection_rate": rate}
        for cell in outcome.to_dict("records"):
            name = cell["metric"]
            line[name] = cell["value"]
            line |= {f"{name}_{end}": cell[end] for end in ("low", "high")}
        lines.append(line)
    return pd.DataFrame(lines)
