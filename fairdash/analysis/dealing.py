"""Permutations of units between two tables, to compare columns with chance."""

from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from fairdash._arrays import Codes, FloatArray
from fairdash._counts import people_of
from fairdash.metrics import counting

# Fewest permutations ...
_LEAST = 999
# ... and how many a column: Holm's smallest p-value is a twentieth of 1 / columns.
_TIMES = 40
_MOST_CUTS = 200
# Permutations at a time, for memory.
_CHUNK = 100


class Sample(NamedTuple):
    """How the rows of a table were drawn: weights and units, None without.

    Rows of counts have `RowCounts` as weights.
    """

    weight: FloatArray | None = None
    unit: Codes | None = None

    @property
    def plain(self) -> bool:
        """Whether rows, or the people of counts, are independent and weigh alike."""
        is_weighted = self.weight is not None and self.people is None
        return not is_weighted and self.unit is None

    @property
    def people(self) -> FloatArray | None:
        """How many people each row stands for, None where each is one."""
        return people_of(self.weight)


class Dealt(NamedTuple):
    """Units of both tables, and permutations of the table that each is in.

    Attributes
    ----------
    unit : int array, (n_rows,)
        Of the rows of both tables, those before first; a unit is of one table.
    weight : array, (n_rows,)
    after : bool array, (1 + n_permutations, n_units)
        Which units are of the second table; the first line is as they are.
    """

    unit: Codes
    weight: FloatArray
    after: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        samples: tuple[Sample, Sample],
        sizes: tuple[int, int],
        n_columns: int,
        random_state: int | None,
    ) -> Self:
        """Deal the units of two tables to both, as many as each has."""
        units = []
        weights = []
        n_units = 0
        for sample, size in zip(samples, sizes, strict=True):
            unit = np.arange(size) if sample.unit is None else sample.unit
            weight = np.ones(size) if sample.weight is None else sample.weight
            codes, _ = pd.factorize(unit)
            # A unit is of one table: those of the second are numbered on.
            units.append(codes + n_units)
            weights.append(weight)
            n_units += int(codes.max(initial=-1)) + 1
        observed = np.zeros(n_units, dtype=bool)
        observed[units[1]] = True
        rng = np.random.default_rng(random_state)
        n_permutations = max(_LEAST, _TIMES * n_columns)
        repeated = np.broadcast_to(observed, (n_permutations, n_units))
        after = np.vstack([observed, rng.permuted(repeated, axis=1)])
        return cls(np.concatenate(units), np.concatenate(weights), after)

    def numbers(self, values: FloatArray) -> tuple[float, float]:
        """Return the largest distance of distributions of numbers, with its p-value."""
        present = ~np.isnan(values)
        cuts = np.unique(values[present])
        if len(cuts) > _MOST_CUTS:
            ordered = np.sort(values[present])
            ranks = np.linspace(0, len(ordered) - 1, _MOST_CUTS).round().astype(int)
            cuts = np.unique(ordered[ranks])
        codes = np.where(present, np.searchsorted(cuts, values), -1)
        before, after = self._shares(codes, len(cuts))
        distances = np.abs(np.cumsum(after - before, axis=1)).max(axis=1)
        return float(distances[0]), _p_value(distances)

    def categories(self, codes: Codes, n_levels: int) -> tuple[FloatArray, float]:
        """Return the shares of levels in both tables, and the p-value of chi-square."""
        before, after = self._shares(codes, n_levels)
        mass = np.bincount(codes, self.weight, n_levels)
        statistics = np.nansum(counting.divide((after - before) ** 2, mass), axis=1)
        return np.stack([before[0], after[0]]), _p_value(statistics)

    def _shares(self, codes: Codes, n_levels: int) -> tuple[FloatArray, FloatArray]:
        """Return the shares of levels before and after, (1 + n_permutations, levels).

        A negative code is in no level.
        """
        present = codes >= 0
        cell = (self.unit[present], codes[present])
        n_units = self.after.shape[1]
        mass = sparse.csr_matrix(
            (self.weight[present], cell), shape=(n_units, n_levels)
        )
        total = np.asarray(mass.sum(axis=0)).ravel()
        level_mass = mass.T.tocsr()
        sums = []
        for start in range(0, len(self.after), _CHUNK):
            is_after = self.after[start : start + _CHUNK].T.astype(float)
            sums.append((level_mass @ is_after).T)
        after = np.vstack(sums)
        return _normalised(total - after), _normalised(after)


def _normalised(sums: Any) -> FloatArray:
    """Return the shares of levels in each row, 0 in a row without any mass."""
    return np.nan_to_num(counting.divide(sums, sums.sum(axis=1, keepdims=True)))


def _p_value(statistics: FloatArray) -> float:
    """Return how often a permutation is as far apart as the first of all."""
    # Equal statistics may differ by the rounding of their sums.
    n_beyond = (statistics[1:] >= statistics[0] * (1 - 1e-9)).sum()
    return float((1 + n_beyond) / len(statistics))
