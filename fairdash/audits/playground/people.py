"""People in the plane: where they stand, their group and their outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._arrays import FloatArray

GROUPS = ("A", "B")
EDGE = 2.5  # the plane goes from -EDGE to EDGE in both features
MOST_PEOPLE = 1200  # that can be drawn, so that all stops are trained in seconds
COLUMNS = ("across", "up", "group", "outcome")  # of a table of people
_BESIDE = 0.15  # standard deviation of the step to somebody who is added
_FIELDS = ("across", "up", "group", "outcome", "wrong")  # as a browser has them


@dataclass(frozen=True)
class People:
    """People in the plane.

    Attributes
    ----------
    X : ndarray of shape (n, 2)
        Both features, within ``EDGE``.
    group : ndarray of int, (n,)
        Place in ``GROUPS``, as recorded.
    outcome : ndarray of 0/1, (n,)
    true_group : ndarray of int, (n,)
        As it is; differs from ``group`` where records are wrong.
    others : ndarray of shape (n, n_others), optional
        Further features, which the plane holds at their medians.
    names : tuple of str
        Both groups.
    axes : tuple of str
        Both features of the plane; () of a scene, whose features have no names.
    """

    X: FloatArray
    group: NDArray[np.int64]
    outcome: NDArray[np.int64]
    true_group: NDArray[np.int64]
    others: FloatArray | None = None
    names: tuple[str, str] = GROUPS
    axes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.X)

    @property
    def corner(self) -> NDArray[np.str_]:
        """The quarter of the plane of every person, the subgroups of local gaps."""
        across = np.where(self.X[:, 0] > 0, "right", "left")
        up = np.where(self.X[:, 1] > 0, "upper ", "lower ")
        return np.char.add(up, across)

    @property
    def features(self) -> FloatArray:
        """All features that models learn from, those of the plane first."""
        if self.others is None:
            return self.X
        return np.column_stack([self.X, self.others])

    def at(self, points: FloatArray) -> FloatArray:
        """Return all features of points of the plane, the others at their medians."""
        if self.others is None:
            return points
        medians = np.median(self.others, axis=0)
        return np.column_stack([points, np.tile(medians, (len(points), 1))])

    @property
    def smallest_share(self) -> float:
        """Share of the smaller of both recorded groups."""
        return float(min(self.group.mean(), 1 - self.group.mean()))

    @cached_property
    def key(self) -> str:
        """A digest of all people, the same for equal people."""
        digest = sha256()
        for values in (self.features, self.group, self.outcome, self.true_group):
            digest.update(np.ascontiguousarray(values).tobytes())
        digest.update(repr((self.names, self.axes)).encode())
        return digest.hexdigest()

    @classmethod
    def drawn(cls, fields: Mapping[str, Any]) -> Self:
        """Return people as a browser has drawn them.

        Parameters
        ----------
        fields : mapping
            ``across`` and ``up`` in the plane; ``group``, ``outcome`` and ``wrong`` of
            0 and 1, lists of one length. Where ``wrong`` is 1, the true group is the
            other one.

        Raises
        ------
        ValueError
            When a list is missing or of another length, a value is out of range, or
            there are too many people to train on.
        """
        columns = {name: _numbers(fields, name) for name in _FIELDS}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) != 1:
            raise ValueError("All lists of drawn people must have one length.")
        n_people = lengths.pop()
        if not 0 < n_people <= MOST_PEOPLE:
            raise ValueError(
                f"There must be 1 to {MOST_PEOPLE} people in the plane, "
                f"got {n_people}. Erase some, or undo."
            )
        for name in ("group", "outcome", "wrong"):
            if not np.isin(columns[name], (0, 1)).all():
                raise ValueError(f"`{name}` of drawn people must be 0 or 1.")
        X = np.column_stack([columns["across"], columns["up"]])
        if not (np.abs(X) <= EDGE).all():
            raise ValueError(f"Drawn people must stand within {EDGE:g} of the middle.")
        group = columns["group"].astype(np.int64)
        wrong = columns["wrong"].astype(np.int64)
        return cls(X, group, columns["outcome"].astype(np.int64), group ^ wrong)

    def changed(
        self,
        *,
        size_of_b: float = 1.0,
        wrong_outcomes: float = 0.0,
        wrong_records: float = 0.0,
    ) -> Self:
        """Return people of whom group B is smaller or larger, or recorded wrongly.

        Parameters
        ----------
        size_of_b : float
            Size of group B beside what it is, from 0 to 2. Whoever is added stands
            close to a member, with that member's outcome. There are never more than
            ``MOST_PEOPLE``.
        wrong_outcomes : float
            Share of group B whose outcome is turned round.
        wrong_records : float
            Share of all whose recorded group is turned round.

        Returns
        -------
        People
            The same people for the same shares; for a larger share those of a smaller
            one and others.
        """
        # Scenes draw by a single number as the seed: this one is of no scene.
        generator = np.random.default_rng([0, 1])
        chances = generator.random((3, len(self)))
        added_chances = generator.random((2, len(self)))
        steps = generator.normal(0, _BESIDE, self.X.shape)
        of_b = self.true_group == 1
        stays = ~of_b | (chances[0] < size_of_b)
        added = of_b & (chances[0] < size_of_b - 1)
        rows = np.flatnonzero(np.concatenate([stays, added]))[:MOST_PEOPLE]
        people = self._and_neighbours(steps)._at(rows)
        outcome_chance = np.concatenate([chances[1], added_chances[0]])[rows]
        record_chance = np.concatenate([chances[2], added_chances[1]])[rows]
        turned = (people.true_group == 1) & (outcome_chance < wrong_outcomes)
        wrong = record_chance < wrong_records
        return replace(
            people,
            group=np.where(wrong, 1 - people.group, people.group),
            outcome=np.where(turned, 1 - people.outcome, people.outcome),
        )

    def _and_neighbours(self, steps: FloatArray) -> Self:
        """Return the people, and after them somebody a step away from each."""
        others_of_group = self.others
        return replace(
            self,
            X=np.clip(np.concatenate([self.X, self.X + steps]), -EDGE, EDGE),
            group=np.tile(self.group, 2),
            outcome=np.tile(self.outcome, 2),
            true_group=np.tile(self.true_group, 2),
            others=None
            if others_of_group is None
            else np.tile(others_of_group, (2, 1)),
        )

    def _at(self, rows: NDArray[np.int64]) -> Self:
        return replace(
            self,
            X=self.X[rows],
            group=self.group[rows],
            outcome=self.outcome[rows],
            true_group=self.true_group[rows],
            others=None if self.others is None else self.others[rows],
        )

    def table(self) -> pd.DataFrame:
        """Return the people as a table: where they stand, recorded group, outcome."""
        group = np.array(GROUPS)[self.group]
        return pd.DataFrame(
            dict(zip(COLUMNS, (*self.X.T, group, self.outcome), strict=True))
        )


def _numbers(fields: Mapping[str, Any], name: str) -> FloatArray:
    values = fields.get(name)
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ValueError(f"Drawn people need a list `{name}`.")
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` of drawn people must hold numbers.") from None
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError(f"`{name}` of drawn people must hold finite numbers.")
    return numbers
