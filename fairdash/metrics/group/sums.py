"""Rows counted: sums over the people of those that say the same.

What is estimated of decisions depends on rows by sums alone, so equal rows are one
entry with its `Sums`. `count_rows` makes the entries.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdash.metrics.group.catalog import Array
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.variance import Codes


class Sums(NamedTuple):
    """Sums over the people of some rows.

    Attributes
    ----------
    rows, weighing : array
        How many they are, and how many of these have a weight.
    mass, squares, fourths : array
        Of their weights, and of the second and fourth powers of these.
    """

    rows: Array
    weighing: Array
    mass: Array
    squares: Array
    fourths: Array

    @classmethod
    def of_people(cls, people: Array) -> Self:
        """Return the sums of people who all weigh alike."""
        return cls(people, people, people, people, people)

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Return those of each row."""
        times = np.ones(len(sample.y)) if sample.times is None else sample.times
        if sample.weight is None:
            return cls.of_people(times)
        squares = sample.weight**2
        return cls(
            times,
            times * (sample.weight > 0),
            times * sample.weight,
            times * squares,
            times * squares**2,
        )

    @classmethod
    def by(cls, sample: Sample, code: Codes, n_codes: int) -> Self:
        """Return the sums over the rows of each code."""
        if sample.weight is None:
            # Counts alone say all of rows that weigh alike.
            people = np.bincount(code, sample.times, n_codes).astype(np.float64)
            return cls.of_people(people)
        totals = [
            np.bincount(code, part, n_codes).astype(np.float64)
            for part in cls.of(sample)
        ]
        return cls(*totals)

    def take(self, index: NDArray[np.bool_] | Codes) -> Self:
        """Return the sums of a mask or of positions."""
        return type(self)(*(part[index] for part in self))


class Counted(NamedTuple):
    """Entries of rows that have the same flags in the same place.

    Attributes
    ----------
    flags : tuple of array
        0 or 1 of each entry, an array for each column of the rows.
    place : int array
    unit : int array or None
        Entries of several units are apart.
    sums : Sums
    """

    flags: tuple[Array, ...]
    place: Codes
    unit: Codes | None
    sums: Sums


def with_scaled_weights(sample: Sample) -> Sample:
    """Return a sample whose largest weight is near 1.

    Fourth powers of large weights would overflow. No estimate depends on the scale of
    weights, and a power of two rounds none of them.
    """
    if sample.weight is None:
        return sample
    _, exponent = np.frexp(sample.weight.max(initial=0.0))
    return sample._replace(weight=np.ldexp(sample.weight, -exponent))


def count_rows(
    sample: Sample, columns: Sequence[Array], place: Codes, n_places: int
) -> Counted:
    """Count rows by place and flags, with units by unit too.

    Parameters
    ----------
    sample : Sample
        Of which only weights, people and units are read.
    columns : sequence of arrays of 0 and 1, (n_rows,)
    place : int array of shape (n_rows,)
        Of each row; rows of a negative one are left out.
    """
    inside = place >= 0
    if not inside.all():
        place = place[inside]
        sample = sample.take(inside)
        columns = [column[inside] for column in columns]
    code = place.astype(np.int64)
    for column in columns:
        code = 2 * code + column.astype(np.int64)
    n_kinds = 2 ** len(columns)
    if sample.unit is None:
        sums = Sums.by(sample, code, n_places * n_kinds)
        present = np.flatnonzero(sums.rows)
        sums = sums.take(present)
        unit = None
    else:
        n_units = sample.n_units
        entries, entry = np.unique(code * n_units + sample.unit, return_inverse=True)
        sums = Sums.by(sample, entry, len(entries))
        present = entries // n_units
        unit = entries % n_units
    kind = present % n_kinds
    bits = range(len(columns) - 1, -1, -1)  # the last column is the lowest bit
    flags = tuple(((kind >> bit) & 1).astype(np.float64) for bit in bits)
    return Counted(flags, present // n_kinds, unit, sums)
