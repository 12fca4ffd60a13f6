"""Checked rows that a measure is computed from."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import check_lengths, check_one_of
from fairdash.metrics.group.catalog import (
    COST,
    MEASURES,
    NUMBER_MEASURES,
    RANKING_MEASURES,
    RATES,
    SCORE_MEASURES,
    error_costs,
    measure_of,
)
from fairdash.metrics.group.cell_values import CellValues
from fairdash.metrics.group.cells import Cells, Says
from fairdash.metrics.group.counting import (
    finite_numbers,
    labels,
    people,
    probability_models,
    sampling_weights,
)
from fairdash.metrics.group.drawn import Drawn, chances
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.variance import unit_codes


class Measured(NamedTuple):
    """Rows with what a measure takes of them, checked."""

    measure: str
    sample: Sample

    @property
    def outcomes(self) -> FloatArray:
        """The outcome of every row, once."""
        return self.sample.outcomes

    @property
    def predicted(self) -> FloatArray:
        """The decision, score or number of every row."""
        return self.sample.predicted

    @classmethod
    def _drawn(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        decisions: Drawn,
        sample_weight: ArrayLike | None,
        pos_label: Any,
        cluster: ArrayLike | None,
    ) -> Self:
        """Check rows whose decisions are drawn; give each row both decisions."""
        check_one_of("measure", measure.partition(" ")[0], (*RATES, COST))
        chance = chances("y_pred", decisions)
        n_rows = len(chance)
        unit = unit_codes(cluster, n_rows)
        outcome = None if y_true is None else labels("y_true", y_true, pos_label)
        check_lengths(chance, outcome, sample_weight)
        # First all rows as decided 1, then all again as decided 0.
        rows = cls.of(
            measure, _twice(outcome), np.repeat([1, 0], n_rows), _twice(sample_weight)
        )
        sample = rows.sample
        counts = people("sample_weight", sample_weight, n_rows)
        if counts is not None:
            sample = sample._replace(weight=None, people=_twice(counts))
        sample = sample._replace(
            chance=np.concatenate([chance, 1 - chance]),
            unit=_twice(unit),
            row=_twice(np.arange(n_rows)),
            content=decisions.shared(counted=counts is not None),
        )
        return cls(measure, sample)

    @classmethod
    def of(
        cls,
        measure: str,
        y_true: ArrayLike | None,
        y_pred: ArrayLike | Drawn,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        cluster: ArrayLike | None = None,
    ) -> Self:
        """Check what a measure is computed from; see `measure_by_group`."""
        if isinstance(y_pred, Drawn):
            return cls._drawn(
                measure, y_true, y_pred, sample_weight, pos_label, cluster
            )
        _check_measure(measure, y_true)
        entry = measure_of(measure)
        of_classes = entry.outcome == "classes"
        of_scores = measure in SCORE_MEASURES
        if not of_classes:
            predicted = finite_numbers("y_pred", y_pred)
        elif of_scores:
            predicted = probability_models("y_pred", y_pred)[0].astype(np.float64)
        else:
            predicted = labels("y_pred", y_pred, pos_label).astype(np.float64)
        if y_true is None:
            y = np.zeros(len(predicted))
        elif not of_classes:
            y = finite_numbers("y_true", y_true)
        else:
            y = labels("y_true", y_true, pos_label).astype(np.float64)
        check_lengths(y, predicted)
        if not of_classes:
            # Here and not in `estimate`, so that ranks are among all rows.
            assert entry.values is not None, "a mean says what each row has"
            predicted = entry.values(y, predicted)
        weight = sampling_weights("sample_weight", sample_weight, len(predicted))
        counts = people("sample_weight", sample_weight, len(predicted))
        unit = unit_codes(cluster, len(predicted))
        if counts is not None and unit is not None:
            raise ValueError(
                "Rows that stand for several people have no unit of their own. Give "
                "counts or `cluster`, not both."
            )
        return cls(measure, Sample(y, predicted, weight, unit=unit, people=counts))

    def cells(self, place: Codes, n_places: int) -> Cells:
        """Return the cells of the rows by the place of each, negative for none."""
        entry = measure_of(self.measure)
        says: Says = None
        if entry.of_scores:
            says = "score"
        elif entry.takes == "decision":
            says = "decision"
        return Cells.of(self.sample, place, n_places, says=says)

    def estimate(self, cell: Codes, shape: tuple[int, ...]) -> CellValues:
        """Return the measure in the cells of a table of ``shape``.

        ``cell`` is the place of each row in it; rows of a negative one are in none.
        """
        n_cells = int(np.prod(shape))
        cells = self.cells(cell, n_cells)
        return cells.estimate(self.measure, np.arange(n_cells), shape)


def _check_measure(measure: str, y_true: ArrayLike | None) -> None:
    """Raise ValueError for an unknown measure, and for one that lacks outcomes."""
    costs = error_costs(measure)
    if costs is None:
        names = (*MEASURES, COST, *NUMBER_MEASURES, *RANKING_MEASURES)
        check_one_of("measure", measure, names)
    needed = bool(costs) or measure_of(measure).needs_outcome
    if y_true is None and (needed or measure in SCORE_MEASURES):
        raise ValueError(f"`y_true` is needed for {measure!r}.")


def _twice(column: ArrayLike | None) -> Any:
    """Return a column after itself; None for none."""
    return None if column is None else np.tile(np.asarray(column), 2)
