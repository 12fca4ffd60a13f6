"""Local DI of randomised decisions: expected rates inside subgroups."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash.metrics import gap_interval, local_cells


def expected_local_di(
    h: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Gap between the groups' expected positive rates inside every subgroup.

    The table of `fairdash.metrics.local_di` for decisions drawn with probabilities
    ``h`` instead of given ones; for 0 and 1 the two agree.

    Parameters
    ----------
    h : array-like of shape (n,)
        Probability of a positive decision.
    sensitive_features, subgroups, min_size, confidence
        As in `fairdash.metrics.local_di`.

    Returns
    -------
    DataFrame, one row per subgroup
    """
    decided = np.asarray(h, dtype=np.float64)
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    rows = local.cells.rows
    positives = local.cells.count(decided[None])[0]
    rates = np.divide(positives, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
    reported = local.rates(positives)
    low, high = gap_interval(
        np.where(local.estimable[:, None], positives, np.nan),
        rows,
        confidence=confidence,
    )
    by_group = list(enumerate(local.groups))
    return pd.DataFrame(
        {
            "subgroup": list(local.subgroups),
            "n": rows.sum(axis=1).astype(np.int64),
            **{f"n_{name}": rows[:, k].astype(np.int64) for k, name in by_group},
            **{f"rate_{name}": rates[:, k] for k, name in by_group},
            "local_di": reported.max(axis=1) - reported.min(axis=1),
            "ci_low": low,
            "ci_high": high,
            "estimable": local.estimable,
            "reason": list(local.reasons),
        }
    )
