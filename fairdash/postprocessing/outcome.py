"""What randomised decisions do on average: accuracy, DI, changes, local rates."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils import check_consistent_length

from fairdash._validation import encode_groups, value_label
from fairdash.metrics import LocalCells, gap_interval, local_cells, wilson_interval
from fairdash.postprocessing.inputs import Array, binary_labels


def expected_outcome(
    h: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    y: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return expected accuracy and DI of decisions drawn with probabilities ``h``.

    Parameters
    ----------
    h : array-like of shape (n,)
        Probability of a positive decision.
    sensitive_features : array-like of shape (n,)
    y : array-like of 0/1, optional
        Without it accuracy is NaN.
    reference : array-like of shape (n,), optional
        Decisions, or their probabilities, to compare with on the same rows.
    confidence : float, default=0.95

    Returns
    -------
    DataFrame with rows "accuracy" and "demographic_parity_difference": metric, value,
    low, high (Wilson and folded Newcombe with expected counts, which hold for drawn
    decisions and are wide for expected ones), and, with a reference, change,
    change_low, change_high: normal intervals of the paired change of each row, for DI
    of the gap between the groups that are furthest apart in the reference.
    """
    decided = np.asarray(h, dtype=np.float64)
    _, codes = encode_groups(sensitive_features, decided)
    n = np.bincount(codes)
    z = float(ndtri((1 + confidence) / 2))
    rates = np.bincount(codes, decided) / n
    gap = gap_interval(rates * n, n, confidence=confidence)
    rows: dict[str, list[float]] = {
        "accuracy": [np.nan] * 3,
        "demographic_parity_difference": [float(np.ptp(rates)), *map(float, gap)],
    }
    labels = None if y is None else binary_labels(y, decided).astype(np.float64)
    if labels is not None:
        right = _right(decided, labels)
        ends = wilson_interval(right.sum(), len(right), confidence=confidence)
        rows["accuracy"] = [float(right.mean()), *map(float, ends)]
    columns = ["value", "low", "high"]
    if reference is not None:
        before = np.asarray(reference, dtype=np.float64)
        check_consistent_length(decided, before)
        columns += ["change", "change_low", "change_high"]
        rows["accuracy"] += (
            [np.nan] * 3
            if labels is None
            else _paired(_right(decided, labels) - _right(before, labels), z)
        )
        rows["demographic_parity_difference"] += _paired_gap(decided, before, codes, z)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis("metric").reset_index()


def changed_decisions(
    h: ArrayLike, reference: ArrayLike, *, sensitive_features: ArrayLike
) -> pd.DataFrame:
    """Return how many decisions of a reference change on average, by group.

    Parameters
    ----------
    h : array-like of shape (n,)
    reference : array-like of 0/1, (n,)
    sensitive_features : array-like of shape (n,)

    Returns
    -------
    DataFrame, one row per group: group, n, rate_before, rate, up (0 to 1), down (1 to
    0), sd (standard deviation of the number of changes from drawing alone)
    """
    decided = np.asarray(h, dtype=np.float64)
    before = binary_labels(reference, decided)
    groups, codes = encode_groups(sensitive_features, decided)
    n = np.bincount(codes)
    return pd.DataFrame(
        {
            "group": [value_label(group) for group in groups],
            "n": n,
            "rate_before": np.bincount(codes, before) / n,
            "rate": np.bincount(codes, decided) / n,
            "up": np.bincount(codes, decided * (1 - before)),
            "down": np.bincount(codes, (1 - decided) * before),
            "sd": np.sqrt(np.bincount(codes, decided * (1 - decided))),
        }
    )


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
        # cell -1 comes first and is excluded
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


def _right(decided: Array, y: Array) -> Array:
    """Return the probability that each decision is right."""
    right: Array = y * decided + (1 - y) * (1 - decided)
    return right


def _paired(difference: Array, z: float) -> list[float]:
    mean = float(difference.mean())
    half = z * float(difference.std()) / np.sqrt(len(difference))
    return [mean, mean - half, mean + half]


def _paired_gap(
    decided: Array, before: Array, codes: NDArray[np.int64], z: float
) -> list[float]:
    n: Any = np.bincount(codes)
    rates = np.bincount(codes, before) / n
    high, low = int(rates.argmax()), int(rates.argmin())
    moved = [_paired(decided[codes == k] - before[codes == k], z) for k in (high, low)]
    signed = float(np.ptp(rates)) + moved[0][0] - moved[1][0]
    half = float(np.hypot(moved[0][2] - moved[0][0], moved[1][2] - moved[1][0]))
    change = float(np.ptp(np.bincount(codes, decided) / n) - np.ptp(rates))
    # |gap| can end on either side of 0, so its change cannot be surer than the signed
    ends = np.abs([signed - half, signed + half])
    low_end = 0.0 if abs(signed) <= half else float(ends.min())
    before_gap = float(np.ptp(rates))
    return [change, low_end - before_gap, float(ends.max()) - before_gap]
