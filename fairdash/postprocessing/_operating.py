"""The thresholds of a group that some accuracy or error rate may ask for: its hull."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from fairdash.postprocessing._accurate import ByOutcome
from fairdash.postprocessing._rules import Rule
from fairdash.postprocessing._sorted import Array


@dataclass(frozen=True, eq=False)
class Operating:
    """Vertices of the concave hull of a group's ROC curve.

    Attributes
    ----------
    threshold : ndarray
        Margin from which rows are decided positive, falling; the first is infinite.
        Others lie halfway between neighbouring scores.
    true, false : ndarray
        Positive decisions among rows of either outcome, as counts.
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
        scores = np.unique(np.concatenate([side.values for side in group]))[::-1]
        true, false = (
            side.total - side.mass[np.searchsorted(side.values, scores)]
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
        self, axis: Array, at: float, kept: float = 1.0, floor: float = 0.0
    ) -> Rule:
        """Return the mixture of two neighbouring thresholds that reaches a rate.

        Parameters
        ----------
        axis : ndarray
            Rates at the vertices, rising.
        at : float
            The rate to reach.
        kept, floor : float
            Share of rows decided so, and probability that the others add to all.
        """
        after = int(np.clip(np.searchsorted(axis, at), 1, len(axis) - 1))
        width = axis[after] - axis[after - 1]
        share = float((at - axis[after - 1]) / width) if width > 0 else 1.0
        jumps = [
            (float(self.threshold[place]), kept * part)
            for place, part in ((after - 1, 1 - share), (after, share))
            if part > 0 and np.isfinite(self.threshold[place])
        ]
        if not jumps or kept == 0:
            return Rule(score=(0.0,), probability=(floor,))
        return Rule.steps(jumps, floor)
