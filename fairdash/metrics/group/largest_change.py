r"""How the largest of several differences changes, for pairs that may be the largest.

Let :math:`D_{0p}` and :math:`D_{1p}` be the difference of pair p before and after, and
let p differ most before and q after. Then

.. math:: D_{1p} - D_{0p} \le D_{1q} - D_{0p} \le D_{1q} - D_{0q} ,

since p has the largest difference before, and q after. The one in the middle is the
change. So it lies between the changes of two single pairs, which are narrow where few
decisions change. Which pairs differ most is not known: the lower end is the least of
all pairs that may be p, the upper end the largest of all that may be q. A pair may be
the largest unless it is surely smaller than the one that is largest in these rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._lazy import special
from fairdash.metrics.group.intervals import Bounds

# What part of the error each statement may have. The parts add up to 1.
_OWN_CHANGE = 0.5
_CROSSED_CHANGE = 0.4
_SELECTION = 0.1


class PairGaps(NamedTuple):
    """Differences of means of pairs of groups, before and after.

    Attributes
    ----------
    contrast : array of shape (pairs, groups)
        1 for the first group of a pair, -1 for the second. Each pair is there both
        ways.
    mean : array of shape (groups, 2)
    covariance : array of shape (groups, 2, groups, 2)
        Of the means; at least that of few decisions of either kind.
    change_covariance : array of shape (groups, groups)
        Of the changes of the means.
    """

    contrast: FloatArray
    mean: FloatArray
    covariance: FloatArray
    change_covariance: FloatArray

    def interval_of_largest(self, confidence: float) -> Bounds:
        """Return the ends of the change of the largest difference."""
        n_pairs = max(len(self.contrast) // 2, 1)
        tail = (1 - confidence) / 2
        gap = self.contrast @ self.mean
        own_error = _errors(self.contrast, self.change_covariance)
        if n_pairs == 1:
            before = after = np.arange(len(gap))
            own_quantile = before_quantile = after_quantile = _quantile(tail)
        else:
            least = _quantile(_SELECTION * tail / n_pairs)
            before = self._may_be_largest(0, gap[:, 0], least)
            after = self._may_be_largest(1, gap[:, 1], least)
            own_quantile = _quantile(_OWN_CHANGE * tail)
            before_quantile = _quantile(_CROSSED_CHANGE * tail / len(before))
            after_quantile = _quantile(_CROSSED_CHANGE * tail / len(after))
        own_change = gap[:, 1] - gap[:, 0]
        own_half = own_quantile * own_error
        # Every pair that may be the largest before beside every one after.
        crossed = gap[None, after, 1] - gap[before, 0][:, None]
        crossed_error = self._crossed_errors(before, after)
        most = (crossed + before_quantile * crossed_error).min(axis=0)
        high = np.minimum(most, (own_change + own_half)[after]).max()
        fewest = (crossed - after_quantile * crossed_error).max(axis=1)
        low = np.maximum(fewest, (own_change - own_half)[before]).min()
        return np.asarray(low), np.asarray(high)

    def _may_be_largest(
        self, when: int, gap: FloatArray, quantile: float
    ) -> NDArray[np.intp]:
        """Return the pairs that are not surely smaller than the largest of all."""
        largest = int(gap.argmax())
        behind = self.contrast[largest] - self.contrast
        error = _errors(behind, self.covariance[:, when, :, when])
        return np.flatnonzero(gap[largest] - gap <= quantile * error)

    def _crossed_errors(
        self, before: NDArray[np.intp], after: NDArray[np.intp]
    ) -> FloatArray:
        """Return the standard errors of pairs after less pairs before."""
        old = self.contrast[before]
        new = self.contrast[after]
        shared = old @ self.covariance[:, 0, :, 1] @ new.T
        old_error = _errors(old, self.covariance[:, 0, :, 0])
        new_error = _errors(new, self.covariance[:, 1, :, 1])
        variance = old_error[:, None] ** 2 + new_error**2 - 2 * shared
        return np.sqrt(np.maximum(variance, 0.0))


def _errors(contrast: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the standard error of every contrast."""
    variance = np.einsum("pg,pg->p", contrast @ covariance, contrast)
    return np.sqrt(np.maximum(variance, 0.0))


def _quantile(tail: float) -> float:
    """Return the normal quantile above which is ``tail``."""
    return float(-special.ndtri(tail))
