"""What a constraint leaves: in probabilities, and after they are rounded."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import encode_groups

_OUTCOMES: dict[str, tuple[tuple[int, ...], ...]] = {
    "demographic_parity": ((0, 1),),
    "equalized_odds": ((1,), (0,)),
    "true_positive_rate_parity": ((1,),),
}


def expected_violations(
    y_true: ArrayLike, scores: ArrayLike, *, sensitive_features: ArrayLike
) -> pd.DataFrame:
    """Return how far groups are apart on average, before and after rounding.

    A method that constrains probabilities can close the first and leave the second; a
    decision drawn with the probability has the first in expectation.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        0 or 1.
    scores : array-like of shape (n_rows,)
        Probabilities of the positive outcome.
    sensitive_features : array-like of shape (n_rows,)

    Returns
    -------
    DataFrame
        One row per ``constraint``: ``expected``, the largest minus the smallest mean
        probability of the groups, and ``rounded``, the same of the decisions at one
        half. Under equalized odds the two differences, one for each outcome, are added,
        as in Rezaei et al. (2020). NaN where a group has no rows to compare.
    """
    target, probability = np.asarray(y_true), np.asarray(scores, dtype=np.float64)
    groups, codes = encode_groups(sensitive_features, probability)
    kinds = {"expected": probability, "rounded": (probability > 0.5).astype(np.float64)}
    rows = []
    for constraint, outcomes in _OUTCOMES.items():
        cells = [np.isin(target, chosen) for chosen in outcomes]
        row = {
            name: sum(_spread(values[c], codes[c], len(groups)) for c in cells)
            for name, values in kinds.items()
        }
        rows.append({"constraint": constraint, **row})
    return pd.DataFrame(rows)


def _spread(
    values: NDArray[np.float64], codes: NDArray[np.int64], n_groups: int
) -> float:
    sizes = np.bincount(codes, minlength=n_groups)
    if not sizes.all():
        return np.nan
    return float(np.ptp(np.bincount(codes, values, n_groups) / sizes))
