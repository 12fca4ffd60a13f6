"""What a batch of rows says of each side of a limit, as bets against it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from fairdash._validation import CROSS, value_labels
from fairdash.analysis import Earlier, Masses, sequential
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import CountedRows, count_rows
from fairdash.audits.tables.policy import EVERY, Limit, Policy

Array = np.ndarray[Any, Any]
MOST_WATCHED = 5_000_000  # people of a table of counts in one batch


@dataclass(frozen=True)
class Claim:
    """That one side of a limit is kept by a pair of groups, or by a group.

    ``growth`` is what a batch adds to the logarithm of each bet's wealth.
    """

    limit: int
    feature: str
    group: str
    other: str | None
    growth: tuple[float, ...]
    subgroup: str | None = None

    @property
    def about(self) -> tuple[int, str, str, str | None, str | None]:
        """What is claimed, without the batch."""
        return self.limit, self.feature, self.group, self.other, self.subgroup


@dataclass(frozen=True)
class Claims:
    """What a batch says of every side of every limit.

    ``recurring`` counts its rows whose unit was in an earlier batch: the same people
    say nothing new, so these rows are not bet on.
    """

    claims: tuple[Claim, ...]
    recurring: int = 0


def claims_of(
    frame: pd.DataFrame,
    policy: Policy,
    earlier: Earlier | None = None,
    *,
    may_be_absent: bool = False,
) -> Claims:
    """Return what a batch says of every side of every limit.

    ``earlier`` holds what the batches before say of weights and units; this one is
    added to it.
    """
    earlier = Earlier() if earlier is None else earlier
    question = policy.question
    rows = _each_person(count_rows(frame, question, may_be_absent=may_be_absent))
    table, n = rows.frame, len(rows.frame)
    decided, _ = decisions_of(rows, question, None)
    decided = np.asarray(decided, dtype=float)
    weight = np.ones(n)
    if question.weight is not None:
        weight = table[question.weight].to_numpy(float)
    unit, fresh = np.arange(n), np.ones(n, dtype=bool)
    if question.unit is not None:
        unit = pd.factorize(table[question.unit])[0]
        fresh = earlier.new(unit_codes(table[question.unit]))
    inside: dict[str | None, Array] = {None: np.ones(n, dtype=bool)}
    if question.inside is not None:
        labels, _ = Arguments(table).subgroups(question.inside, 1)
        sizes = pd.Series(labels).value_counts()
        for name in sizes.index[sizes >= policy.min_rows]:
            inside[str(name)] = np.asarray(labels == name)
    claims = []
    learned: dict[tuple[Any, ...], tuple[_Batch, Array]] = {}
    for columns in rows.crossed:
        feature = CROSS.join(columns)
        groups = np.asarray(Arguments(table).groups(list(columns)), dtype=str)
        for at, limit in enumerate(policy.limits):
            if limit.feature not in (None, feature):
                continue
            values, counts = _values(limit.measure, decided, rows.actual)
            for subgroup, within in inside.items():
                every = subgroup is not None and limit.subgroup == EVERY
                if not every and limit.subgroup != subgroup:
                    continue
                used = counts & within & fresh & (weight > 0)
                place = feature, subgroup, limit.measure
                batch = _Batch(
                    values[used], groups[used], weight[used], unit[used], place, earlier
                )
                learned[place] = batch, groups
                for group, other, factors, constant in _sides(limit, policy, groups):
                    about = at, feature, group, other, subgroup
                    grown = batch.growth(about, factors, constant)
                    claims.append(Claim(at, feature, group, other, grown, subgroup))
    for batch, groups in learned.values():
        batch.teach(sorted(set(groups.tolist())))
    return Claims(tuple(claims), int(n - fresh.sum()))


def _each_person(rows: CountedRows) -> CountedRows:
    """Return the rows of a table of counts once for each of their people.

    Evidence over time bets on single people, who are dealt into blocks. Raises
    ValueError where there are too many of them.
    """
    if rows.people is None:
        return rows
    if rows.people.people > MOST_WATCHED:
        raise ValueError(
            f"The table stands for {rows.people.people:,} people, and a monitor "
            f"watches at most {MOST_WATCHED:,} in a batch. Use `fairdash check` on "
            "each table, or smaller batches."
        )
    people = np.asarray(rows.people).astype(np.int64)
    place = np.repeat(np.arange(len(people)), people)
    return replace(
        rows,
        frame=rows.frame.iloc[place].reset_index(drop=True),
        number=rows.number[place],
        decided=None if rows.decided is None else rows.decided[place],
        actual=None if rows.actual is None else rows.actual[place],
        people=None,
    )


def unit_codes(column: "pd.Series[Any]") -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """Return a code of the unit of each row that is the same in every batch."""
    labels = value_labels(column).astype(object)
    return pd.util.hash_array(labels.to_numpy(), categorize=True)


_NOTHING = (0.0,) * len(sequential.BETS)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows that a limit is about, with what earlier batches say of their weights."""

    values: Array
    groups: Array
    weight: Array
    unit: Array
    place: tuple[Any, ...]
    earlier: Earlier

    def growth(
        self, about: tuple[Any, ...], factors: dict[str, float], constant: float
    ) -> tuple[float, ...]:
        """Bet against the sum of factors times rates, and a constant, being below 0."""
        sides = [self._side(group, factor) for group, factor in factors.items()]
        known = [side for side in sides if side is not None and len(side.unit)]
        if len(known) < len(sides):
            return _NOTHING
        n_blocks = sequential.blocks_of(known)
        if not n_blocks:
            return _NOTHING
        # blocks are the same in every run, and do not depend on the values
        rng = np.random.default_rng(len(self.values))
        units, place = np.unique(
            np.concatenate([side.unit for side in known]), return_inverse=True
        )
        ends = np.cumsum([len(side.unit) for side in known])[:-1]
        known = [
            replace(side, unit=own)
            for side, own in zip(known, np.split(place, ends), strict=True)
        ]
        block = sequential.deal(known, len(units), n_blocks, rng)
        terms, bound = sequential.block_terms(known, constant, block, n_blocks)
        if any(side.worth < 1 for side in known):
            # stakes must not depend on the weights of this batch
            bounds = self.earlier.bounds
            before = bounds.get(about)
            bounds[about] = max(bound, before or 0.0)
            if before is None:
                return _NOTHING
            bound = before
        return tuple(map(float, sequential.growth(terms, bound)))

    def teach(self, groups: list[str]) -> None:
        """Add the weights of these rows to what later batches know."""
        for group in groups:
            _, mass, positive = self._masses(group)
            self._known(group).add(mass, positive)

    def _known(self, group: str) -> Masses:
        return self.earlier.masses.setdefault((*self.place, group), Masses())

    def _side(self, group: str, factor: float) -> sequential.Side | None:
        return self._known(group).side(factor, *self._masses(group))

    def _masses(self, group: str) -> tuple[Array, Array, Array]:
        """Return the units with rows of a group, their weight, and the positive one."""
        own = self.groups == group
        unit, place = np.unique(self.unit[own], return_inverse=True)
        weight = self.weight[own]
        mass = np.bincount(place, weight, len(unit)).astype(np.float64)
        positive = np.bincount(place, weight * self.values[own], len(unit))
        return unit, mass, positive.astype(np.float64)


def _values(measure: str, decided: Array, actual: Any) -> tuple[Array, Array]:
    if measure == "accuracy":
        return (decided == actual).astype(float), np.ones(len(decided), dtype=bool)
    if measure == "selection_rate":
        return decided, np.ones(len(decided), dtype=bool)
    return decided, actual if measure == "true_positive_rate" else ~actual


def _sides(
    limit: Limit, policy: Policy, groups: Array
) -> Iterator[tuple[str, str | None, dict[str, float], float]]:
    names = sorted(set(groups.tolist()))
    most, least = limit.at_most, limit.at_least
    if limit.of == "value":
        for name in names:
            if limit.group in (None, name) and most is not None:
                yield name, None, {name: 1.0}, -most
            elif limit.group in (None, name) and least is not None:
                yield name, None, {name: -1.0}, least
        return
    for first, other in permutations(names, 2):
        if limit.group is not None and limit.group not in (first, other):
            continue
        if policy.reference is not None and policy.reference not in (first, other):
            continue
        if limit.of == "gap" and most is not None:
            yield first, other, {first: 1.0, other: -1.0}, -most
        elif limit.of == "ratio" and least is not None:
            # kept while P(first) is at least so many times P(other)
            yield first, other, {first: -1.0, other: min(least, 1.0)}, 0.0
