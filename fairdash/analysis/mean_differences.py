r"""The standardised mean difference of scores, with an interval.

.. math:: d = \frac{\bar x - \bar y}{s} , \qquad
    s^2 = \frac{(n - 1) s_x^2 + (m - 1) s_y^2}{n + m - 2}

To first order d is a sum of one residual a row: of a row of the first group

.. math:: e_i = \frac{x_i - \bar x}{n s}
    - \frac{d}{2 s^2} \frac{(x_i - \bar x)^2 - s_x^2}{n + m - 2} ,

of one of the other group likewise with a minus before the first term. The interval is
Student's with the linearised variance, so scores need not be normal.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from fairdash._arrays import FloatArray


class MeanDifference(NamedTuple):
    """A standardised difference with its interval; NaN of fewer than two rows."""

    value: float
    low: float
    high: float


_UNDEFINED = MeanDifference(np.nan, np.nan, np.nan)


def standardised_difference(
    scores: FloatArray, reference: FloatArray, *, confidence: float = 0.95
) -> MeanDifference:
    """Return the difference of means over the pooled deviation (Cohen's d)."""
    n = len(scores)
    m = len(reference)
    if n < 2 or m < 2:
        return _UNDEFINED
    of_scores = scores.var(ddof=1)
    of_reference = reference.var(ddof=1)
    degrees = n + m - 2
    pooled = ((n - 1) * of_scores + (m - 1) * of_reference) / degrees
    if not pooled > 0:
        return _UNDEFINED
    deviation = np.sqrt(pooled)
    value = float((scores.mean() - reference.mean()) / deviation)
    variance = 0.0
    sides = ((scores, of_scores, 1.0), (reference, of_reference, -1.0))
    for numbers, spread, sign in sides:
        centred = numbers - numbers.mean()
        of_mean = sign * centred / (len(numbers) * deviation)
        of_deviation = value * (centred**2 - spread) / (2 * pooled * degrees)
        residual = of_mean - of_deviation
        variance += len(numbers) / (len(numbers) - 1) * np.sum(residual**2)
    # The smaller group has few degrees of its own where groups are spread unlike.
    student = stdtrit(min(n, m) - 1, (1 + confidence) / 2)
    half = float(student * np.sqrt(variance))
    return MeanDifference(value, value - half, value + half)
