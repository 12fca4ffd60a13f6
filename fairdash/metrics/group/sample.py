"""Rows of a sample: outcomes, decisions or scores, weights and units, checked."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import Codes, FloatArray


class Sample(NamedTuple):
    """Outcomes and predictions of the same rows, and how these were drawn.

    Where decisions are drawn, every row stands twice, decided 1 and decided 0:
    ``chance`` is that of the decision, ``row`` says which two are of one, and
    ``content`` which rows share a draw, (n_rows,). ``people`` is how many each row
    stands for: a row counts as so many equal ones.
    """

    y: FloatArray
    predicted: FloatArray
    weight: FloatArray | None = None
    chance: FloatArray | None = None
    unit: Codes | None = None
    row: Codes | None = None
    content: Codes | None = None
    people: FloatArray | None = None

    @property
    def outcomes(self) -> FloatArray:
        """The outcome of every row, once."""
        if self.row is None:
            return self.y
        return self.y[: len(self.y) // 2]

    @property
    def plain(self) -> bool:
        """Whether rows are independent and weigh alike."""
        return self.weight is None and self.unit is None

    @property
    def n_units(self) -> int:
        """How many codes of units there are; 1 without units."""
        return 1 if self.unit is None else int(self.unit.max(initial=0)) + 1

    @property
    def times(self) -> FloatArray | None:
        """How many rows of one person each row counts as; None where all are one."""
        if self.people is None:
            return self.chance
        if self.chance is None:
            return self.people
        return self.people * self.chance

    @property
    def weights(self) -> FloatArray:
        """The sampling weight of each row, 1 without weights."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def mass(self) -> FloatArray:
        """Return what each row counts: its weight, times its people and its chance."""
        return self.weights if self.times is None else self.weights * self.times

    def take(self, index: NDArray[np.bool_] | Codes) -> Self:
        """Return the rows of a mask or of positions."""
        names = ("y", "predicted", "weight", "chance", "unit", "row", "people")
        parts: dict[str, Any] = {}
        for name in names:
            column = getattr(self, name)
            if column is not None:
                parts[name] = column[index]
        return self._replace(**parts)
