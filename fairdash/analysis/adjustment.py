"""P-values of several tests at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays and is not counted."""
    n_tests = int((~np.isnan(p)).sum())
    order: Any = np.argsort(p)[:n_tests]  # NaN is sorted last
    steps = p[order] * np.arange(n_tests, 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
