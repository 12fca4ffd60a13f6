"""Reject option classification: favour the disadvantaged where the model doubts."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from fairdash._validation import check_positive
from fairdash.postprocessing._base import PostProcessor
from fairdash.postprocessing._inputs import (
    ScoreType,
    as_margins,
    check_informative,
    fit_groups,
)
from fairdash.postprocessing._rules import Rule

GRID = np.arange(1, 101) / 100


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
    score_type : {"margin", "probability"}, default="margin"

    Attributes
    ----------
    width_ : float
    favoured_ : tuple of groups
        Groups whose doubtful rows are decided positive.
    groups_ : tuple of groups
    rules_ : dict of str to Rule

    References
    ----------
    F. Kamiran, A. Karim, X. Zhang (2012), Decision theory for discrimination-aware
    classification. ICDM.
    """

    def __init__(
        self, width: float | None = None, score_type: ScoreType = "margin"
    ) -> None:
        self.width = width
        self.score_type = score_type

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
    ) -> Self:
        """Find the groups of low rate and, if not given, the width; ignores ``y``.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : ignored
        sensitive_features : array-like of shape (n,)

        Returns
        -------
        self
        """
        if self.width is not None:
            check_positive("width", self.width)
            if self.width > 1:
                raise ValueError(f"`width` must lie in (0, 1], got {self.width!r}.")
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        fitted = fit_groups(sensitive_features, margins, None)
        codes = fitted.codes
        groups = [np.sort(margins[codes == k]) for k in range(len(fitted.names))]
        rates = np.array([(group > 0).mean() for group in groups])
        low = rates < (margins > 0).mean()
        widths = GRID if self.width is None else np.array([self.width])
        corrected = np.array(
            [
                _share_from(group, -widths if favoured else _above(widths))
                for group, favoured in zip(groups, low, strict=True)
            ]
        )
        best = int(np.argmin(np.ptp(corrected, axis=0)))
        self.width_ = float(widths[best])
        self.favoured_ = tuple(
            value for value, is_low in zip(fitted.values, low, strict=True) if is_low
        )
        starts = np.where(low, -self.width_, _above(self.width_))
        self._learn(fitted, [Rule.steps([(float(t), 1.0)]) for t in starts], margins)
        return self


def _above(width: ArrayLike) -> np.ndarray:
    """Return the smallest margins outside the critical region."""
    return np.nextafter(width, np.inf)


def _share_from(group: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    return 1 - np.searchsorted(group, threshold) / len(group)
