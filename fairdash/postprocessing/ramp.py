"""The ramp: one randomised threshold a group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fairdash import _validation as validation
from fairdash._arrays import FloatArray
from fairdash.postprocessing import inputs, kernels
from fairdash.postprocessing.base import PostProcessor
from fairdash.postprocessing.rows import ScoredRows
from fairdash.postprocessing.rules import Rule

TARGETS = ("accuracy", "balanced")


class SliderRange(NamedTuple):
    """The values of a number that a reader moves, and where it starts."""

    low: float
    high: float
    step: float
    default: float


GAMMA = SliderRange(low=0.01, high=2.0, step=0.01, default=0.1)
_GAMMAS = np.geomspace(GAMMA.low, GAMMA.high, 24).round(4)  # of the preview
_RATES = np.linspace(0, 1, 65)
_KNOTS = 257
_BINS = 40


@dataclass(eq=False, repr=False)
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

    Attributes
    ----------
    starts_ : ndarray of shape (n_groups,)
        Start of the ramp of every group, as a margin.
    thresholds_ : dict of group to float
        The same by group; keys are the values of ``sensitive_features``, numbers if
        these are numbers.
    expected_rates_ : dict of group to float
        Rate of positive decisions on the fitting sample by group.

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

    subject: ClassVar[str] = "The ramp"

    gamma: float = GAMMA.default
    target_rate: str | float = "accuracy"
    tolerance: float = 0.0
    center: bool = False
    score_type: inputs.ScoreType = "margin"

    def _rules(self, rows: ScoredRows) -> Sequence[Rule]:
        validation.check_positive("gamma", self.gamma)
        validation.check_non_negative("tolerance", self.tolerance)
        if isinstance(self.target_rate, str):
            validation.check_one_of("target_rate", self.target_rate, TARGETS)
            rate = rows.target_rate(self.target_rate, self.gamma)
        else:
            inputs.check_rate("target_rate", self.target_rate)
            rate = float(self.target_rate)
        self.target_rate_ = rate
        # With a common rate the groups part into problems of one number each.
        starts = [
            group.threshold(self.gamma, rate, self.tolerance, self._shift)
            for group in rows.by_group
        ]
        self.starts_ = np.array(starts)
        self.thresholds_ = dict(zip(rows.group_values, starts, strict=True))
        return [Rule.ramp(start, self.gamma) for start in starts]

    def _rates(self, rows: ScoredRows) -> list[float]:
        return [
            group.rate(start, self.gamma)
            for group, start in zip(rows.by_group, self.starts_.tolist(), strict=True)
        ]

    def effect(self, rows: ScoredRows) -> "RampEffect":
        """Return the share of rows decided by chance, and the change of accuracy.

        A row is decided by chance where 0 < h < 1.
        """
        h = self.chance(rows)
        weight = np.ones(len(h)) if rows.weight is None else rows.weight
        drawn = ((h > 0) & (h < 1)) * weight
        shares = []
        for k in range(len(rows.names)):
            in_group = rows.codes == k
            size = float(weight[in_group].sum())
            shares.append(float(drawn[in_group].sum()) / size)
        if rows.y is None:
            return RampEffect(shares, None)
        gain = np.where(rows.y == 1, h - rows.before, rows.before - h)
        return RampEffect(shares, float(np.average(gain, weights=weight)))

    @property
    def _shift(self) -> float:
        return self.gamma / 2 if self.center else 0.0

    def chance(self, rows: ScoredRows) -> FloatArray:
        """Return h, the probability of a positive decision, of rows of known groups."""
        return kernels.ramp_probability(
            rows.margins, self.starts_[rows.codes], self.gamma
        )


@dataclass(frozen=True)
class RampEffect:
    """Effect of a ramp on rows, beside their rates.

    Attributes
    ----------
    randomised : list of float
        Share of each group's rows that chance decides, by weight.
    accuracy_change : float or None
        Expected accuracy minus that without a correction; None without outcomes.
    """

    randomised: list[float]
    accuracy_change: float | None


@dataclass(frozen=True)
class RampPreview:
    """Table of one group for a slider that moves, to draw and interpolate.

    Attributes
    ----------
    gammas, rates : list of float
        Widths and rates, rising.
    middles : list of list of float
        Where the middle of the ramp lies, by width and rate; between them linear.
    at_rest : list of float
        Rate by width of a ramp that is not corrected.
    histogram : list of float
        Share of the rows in each of `_BINS` equal spans of scores from -1 to 1.
    positives : list of float or None
        Share of the rows that lie in each span and have the outcome 1; None where
        outcomes are not known.
    n : float
        Number of rows, by weight.
    """

    gammas: list[float]
    rates: list[float]
    middles: list[list[float]]
    at_rest: list[float]
    histogram: list[float]
    positives: list[float] | None
    n: float

    @classmethod
    def of_rows(cls, rows: ScoredRows) -> "list[RampPreview]":
        """Tabulate the ramps of every group of rows."""
        if rows.y is None:
            return [cls.of(group) for group in rows.by_group]
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        previews = []
        for code, group in enumerate(rows.by_group):
            positive = (rows.codes == code) & (rows.y == 1)
            scores = kernels.SortedScores(rows.margins[positive], weight[positive])
            previews.append(cls.of(group, scores))
        return previews

    @classmethod
    def of(
        cls, group: kernels.SortedScores, positive: kernels.SortedScores | None = None
    ) -> "RampPreview":
        """Tabulate the ramps of a group, ``positive`` its scores with outcome 1.

        The mean of h is exact at `_KNOTS` quantiles and their bends, and the start for
        a rate is found between them. Released settings are solved by
        :class:`RampThreshold`; this only has to look right while a hand moves.
        """
        last = len(group.scores) - 1
        quantiles = np.linspace(0, last, _KNOTS).round().astype(np.int64)
        knots = group.scores[quantiles]
        middles = []
        at_rest = []
        for gamma in _GAMMAS:
            # Falling starts, since the rate rises as the start falls.
            starts = np.unique(np.concatenate([knots, knots - gamma]))[::-1]
            start_at_rate = np.interp(_RATES, group.mean_h(starts, gamma), starts)
            middles.append((start_at_rate + gamma / 2).round(4).tolist())
            at_rest.append(round(float(group.mean_h(0.0, gamma)), 4))
        positives = None
        if positive is not None:
            positives = _histogram(positive, group.total)
        return cls(
            gammas=_GAMMAS.tolist(),
            rates=_RATES.tolist(),
            middles=middles,
            at_rest=at_rest,
            histogram=_histogram(group, group.total),
            positives=positives,
            n=group.total,
        )


def _histogram(scores: kernels.SortedScores, total: float) -> list[float]:
    """Return the share of ``total`` that each span of scores holds."""
    counts, _ = np.histogram(scores.scores, _BINS, (-1, 1), weights=scores.weights)
    shares: list[float] = (counts / total).round(6).tolist()
    return shares
