"""Thresholds by group on the scores of a base model (Hardt, Price and Srebro 2016)."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from fairdash._validation import value_label
from fairdash.methods.base import Float, GroupedClassifier, TrainingRows, Weighted
from fairdash.methods.classical.bases import fit_base, stored
from fairdash.methods.classical.plain import CarriesBase, Codes
from fairdash.methods.declare import Method
from fairdash.methods.params import CLASSIC_CONSTRAINT
from fairdash.methods.scorers import GroupThresholds

RATES = np.linspace(0, 1, 1001)  # common rates that are tried


class HardtLogistic(Weighted, CarriesBase, GroupedClassifier):
    """The most accurate thresholds of one base model that meet a constraint.

    Each group has a mixture of two thresholds, found on the training rows;
    ``predict_proba`` is the probability of a positive decision. Tried are 1,001 common
    rates: of positive decisions, of true positives, or under equalized odds of false
    positives.

    Attributes
    ----------
    network_ : GroupThresholds
        Base model and thresholds as plain arrays.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning (NeurIPS
    2016).
    """

    network_: Any

    constraints: str = CLASSIC_CONSTRAINT

    def _learn(self, rows: TrainingRows) -> Float:
        weight, cells = rows.each, np.zeros((len(self.groups_), 2))
        np.add.at(cells, (rows.codes, rows.target), weight)
        for group, cell in zip(self.groups_, cells, strict=True):
            if not cell.all():
                message = f"Group {value_label(group)} has rows of one outcome only"
                raise ValueError(f"{message}; join it with another, or exclude it.")
        self.solver_ = fit_base(self._base(rows), rows.X, rows.target, rows.weight)
        base = stored(self.solver_)
        scores = base.positive(rows.X, rows.codes)
        curves = []
        for code in range(len(self.groups_)):
            own = (rows.codes == code) & (weight > 0)
            counted = Counted.of(scores[own], rows.target[own], weight[own])
            curves.append(counted.curve(self.constraints))
        meet = _same_odds if self.constraints == "equalized_odds" else _same_rate
        place, coins, constant = meet(curves, cells)
        shares = np.array([curve.shares[place] for curve in curves])
        self.network_ = GroupThresholds(
            base,
            thresholds=np.array([curve.thresholds[place] for curve in curves]),
            signs=np.ones((len(curves), 2)),
            shares=(1 - coins[:, None]) * shares,
            constants=coins * constant,
        )
        return self._positive(rows.X, rows.codes)

    def _positive(self, rows: Any, group: Codes) -> Float:
        network: GroupThresholds = self.network_
        return network.positive(rows, group)


class Curve(NamedTuple):
    """What a group reaches at each of ``RATES``, and by which two thresholds.

    Attributes
    ----------
    height : ndarray of shape (1001,)
        The group's accuracy, or under equalized odds its true positive rate.
    thresholds, shares : ndarray of shape (1001, 2)
        The two thresholds and the probability of each.
    """

    height: Float
    thresholds: Float
    shares: Float


class Counted(NamedTuple):
    """Weights of the rows of either outcome above each threshold, which fall."""

    threshold: Float
    false: Float
    true: Float

    @classmethod
    def of(cls, scores: Float, target: Codes, weight: Float) -> "Counted":
        """Count the rows of one group."""
        values, place = np.unique(-scores, return_inverse=True)
        sums = [
            np.append(0.0, np.bincount(place, weight * (target == y)).cumsum())
            for y in (0, 1)
        ]
        halfway = -(values[:-1] + values[1:]) / 2
        return cls(np.concatenate([[np.inf], halfway, [-np.inf]]), *sums)

    def curve(self, constraints: str) -> Curve:
        """Return the best that mixtures of two thresholds reach at each rate."""
        n = self.false[-1] + self.true[-1]
        height = (self.true + self.false[-1] - self.false) / n  # accuracy
        if constraints == "equalized_odds":
            rate, height = self.false / self.false[-1], self.true / self.true[-1]
        elif constraints == "demographic_parity":
            rate = (self.false + self.true) / n
        else:
            rate = self.true / self.true[-1]
        vertex = upper_hull(rate, height)
        x, y, t = rate[vertex], height[vertex], self.threshold[vertex]
        after = np.searchsorted(x, RATES).clip(1, len(x) - 1)
        share = (RATES - x[after - 1]) / (x[after] - x[after - 1])
        return Curve(
            (1 - share) * y[after - 1] + share * y[after],
            np.column_stack([t[after - 1], t[after]]),
            np.column_stack([1 - share, share]),
        )


def upper_hull(x: Float, y: Float) -> Codes:
    """Return the places of the vertices of the lowest concave curve above points.

    Slopes between neighbours that fall are what isotonic regression of all slopes
    gives, and the ends of its blocks are the vertices.
    """
    order = np.lexsort((y, x))
    highest = order[np.append(np.diff(x[order]) > 0, True)]
    width = np.diff(x[highest])
    slope = np.diff(y[highest]) / width
    pooled = isotonic_regression(slope, weights=width, increasing=False)
    return highest[pooled.blocks]


Meeting = tuple[int, Float, float]  # place in RATES, share of a coin by group, its rate


def _same_rate(curves: list[Curve], cells: Float) -> Meeting:
    share = cells.sum(axis=1) / cells.sum()
    accuracy = np.sum([p * c.height for p, c in zip(share, curves, strict=True)], 0)
    return int(accuracy.argmax()), np.zeros(len(curves)), 0.0


def _same_odds(curves: list[Curve], cells: Float) -> Meeting:
    # A group whose curve is higher there decides some of its rows by a coin.
    common = np.min([curve.height for curve in curves], axis=0)
    negatives, positives = cells.sum(axis=0)
    right = (positives * common + negatives * (1 - RATES)) / cells.sum()
    place = int(right.round(15).argmax())  # of equal ones the first
    x, y = float(RATES[place]), float(common[place])
    top = np.array([curve.height[place] for curve in curves])
    room = np.where(top == x, 1.0, top - x)
    return place, np.where(top == x, 0.0, (top - y) / room), x


HARDT = Method.of(
    HardtLogistic,
    key="hardt",
    label="Hardt",
    title="Random thresholds by group",
    summary="A base model with a mixture of two thresholds in each group. It must know "
    "the group to predict.",
    source="Hardt, Price and Srebro (NeurIPS 2016)",
    needs_groups=True,
)
