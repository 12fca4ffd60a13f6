"""Units of two tables are dealt anew: how far columns are apart by chance."""

from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from fairdash._counts import people_of
from fairdash.metrics import counting

_LEAST = 999  # permutations
_TIMES = 40  # a column: Holm's smallest p-value is a twentieth of 1 / columns
_MOST_CUTS = 200
_CHUNK = 100  # permutations at a time, for memory
Array = NDArray[np.float64]
Codes = NDArray[np.int64]


class Sample(NamedTuple):
    """How the rows of a table were drawn: weights and units, None without.

    Rows of counts have `RowCounts` as weights.
    """

    weight: Array | None = None
    unit: Codes | None = None

    @property
    def plain(self) -> bool:
        """Whether rows, or the people of counts, are independent and weigh alike."""
        weighed = self.weight is not None and self.people is None
        return not weighed and self.unit is None

    @property
    def people(self) -> Array | None:
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
    weight: Array
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
        parts, weights, n_units = [], [], 0
        for sample, size in zip(samples, sizes, strict=True):
            unit = np.arange(size) if sample.unit is None else sample.unit
            codes = pd.factorize(unit)[0]
            parts.append(codes + n_units)
            n_units += int(codes.max(initial=-1)) + 1
            weights.append(np.ones(size) if sample.weight is None else sample.weight)
        first = np.zeros(n_units, dtype=bool)
        first[parts[1]] = True
        rng = np.random.default_rng(random_state)
        n = max(_LEAST, _TIMES * n_columns)
        dealt = rng.permuted(np.broadcast_to(first, (n, n_units)), axis=1)
        after = np.vstack([first, dealt])
        return cls(np.concatenate(parts), np.concatenate(weights), after)

    def numbers(self, values: Array) -> tuple[float, float]:
        """Return the largest distance of distributions of numbers, with its p-value."""
        present = ~np.isnan(values)
        cuts = np.unique(values[present])
        if len(cuts) > _MOST_CUTS:
            ranked = np.sort(values[present])
            places = np.linspace(0, len(ranked) - 1, _MOST_CUTS).round().astype(int)
            cuts = np.unique(ranked[places])
        codes = np.where(present, np.searchsorted(cuts, values), -1)
        before, after = self._shares(codes, len(cuts))
        apart = np.abs(np.cumsum(after - before, axis=1)).max(axis=1)
        return float(apart[0]), _p_value(apart)

    def categories(self, codes: Codes, n_levels: int) -> tuple[Array, float]:
        """Return the shares of levels in both tables, and the p-value of chi-square."""
        before, after = self._shares(codes, n_levels)
        mass = np.bincount(codes, self.weight, n_levels)
        apart = np.nansum(counting.divide((after - before) ** 2, mass), axis=1)
        return np.stack([before[0], after[0]]), _p_value(apart)

    def _shares(self, codes: Codes, n_levels: int) -> tuple[Array, Array]:
        some = codes >= 0
        place = self.unit[some], codes[some]
        shape = self.after.shape[1], n_levels
        mass = sparse.csr_matrix((self.weight[some], place), shape=shape)
        whole = np.asarray(mass.sum(axis=0)).ravel()
        chunks = range(0, len(self.after), _CHUNK)
        by_level = mass.T.tocsr()
        after = np.vstack(
            [
                (by_level @ self.after[at : at + _CHUNK].T.astype(float)).T
                for at in chunks
            ]
        )
        both: Any = (whole - after, after)
        before, after = (
            np.nan_to_num(counting.divide(part, part.sum(axis=1, keepdims=True)))
            for part in both
        )
        return before, after


def _p_value(statistics: Array) -> float:
    """Return how often a permutation is as far apart as the first of all."""
    beyond = (statistics[1:] >= statistics[0] * (1 - 1e-9)).sum()
    return float((1 + beyond) / len(statistics))
