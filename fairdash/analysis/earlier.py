"""The weights of earlier batches of a monitor, and who was in them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash.analysis.sequential import Side, Terms

ENOUGH = 30  # units of one mass that a group had before weights are believed
Key = tuple[Any, ...]


@dataclass
class Masses:
    """Sums over the units of a group in earlier batches."""

    units: int = 0
    mass: float = 0.0
    squares: float = 0.0
    positive: float = 0.0
    largest: float = 0.0

    @property
    def worth(self) -> float:
        """The share of units that count (Kish), at most 1."""
        if not self.squares:
            return 0.0
        return self.mass**2 / self.squares / self.units

    def add(self, mass: Terms, positive: Terms) -> None:
        """Count the units of one more batch."""
        self.units += len(mass)
        self.mass += float(mass.sum())
        self.squares += float(np.square(mass).sum())
        self.positive += float(positive.sum())
        self.largest = max(self.largest, float(mass.max(initial=0.0)))

    def side(
        self,
        factor: float,
        unit: NDArray[np.int64],
        mass: Terms,
        positive: Terms,
    ) -> Side | None:
        """Return a side of a claim; None where too little is known of its weights.

        Units that all have one mass need nothing from earlier batches.
        """
        if len(mass) and np.ptp(mass) <= 1e-12 * mass[0]:
            return Side(factor, unit, mass / mass[0], positive / mass[0])
        if self.worth * self.units < ENOUGH:
            return None
        less = np.minimum(self.largest / mass, 1.0)
        return Side(
            factor,
            unit,
            mass * less,
            positive * less,
            self.positive / self.mass,
            self.mass / self.units,
            self.worth,
        )


@dataclass
class Earlier:
    """The batches before one.

    Attributes
    ----------
    people : set of int
        Codes of the units that were in one.
    masses : dict
        By feature, subgroup, measure and group.
    bounds : dict
        By claim, minus the least that a term of it could be.
    """

    people: set[int] = field(default_factory=set)
    masses: dict[Key, Masses] = field(default_factory=dict)
    bounds: dict[Key, float] = field(default_factory=dict)

    def new(self, codes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which rows are of units that were in no batch, and remember them."""
        values, place = np.unique(codes, return_inverse=True)
        fresh = np.array([int(v) not in self.people for v in values], dtype=bool)
        self.people.update(map(int, values[fresh]))
        return fresh[place]
