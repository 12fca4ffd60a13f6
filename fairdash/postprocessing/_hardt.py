"""Hardt, Price and Srebro: randomised group thresholds for parity or equal odds."""

import itertools
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from fairdash._validation import CONSTRAINTS, check_one_of
from fairdash.postprocessing._accurate import by_outcome
from fairdash.postprocessing._base import PostProcessor
from fairdash.postprocessing._inputs import (
    Array,
    ScoreType,
    as_margins,
    binary_labels,
    check_informative,
    fit_groups,
)
from fairdash.postprocessing._operating import Operating
from fairdash.postprocessing._rules import Rule


class HardtThreshold(PostProcessor):
    """Group thresholds, randomised between two, that meet a constraint.

    Maximises accuracy on the fitting sample subject to equal positive rates
    (demographic parity) or equal true and false positive rates (equalized odds),
    exactly: on the hull of each group's ROC curve, found by isotonic regression.
    fairlearn's ``ThresholdOptimizer`` searches a grid of 1,000 rates instead.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds"}
    score_type : {"margin", "probability"}, default="margin"

    Attributes
    ----------
    rules_ : dict of str to Rule
        Staircases of at most two steps.
    groups_ : tuple of groups

    References
    ----------
    M. Hardt, E. Price, N. Srebro (2016), Equality of opportunity in supervised
    learning. NeurIPS.
    """

    def __init__(
        self,
        constraints: str = "demographic_parity",
        score_type: ScoreType = "margin",
    ) -> None:
        self.constraints = constraints
        self.score_type = score_type

    def fit(
        self, scores: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Self:
        """Learn the thresholds on rows that the model was not trained on.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : array-like of 0/1, (n,)
            Both outcomes must occur in every group.
        sensitive_features : array-like of shape (n,)

        Returns
        -------
        self
        """
        check_one_of("constraints", self.constraints, CONSTRAINTS)
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        fitted = fit_groups(sensitive_features, margins, None)
        groups = by_outcome(margins, fitted.codes, binary_labels(y, margins))
        for name, group in zip(fitted.names, groups, strict=True):
            if not group.negative.total or not group.positive.total:
                seen = int(group.positive.total > 0)
                raise ValueError(
                    f"`y` is {seen} in every row of group {name!r}; its thresholds "
                    "need both outcomes. Merge the group with another or leave it out."
                )
        reachable = [Operating.of(group) for group in groups]
        meet = _parity if self.constraints == "demographic_parity" else _odds
        self._learn(fitted, meet(reachable), margins)
        return self


def _parity(groups: Sequence[Operating]) -> list[Rule]:
    """Return the rules at the common positive rate that is most often right."""
    axes = [(g.true + g.false) / (g.true[-1] + g.false[-1]) for g in groups]
    rates = np.unique(np.concatenate(axes))
    right = [
        np.interp(rates, axis, g.true - g.false)
        for axis, g in zip(axes, groups, strict=True)
    ]
    best = float(rates[np.argmax(np.sum(right, axis=0))])
    return [g.rule(axis, best) for axis, g in zip(axes, groups, strict=True)]


def _odds(groups: Sequence[Operating]) -> list[Rule]:
    """Return the rules at the common error rates that are most often right.

    What all groups can reach lies below all ROC hulls; a group whose hull is above the
    common point mixes it with a coin of the common false positive rate.
    """
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
    """Return the highest true positive rate at false positive rates."""
    # of vertices above one another the last counts, which is the highest
    last = np.append(np.diff(across) > 0, True)
    height: Array = np.interp(rates, across[last], up[last])
    return height


def _crossings(rates: Array, heights: Array) -> Array:
    """Return where two curves, linear between rates, cross."""
    found = []
    for one, other in itertools.combinations(heights, 2):
        gap = one - other
        turn = np.flatnonzero(gap[:-1] * gap[1:] < 0)
        share = gap[turn] / (gap[turn] - gap[turn + 1])
        found.append(rates[turn] + share * (rates[turn + 1] - rates[turn]))
    return np.concatenate(found)
