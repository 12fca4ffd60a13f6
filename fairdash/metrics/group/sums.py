"""Rows counted: sums over the people of those that say the same.

What is estimated of decisions depends on rows by sums alone, so equal rows are one
entry with its `Sums`. `count_rows` makes the entries.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash.metrics.group.sample import Sample


class Sums(NamedTuple):
    """Sums over the people of some rows.

    Attributes
    ----------
    rows, weighing : array
        How many they are, and how many of these have a weight.
    mass, squares, fourths : array
        Of their weights, and of the second and fourth powers of these.
    """

    rows: FloatArray
    weighing: FloatArray
    mass: FloatArray
    squares: FloatArray
    fourths: FloatArray

    @classmethod
    def of_people(cls, people: FloatArray) -> Self:
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
    """Entries of rows of one kind in one place.

    Attributes
    ----------
    kind, place : int array
        Of each entry.
    unit : int array or None
        Entries of several units are apart.
    sums : Sums
    """

    kind: Codes
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
    sample: Sample, kind: Codes, n_kinds: int, place: Codes, n_places: int
) -> Counted:
    """Count rows by place and kind, with units by unit too.

    Parameters
    ----------
    sample : Sample
        Of which only weights, people and units are read.
    kind, place : int arrays of shape (n_rows,)
        Of each row; rows of a negative place are left out.
    """
    inside = place >= 0
    if not inside.all():
        place = place[inside]
        kind = kind[inside]
        sample = sample.take(inside)
    code = n_kinds * place.astype(np.int64) + kind
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
    return Counted(present % n_kinds, present // n_kinds, unit, sums)


def kind_of_flags(*columns: FloatArray) -> Codes:
    """Return a code of columns of 0 and 1, whose last one is the lowest bit."""
    kind = columns[0].astype(np.int64)
    for column in columns[1:]:
        kind = 2 * kind + column.astype(np.int64)
    return kind


def flags_of_kind(kind: Codes, n_columns: int) -> list[FloatArray]:
    """Return the columns that `kind_of_flags` made codes of."""
    bits = range(n_columns - 1, -1, -1)
    return [((kind >> bit) & 1).astype(np.float64) for bit in bits]
