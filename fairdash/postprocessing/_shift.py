"""Shift inference: treat each group as a shift of its prior and undo it."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from fairdash.postprocessing._base import PostProcessor
from fairdash.postprocessing._inputs import (
    ScoreType,
    as_margins,
    binary_labels,
    check_informative,
    fit_groups,
)
from fairdash.postprocessing._rules import Rule


class ShiftInference(PostProcessor):
    r"""Correct the prior of every group to that of all rows, then decide at 1/2.

    With the base rate :math:`\pi_k` of a group and :math:`\pi` of all rows, odds are
    multiplied by :math:`\frac{\pi}{1-\pi} \big/ \frac{\pi_k}{1-\pi_k}`. Deciding at
    1/2 then is one threshold per group. It promises no parity.

    Parameters
    ----------
    score_type : {"margin", "probability"}, default="margin"

    Attributes
    ----------
    priors_ : dict of group to float
        Base rate by group.
    groups_ : tuple of groups
    rules_ : dict of str to Rule

    References
    ----------
    M. Saerens, P. Latinne, C. Decaestecker (2002), Adjusting the outputs of a
    classifier to new a priori probabilities. Neural Computation 14, 21-41.
    Z. Wang et al. (2020), Towards fairness in visual recognition. CVPR.
    """

    def __init__(self, score_type: ScoreType = "margin") -> None:
        self.score_type = score_type

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
    ) -> Self:
        """Estimate the priors: mean outcomes, or mean probabilities without ``y``.

        Parameters
        ----------
        scores : array-like of shape (n,)
        y : array-like of 0/1, (n,), optional
        sensitive_features : array-like of shape (n,)

        Returns
        -------
        self
        """
        margins = as_margins(scores, self.score_type)
        check_informative(margins)
        fitted = fit_groups(sensitive_features, margins, None)
        codes = fitted.codes
        positive = (margins + 1) / 2 if y is None else binary_labels(y, margins)
        priors = np.bincount(codes, positive) / np.bincount(codes)
        extreme = [
            n for n, p in zip(fitted.names, priors, strict=True) if not 0 < p < 1
        ]
        if extreme:
            raise ValueError(
                f"`y` is the same in every row of groups {extreme}, so their odds "
                "cannot be corrected; merge them with another group or leave them out."
            )
        overall = float(np.mean(positive))
        factor = overall / (1 - overall) * (1 - priors) / priors
        # the corrected odds pass 1 at odds of 1 / factor
        starts = 2 / (1 + factor) - 1
        self.priors_ = dict(zip(fitted.values, map(float, priors), strict=True))
        self._learn(fitted, [Rule.steps([(float(t), 1.0)]) for t in starts], margins)
        return self
