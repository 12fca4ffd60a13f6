"""Parity by one randomised threshold a group: the ramp."""

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from fairdash._validation import (
    check_non_negative,
    check_one_of,
    check_positive,
    value_label,
)
from fairdash.postprocessing._accurate import by_outcome, most_accurate_rate
from fairdash.postprocessing._base import PostProcessor
from fairdash.postprocessing._inputs import (
    ScoreType,
    as_margins,
    as_weights,
    binary_labels,
    check_informative,
    fit_groups,
)
from fairdash.postprocessing._rules import Rule
from fairdash.postprocessing._sorted import SortedScores
from fairdash.postprocessing._target import balanced_rate

TARGETS = ("accuracy", "balanced")


class RampThreshold(PostProcessor):
    r"""Randomised thresholds that give all groups the same positive rate.

    A row of group k is decided positive with probability
    :math:`h(f) = \mathrm{clip}((f - t_k)/\gamma, 0, 1)`. The starts t minimise the
    distance to the scores subject to rates within ``tolerance`` of one another; see
    :func:`ramp_threshold`. Exact: one sort, then a closed form.

    Parameters
    ----------
    gamma : float, default=0.1
        Width of the ramp on the scale of margins. Narrow is nearly deterministic.
    target_rate : {"accuracy", "balanced"} or float, default="accuracy"
        Common positive rate (rho): the one with the highest expected accuracy on the
        fitting sample (needs ``y``), the one at which corrections cancel (needs none),
        or a number in [0, 1].
    tolerance : float, default=0.0
        Largest gap between the expected rates of two groups (epsilon).
    center : bool, default=False
        Let the ramp of a group that needs no correction have its middle, not its
        start, at 0. Changes nothing at tolerance 0 for a given rate.
    score_type : {"margin", "probability"}, default="margin"
        Whether scores are margins in [-1, 1] or probabilities.

    Attributes
    ----------
    thresholds_ : dict of group to float
        Start of the ramp by group, as a margin; keys are the values of
        ``sensitive_features``, numbers if these are numbers.
    target_rate_ : float
    expected_rates_ : dict of group to float
        Rate of positive decisions on the fitting sample by group.
    groups_ : tuple of groups
    rules_ : dict of str to Rule
        By name of the group, as in JSON.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models. NeurIPS.

    Examples
    --------
    >>> scores = [-0.8, -0.1, 0.3, 0.9, -0.9, -0.5, 0.1, 0.4]
    >>> groups = ["a"] * 4 + ["b"] * 4
    >>> ramp = RampThreshold(gamma=0.5, target_rate=0.5)
    >>> ramp = ramp.fit(scores, sensitive_features=groups)
    >>> {name: round(rate, 10) for name, rate in ramp.expected_rates_.items()}
    {'a': 0.5, 'b': 0.5}
    """

    def __init__(
        self,
        gamma: float = 0.1,
        target_rate: Literal["accuracy", "balanced"] | float = "accuracy",
        tolerance: float = 0.0,
        center: bool = False,
        score_type: ScoreType = "margin",
    ) -> None:
        self.gamma = gamma
        self.target_rate = target_rate
        self.tolerance = tolerance
        self.center = center
        self.score_type = score_type

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the thresholds on rows that the model was not trained on.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : array-like of 0/1, (n,), optional
            Needed by ``target_rate="accuracy"`` alone.
        sensitive_features : array-like of shape (n,)
            Any number of groups; :func:`cross` makes them from several columns.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For parameters or scores out of range, scores that are constant or labels,
            and groups of fewer than two rows.
        """
        check_positive("gamma", self.gamma)
        check_non_negative("tolerance", self.tolerance)
        _check_target(self.target_rate)
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        weight = as_weights(sample_weight, margins)
        fitted = fit_groups(sensitive_features, margins, weight)
        codes, groups = fitted.codes, []
        for k in range(len(fitted.names)):
            rows = codes == k
            own = None if weight is None else weight[rows]
            groups.append(SortedScores(margins[rows], own))
        if self.target_rate == "accuracy":
            if y is None:
                raise ValueError(
                    "`target_rate='accuracy'` needs `y`; without an outcome set "
                    "`target_rate` to 'balanced' or to a number."
                )
            told = by_outcome(margins, codes, binary_labels(y, margins), weight)
            rate = most_accurate_rate(told, self.gamma)
        elif self.target_rate == "balanced":
            rate = balanced_rate(groups, self.gamma)
        else:
            rate = float(self.target_rate)
        shift = self.gamma / 2 if self.center else 0.0
        starts = [
            group.threshold(self.gamma, rate, self.tolerance, shift) for group in groups
        ]
        self.target_rate_ = rate
        self.thresholds_ = dict(zip(fitted.values, starts, strict=True))
        rules = [Rule.ramp(t, self.gamma) for t in starts]
        self._learn(fitted, rules, margins, weight)
        return self


def _check_target(target: object) -> None:
    if isinstance(target, str):
        check_one_of("target_rate", target, TARGETS)
        return
    check_non_negative("target_rate", target)
    if float(np.asarray(target)) > 1:
        raise ValueError(
            f"`target_rate` must lie in [0, 1], got {value_label(target)}."
        )
