"""What randomised decisions do on average: accuracy, DI, changes, local rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from fairdash.metrics import GroupMeans, change_of_gap, intervals
from fairdash.postprocessing.inputs import Array


@dataclass(frozen=True, eq=False)
class DecisionSums:
    """Sums of h that all expected numbers follow from; one pass over the rows.

    Rows, sum of h and of its square are by group, decision before, and outcome,
    (groups, 2, 2). Without outcomes, which then count as 0, accuracy is NaN. Where rows
    have weights all are sums of these, and ``heavy`` that of their squares.
    """

    groups: tuple[str, ...]
    n: Array
    h: Array
    squares: Array
    heavy: Array
    has_outcome: bool = True

    @classmethod
    def of(
        cls,
        h: Array,
        cells: NDArray[np.int64],
        groups: Sequence[str],
        *,
        has_outcome: bool = True,
        weight: Array | None = None,
    ) -> Self:
        """Add up h by cell: 4 times the group + 2 times the decision + the outcome.

        Rows of weight 0 are excluded.
        """
        shape = (len(groups), 2, 2)
        if weight is not None:
            heavy = weight > 0
            h, cells, weight = h[heavy], cells[heavy], weight[heavy]

        def total(values: Array | None) -> Array:
            if weight is not None:
                values = weight if values is None else weight * values
            sums = np.bincount(cells, values, 4 * len(groups))
            return sums.astype(np.float64).reshape(shape)

        n = total(None)
        present = n.sum(axis=(1, 2)) > 0
        names = tuple(np.array(groups, dtype=object)[present])
        first, second, heavy = (total(values)[present] for values in (h, h * h, weight))
        return cls(names, n[present], first, second, heavy, has_outcome)

    def outcome(self) -> pd.DataFrame:
        """Return accuracy and DI, and their changes beside the decisions before.

        Returns
        -------
        DataFrame with rows "accuracy" and "demographic_parity_difference": metric,
        value, low, high (Wilson and folded Newcombe with expected counts, which hold
        for drawn decisions and are wide for expected ones), change, change_low and
        change_high: for accuracy the normal interval of the paired change of each row,
        for DI `fairdash.metrics.gap_change`.
        """
        n, h = self.n.sum(axis=(1, 2)), self.h.sum(axis=(1, 2))
        heavy = self.heavy.sum(axis=(1, 2))
        each, whole = n / heavy, n.sum() / heavy.sum()  # Kish's rows of a unit
        right = self.h[..., 1].sum() + (self.n - self.h)[..., 0].sum()
        ends = right * whole, n.sum() * whole
        accuracy = intervals.wilson_interval(*ends)
        gap = intervals.largest_gap(
            h / n,
            lambda z: intervals.wilson_ends(h / n, n * each, z),
            confidence=0.95,
        )
        moved, squares = self._moved()
        sign = np.array([-1.0, 1.0])  # more positive decisions are right where y is 1
        rows = {
            "accuracy": [
                right / n.sum(),
                *accuracy,
                *_paired((sign * moved).sum(), squares.sum(), n.sum(), whole),
            ],
            "demographic_parity_difference": [
                np.ptp(h / n),
                *gap,
                *self._gap(each),
            ],
        }
        columns = ["value", "low", "high", "change", "change_low", "change_high"]
        if not self.has_outcome:
            rows["accuracy"] = [np.nan] * len(columns)
        table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
        return table.astype(float).rename_axis("metric").reset_index()

    def changed(self) -> pd.DataFrame:
        """Return decisions changed by group, see `Report`."""
        n, h = self.n.sum(axis=2), self.h.sum(axis=2)
        up, down = h[:, 0], (n - h)[:, 1]
        whole = n.sum(axis=1)
        return pd.DataFrame(
            {
                "group": list(self.groups),
                "n": whole,
                "rate_before": n[:, 1] / whole,
                "rate": h.sum(axis=1) / whole,
                "up": up,
                "down": down,
                "changed": up + down,
            }
        )

    def _moved(self) -> tuple[Array, Array]:
        """Return the sums of h minus the decision before, and of its square."""
        before = np.array([[0.0], [1.0]])
        moved = self.h - before * self.n
        squares = self.squares - 2 * before * self.h + before * self.n
        return moved, squares

    def _gap(self, each: Array) -> list[float]:
        """Return the change of DI with its interval; see `fairdash.metrics.gap_change`.

        Variances are of rows that count ``each`` of their weight.
        """
        n, h = self.n.sum(axis=(1, 2)), self.h.sum(axis=(1, 2))
        before, after = self.n[:, 1].sum(axis=1) / n, h / n
        own = [
            [before * (1 - before), self.h[:, 1].sum(axis=1) / n - before * after],
            [np.nan * n, self.squares.sum(axis=(1, 2)) / n - after**2],
        ]
        own[1][0] = own[0][1]
        rows = np.maximum(n * each - 1, 1.0)
        means = GroupMeans(
            np.stack([before, after], axis=1),
            np.moveaxis(np.array(own), 2, 0) / rows[:, None, None],
            n * each,
        )
        return [float(part) for part in change_of_gap(means)]


def _paired(total: float, squares: float, n: float, each: float) -> list[float]:
    """Return a mean with its 95 % normal interval, from sums over ``n * each`` rows."""
    mean = float(total / n)
    half = float(ndtri(0.975)) * float(
        np.sqrt(max(squares / n - mean**2, 0.0) / (n * each))
    )
    return [mean, mean - half, mean + half]
