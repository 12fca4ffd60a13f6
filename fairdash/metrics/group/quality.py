"""Intervals of what `evaluate` says of a model over all rows.

All follow from the same estimates as those of measures by group, with their variance,
weights, units and degrees of freedom.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash.metrics.group.catalog import AREA
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.intervals import Bounds, Interval, difference_of
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.sample import Sample


class ScoredOutcomes(NamedTuple):
    """Outcomes with weights, units and people, of which models have scores."""

    y: FloatArray
    weight: FloatArray | None = None
    unit: NDArray[np.int64] | None = None
    people: FloatArray | None = None

    def area(self, scores: FloatArray, confidence: float) -> Interval:
        """Return the area under the ROC curve: DeLong's, on the logit scale."""
        return self._over_all(AREA, scores, confidence)

    def mean(self, values: FloatArray, confidence: float) -> Interval:
        """Return the mean of numbers: Hall's interval, none of few skewed rows."""
        return self._over_all("mean_prediction", values, confidence)

    def _over_all(
        self, measure: str, values: FloatArray, confidence: float
    ) -> Interval:
        sample = Sample(
            self.y,
            np.asarray(values, np.float64),
            self.weight,
            unit=self.unit,
            people=self.people,
        )
        rows = Measured(measure, sample)
        all_rows = np.zeros(len(self.y), np.int64)
        return rows.estimate(all_rows, (1,)).interval(confidence).take(0)


def mean_of_two(cells: CellValues, confidence: float) -> Interval:
    """Return the mean of two cells of the last axis, such as of both recalls.

    The intervals of both combine as those of a difference do.
    """
    cell = cells.interval(confidence)
    first = cell.take(0)
    second = cell.take(1)
    turned = Interval(-second.value, -second.high, -second.low)
    if cells.correlation is None:
        low, high = difference_of(first, turned)
    else:
        # The turned cell moves against the first one where both move together.
        low, high = difference_of(first, turned, -cells.correlation[..., 0, 1])
    return Interval((first.value + second.value) / 2, low / 2, high / 2)


def where_defined(value: FloatArray, bounds: Bounds) -> Bounds:
    """Return the ends, NaN where there is no value."""
    undefined = np.isnan(value)
    low, high = bounds
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
