"""Control of the covariance between decisions and a group inside one subgroup."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairdash._validation import check_non_negative, check_positive
from fairdash.postprocessing._inputs import as_margins, as_weights, binary_labels
from fairdash.postprocessing._sorted import SortedScores, reach

_NOISE = 1e-13


def covariance_threshold(
    scores: ArrayLike,
    in_group: ArrayLike,
    gamma: float,
    tolerance: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Multiplier that bounds the covariance of decisions with a group, exactly.

    With :math:`z_i = 1_S(i) - P(S)` and
    :math:`h_i = \mathrm{clip}((f_i - t z_i)/\gamma, 0, 1)`, finds the t nearest 0 with

    .. math:: |\mathrm{Cov}(h, 1_S)| = P(S) (1 - P(S)) \, |\bar h_S - \bar h_{not S}|
              \le \varepsilon .

    Parameters
    ----------
    scores : array-like of shape (n,)
        Margins in [-1, 1] of the rows of one subgroup.
    in_group : array-like of bool, (n,)
        Whether a row belongs to S; both kinds are needed.
    gamma : float
        Width of the ramp, above 0.
    tolerance : float, default=0.0
        epsilon, the largest absolute covariance; 0.25 allows everything.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If all rows or none belong to S, scores are outside [-1, 1], or parameters out
        of range.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, appendix E. NeurIPS.
    """
    margins = as_margins(scores)
    check_positive("gamma", gamma)
    check_non_negative("tolerance", tolerance)
    inside = binary_labels(in_group, margins) == 1
    weight = as_weights(sample_weight, margins)
    weight = np.ones(len(margins)) if weight is None else weight
    pair = CovarianceScores(
        *(SortedScores(margins[rows], weight[rows]) for rows in (inside, ~inside))
    )
    if not 0 < pair.share < 1:
        raise ValueError(
            "`in_group` must be true for some rows and false for others; a covariance "
            "with a constant is 0 whatever the decisions."
        )
    return pair.threshold(gamma, tolerance)


class CovarianceScores(NamedTuple):
    """Scores of one subgroup, those of the group and of all others each sorted."""

    members: SortedScores
    others: SortedScores

    @property
    def share(self) -> float:
        """Share of the group."""
        return self.members.total / (self.members.total + self.others.total)

    def threshold(self, gamma: float, tolerance: float = 0.0) -> float:
        """Return the multiplier of :func:`covariance_threshold`; both have rows."""
        share, (members, others) = self.share, self
        spread = share * (1 - share)

        def covariance(t: float) -> float:
            first = members.mean_h(t * (1 - share), gamma)
            return spread * float(first - others.mean_h(-t * share, gamma))

        def breaks(low: float, high: float) -> bool:
            return members.has_breaks(
                low * (1 - share), high * (1 - share), gamma
            ) or others.has_breaks(-high * share, -low * share, gamma)

        at_zero = covariance(0.0)
        if abs(at_zero) <= tolerance + _NOISE:
            return 0.0
        bound = (2 + gamma) / min(share, 1 - share)
        target = float(np.sign(at_zero)) * tolerance
        return reach(covariance, target, bound=bound, breaks=breaks)
