"""A measure by group over all rows: its values, and gaps from a reference group."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._validation import check_one_of
from fairdash.metrics.group.catalog import best_off
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.counting import divide, group_codes
from fairdash.metrics.group.intervals import Interval, check_confidence, ratio_of
from fairdash.metrics.group.measured import Measured


@dataclass(frozen=True, eq=False)
class GroupMeasure:
    """A measure in every group.

    Attributes
    ----------
    groups : tuple of str
    values : CellValues of shape (groups,)
        With what all intervals follow from, so that any table of them is of the same
        estimates.
    """

    measure: str
    groups: tuple[str, ...]
    values: CellValues

    @classmethod
    def of(cls, rows: Measured, sensitive_features: ArrayLike) -> Self:
        """Compute the measure of checked rows in every group."""
        groups = group_codes(sensitive_features, rows.outcomes)
        values = rows.estimate(groups.codes, (len(groups.names),))
        return cls(rows.measure, groups.names, values)

    def table(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return the table of `measure_by_group`."""
        check_confidence(confidence)
        value, low, high = self.values.interval(confidence)
        return pd.DataFrame(
            {
                "group": list(self.groups),
                "value": value,
                "ci_low": low,
                "ci_high": high,
                "n": self.values.n,
            }
        )

    def gaps(
        self,
        *,
        reference: str | None = None,
        favourable: bool = True,
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Return the table of `measure_gaps`."""
        check_confidence(confidence)
        place = self._reference(reference, favourable)
        peers = np.array([k for k in range(len(self.groups)) if k != place])
        cells = self.values
        intervals = cells.interval(confidence)
        of_group = intervals.take(peers)
        of_reference = intervals.take(np.full(len(peers), place))
        correlation: Any = 0.0
        if cells.correlation is not None:
            correlation = cells.correlation[peers, place]
        difference = cells.between(peers, place, confidence)
        ratio = Interval(
            divide(of_group.value, of_reference.value),
            *ratio_of(of_group, of_reference, correlation),
        )
        if cells.signed:
            ratio = Interval(*np.full((3, len(peers)), np.nan))
        return pd.DataFrame(
            {
                "group": [self.groups[k] for k in peers],
                "reference": self.groups[place],
                "value": of_group.value,
                "reference_value": of_reference.value,
                "difference": difference.value,
                "ci_low": difference.low,
                "ci_high": difference.high,
                "ratio": ratio.value,
                "ratio_low": ratio.low,
                "ratio_high": ratio.high,
                "n": cells.n[peers],
                "too_few": cells.too_few(peers, place),
            }
        )

    def _reference(self, reference: str | None, favourable: bool) -> int:
        """Return the index of the reference group, by default of the best off."""
        if reference is not None:
            check_one_of("reference", reference, self.groups)
            return self.groups.index(reference)
        cells = self.values
        value = np.where(cells.comparable(), cells.value, np.nan)
        return best_off(self.measure, value, favourable=favourable)
