"""The methods that the ramp is compared with: Hardt and reject option."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression, linprog

from fairdash._arrays import FloatArray
from fairdash._validation import CONSTRAINTS, check_one_of, check_positive
from fairdash.postprocessing.base import PostProcessor
from fairdash.postprocessing.inputs import ScoreType
from fairdash.postprocessing.kernels import SortedScores
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import Rule
from fairdash.postprocessing.target_rate import ByOutcome

OPPORTUNITY = "true_positive_rate_parity"
GRID = np.arange(1, 101) / 100  # critical regions of reject option
ROUNDING = 1e-9  # of a linear program


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

    threshold: FloatArray
    true: FloatArray
    false: FloatArray

    @classmethod
    def of(cls, group: ByOutcome) -> "Operating":
        """Return the hull, by pooling neighbouring scores whose outcomes fall.

        Shares of positive outcomes that rise with the score are what isotonic
        regression gives, and the ends of its blocks are the vertices.
        """
        scores = np.unique(np.concatenate([side.scores for side in group]))[::-1]
        true = _weight_from(group.positive, scores)
        false = _weight_from(group.negative, scores)
        selected = np.diff(true + false, prepend=0)
        share = np.diff(true, prepend=0) / selected
        pooled = isotonic_regression(share, weights=selected, increasing=False)
        last = pooled.blocks[1:] - 1
        below = np.append(scores[1:], -np.inf)[last]
        halfway = np.where(np.isfinite(below), (scores[last] + below) / 2, scores[last])
        return cls(
            threshold=np.append(np.inf, halfway),
            true=np.append(0.0, true[last]),
            false=np.append(0.0, false[last]),
        )

    def rule(
        self, axis: FloatArray, at: float, mixed: float = 1.0, floor: float = 0.0
    ) -> Rule:
        """Return the mixture of two neighbouring thresholds that reaches a rate.

        ``axis`` are the rising rates at the vertices; the share ``mixed`` of rows is
        decided so, and ``floor`` is what the others add to all.
        """
        after = int(np.clip(np.searchsorted(axis, at), 1, len(axis) - 1))
        width = axis[after] - axis[after - 1]
        share = float((at - axis[after - 1]) / width) if width > 0 else 1.0
        jumps = []
        for vertex, part in ((after - 1, 1 - share), (after, share)):
            threshold = float(self.threshold[vertex])
            if part > 0 and np.isfinite(threshold):
                jumps.append((threshold, mixed * part))
        if not jumps or mixed == 0:
            return Rule(score=(0.0,), probability=(floor,))
        return Rule.steps(jumps, floor)


@dataclass(eq=False, repr=False)
class HardtThreshold(PostProcessor):
    """Group thresholds, randomised between two, that meet a constraint.

    Maximises accuracy on the fitting sample subject to equal positive rates
    (demographic parity), true positive rates, or both true and false positive rates
    (equalized odds). It does so exactly: a linear program over the hull of each group's
    ROC curve, which isotonic regression finds.

    Parameters
    ----------
    constraints : {"demographic_parity", "true_positive_rate_parity", "equalized_odds"}
    tolerance : float
        By how much these rates may differ between groups, in [0, 1].

    Attributes
    ----------
    rules_ : dict of str to Rule
        Staircases of at most two steps.

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised
    learning. NeurIPS.
    """

    subject: ClassVar[str] = "Hardt"

    constraints: str = "demographic_parity"
    score_type: ScoreType = "margin"
    tolerance: float = 0.0

    def _rules(self, rows: ScoredRows) -> Sequence[Rule]:
        check_one_of("constraints", self.constraints, (*CONSTRAINTS, OPPORTUNITY))
        if not 0 <= self.tolerance <= 1:
            raise ValueError(f"`tolerance` must be in [0, 1], got {self.tolerance!r}.")
        for name, group in zip(rows.names, rows.by_outcome, strict=True):
            if not group.negative.total or not group.positive.total:
                seen = int(group.positive.total > 0)
                raise ValueError(
                    f"`y` is {seen} in every row of group {name!r}; its thresholds "
                    "need both outcomes. Merge the group with another or exclude it."
                )
        reachable = [Operating.of(group) for group in rows.by_outcome]
        return _most_accurate(reachable, self.constraints, self.tolerance)


def _most_accurate(
    groups: Sequence[Operating], constraints: str, tolerance: float
) -> list[Rule]:
    """Return the rules whose rates are within a tolerance: a linear program.

    A group reaches all means of its vertices, of which (0, 0) and (1, 1) are two.
    Unknown are the vertices' shares and, of each rate compared, the lowest.
    """
    false = [group.false / group.false[-1] for group in groups]
    true = [group.true / group.true[-1] for group in groups]
    all_rows = [
        (group.true + group.false) / (group.true[-1] + group.false[-1])
        for group in groups
    ]
    compared = {"equalized_odds": [false, true], OPPORTUNITY: [true]}
    kinds = compared.get(constraints, [all_rows])
    n_groups = len(groups)
    n_kinds = len(kinds)
    sizes = [len(group.true) for group in groups]
    member = np.repeat(np.eye(n_groups), sizes, axis=1)
    rates = np.vstack([member * np.concatenate(kind) for kind in kinds])
    lowest = np.repeat(np.eye(n_kinds), n_groups, axis=0)
    # Right decisions less wrong ones, scaled so that the solver's tolerance fits.
    gain = np.concatenate([group.true - group.false for group in groups])
    solution = linprog(
        -np.append(gain / np.abs(gain).max(), np.zeros(n_kinds)),
        # lowest <= rate <= lowest + tolerance
        A_ub=np.block([[rates, -lowest], [-rates, lowest]]),
        b_ub=np.repeat([tolerance, 0], n_kinds * n_groups),
        # the shares of a group's vertices add up to one
        A_eq=np.hstack([member, np.zeros((n_groups, n_kinds))]),
        b_eq=np.ones(n_groups),
    )
    shares = np.asarray(solution.x)[:-n_kinds]
    shares_by_group = np.split(shares, np.cumsum(sizes)[:-1])
    rules = []
    for group, false_rate, true_rate, part in zip(
        groups, false, true, shares_by_group, strict=True
    ):
        x = float(false_rate @ part)
        y = float(true_rate @ part)
        # Of vertices above one another the last is the highest.
        last = np.append(np.diff(false_rate) > 0, True)
        top = float(np.interp(x, false_rate[last], true_rate[last]))
        # Below its curve a group mixes the curve with a coin of the same false rate.
        coin = 0.0
        if top - y > ROUNDING:
            coin = min((top - y) / (top - x), 1.0)
        # Along the curve by the sum of both rates, which rises strictly.
        rules.append(group.rule(false_rate + true_rate, x + top, 1 - coin, coin * x))
    return rules


def _weight_from(side: SortedScores, scores: FloatArray) -> FloatArray:
    """Return the weight of the rows at or above each score."""
    return side.total - side.mass[np.searchsorted(side.scores, scores)]


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

    subject: ClassVar[str] = "Reject option"

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
        corrected_rates = []
        for group, favoured in zip(groups, low, strict=True):
            starts = -widths if favoured else _above(widths)
            corrected_rates.append(1 - group.below(starts) / group.total)
        corrected = np.array(corrected_rates)
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
    # A rule accepts from its threshold on: rows at +width are still doubtful.
    return np.nextafter(width, np.inf)
