"""The worst rates of a group whose members are known only up to a radius."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import value_label
from fairdash.methods.noisy_groups._inputs import by_group, decided_rows

Float = NDArray[np.float64]


def robust_rates(
    y: ArrayLike, y_pred: ArrayLike, noisy_groups: ArrayLike, radius: object
) -> pd.DataFrame:
    r"""Return the extreme rates over the total variation ball around each noisy group.

    .. math::

        \min TPR_j = \max\left(0, TPR_j - \frac{\gamma_j}{P(Y=1 | \hat G = j)}\right),
        \quad
        \max FPR_j = \min\left(1, FPR_j + \frac{\gamma_j}{P(Y=0 | \hat G = j)}\right)

    exact if the sample has a false negative (false positive) to put the mass on; else
    the rate is 1 (0) whatever the distribution.

    Parameters
    ----------
    y, y_pred : array-like of 0/1, shape (n,)
        Outcomes and decisions.
    noisy_groups : array-like of shape (n,)
    radius : float, mapping or sequence
        :math:`\gamma`, for all groups, by name, or in sorted order of groups.

    Returns
    -------
    DataFrame
        ``min_tpr`` and ``max_fpr``, one row per noisy group.

    Raises
    ------
    ValueError
        When a radius is outside [0, 1] or a group lacks one of the outcomes.
    """
    outcome, decision, names, codes = decided_rows(y, y_pred, noisy_groups)
    radii = by_group("radius", radius, names)
    sizes = np.bincount(codes, minlength=len(names))

    def side(label: int, wrong: int) -> tuple[Float, Float, bool]:
        """Return rate of ``wrong`` decisions, share of the outcome, any wrong one."""
        chosen = outcome == label
        n = np.bincount(codes[chosen], minlength=len(names))
        if not n.all():
            empty = value_label(names[int(n.argmin())])
            message = (
                f"Group {empty} has no rows with outcome {label}, so its rate is not "
                "defined; leave the group out or join it with another."
            )
            raise ValueError(message)
        errors = chosen & (decision == wrong)
        rate = np.bincount(codes[errors], minlength=len(names)) / n
        return rate, n / sizes, bool(errors.any())

    missed, positives, any_missed = side(1, 0)
    alarms, negatives, any_alarm = side(0, 1)
    return pd.DataFrame(
        {
            "min_tpr": _worst(1 - missed, -radii / positives, any_missed),
            "max_fpr": _worst(alarms, radii / negatives, any_alarm),
        },
        index=pd.Index(names, name="group"),
    )


def _worst(rate: Float, shift: Float, movable: bool) -> Float:
    return np.clip(rate + shift, 0.0, 1.0) if movable else rate
