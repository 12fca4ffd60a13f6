"""Local DI of randomised decisions: expected rates inside subgroups."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import encode_groups
from fairdash.metrics import LocalCells, gap_interval, local_cells


@dataclass(frozen=True, eq=False)
class LocalRates:
    """Rows by subgroup and group, sorted once for any number of decisions.

    Attributes
    ----------
    local : LocalCells
    cells : ndarray of int64
        Place of every row in the table of subgroups and groups, -1 outside.
    """

    local: LocalCells
    cells: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        min_size: int = 50,
    ) -> Self:
        """Sort rows; parameters as in `fairdash.metrics.local_di`."""
        local = local_cells(
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        )
        _, group = encode_groups(sensitive_features, local.codes)
        inside = local.codes >= 0
        return cls(local, np.where(inside, local.codes * len(local.groups) + group, -1))

    def table(self, h: ArrayLike, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return the table of :func:`expected_local_di`."""
        local, rows = self.local, self.local.cells.rows
        # cell -1 comes first and is left out
        weight = np.asarray(h, dtype=np.float64)
        sums = np.bincount(self.cells + 1, weight, rows.size + 1).astype(np.float64)
        positives = sums[1:].reshape(rows.shape)
        rates = np.full(rows.shape, np.nan)
        np.divide(positives, rows, out=rates, where=rows > 0)
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
    rows = LocalRates.of(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    return rows.table(h, confidence=confidence)
