"""The worst rates of a group whose members are known only up to a radius."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import value_label
from fairdash.methods.noisy_groups._inputs import by_group, decided_rows

Float = NDArray[np.float64]
Labels = NDArray[np.int64]


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
    rows = outcome, decision, names, codes
    return pd.DataFrame(
        {
            "min_tpr": worst_rate(1, *rows, radii),
            "max_fpr": worst_rate(0, *rows, radii),
        },
        index=pd.Index(names, name="group"),
    )


def worst_rate(
    label: int,
    outcome: Labels,
    decision: Labels,
    names: NDArray[np.generic],
    codes: Labels,
    radii: Float,
) -> Float:
    """Return each group's smallest TPR, if ``label`` is 1, or its largest FPR."""
    chosen = outcome == label
    n = np.bincount(codes[chosen], minlength=len(names))
    if not n.all():
        empty = value_label(names[int(n.argmin())])
        message = (
            f"Group {empty} has no rows with outcome {label}, so its rate is not "
            "defined; leave the group out or join it with another."
        )
        raise ValueError(message)
    wrong = chosen & (decision != label)
    positive = np.bincount(codes[chosen & (decision == 1)], minlength=len(names))
    rate: Float = positive / n
    if not wrong.any():
        return rate
    shift = radii / (n / np.bincount(codes, minlength=len(names)))
    return np.clip(rate - shift if label else rate + shift, 0.0, 1.0)
