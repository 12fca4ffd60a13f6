"""Turn a batch of rows into bets against each side of a limit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, NamedTuple

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
    """The claim that a pair of groups, or a group, keeps one side of a limit.

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
        """The claim itself, without the batch."""
        return self.limit, self.feature, self.group, self.other, self.subgroup


@dataclass(frozen=True)
class Claims:
    """The claims of a batch about every side of every limit.

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
    table = rows.frame
    n = len(table)
    decisions, _ = decisions_of(rows, question, None)
    decided = np.asarray(decisions, dtype=float)
    weight = np.ones(n)
    if question.weight is not None:
        weight = table[question.weight].to_numpy(float)
    unit = np.arange(n)
    is_new = np.ones(n, dtype=bool)
    if question.unit is not None:
        unit = pd.factorize(table[question.unit])[0]
        is_new = earlier.new(unit_codes(table[question.unit]))
    members = _subgroup_members(table, policy)

    claims = []
    batches: dict[tuple[Any, ...], tuple[_Batch, Array]] = {}
    for columns in rows.crossed:
        feature = CROSS.join(columns)
        groups = np.asarray(Arguments(table).groups(list(columns)), dtype=str)
        for index, limit in enumerate(policy.limits):
            if limit.feature not in (None, feature):
                continue
            values, is_base = _values(limit.measure, decided, rows.actual)
            for subgroup, is_member in members.items():
                if not _concerns(limit, subgroup):
                    continue
                used = is_base & is_member & is_new & (weight > 0)
                place = (feature, subgroup, limit.measure)
                batch = _Batch(
                    values[used], groups[used], weight[used], unit[used], place, earlier
                )
                batches[place] = (batch, groups)
                for side in _sides(limit, policy, groups):
                    about = (index, feature, side.group, side.other, subgroup)
                    claims.append(
                        Claim(
                            limit=index,
                            feature=feature,
                            group=side.group,
                            other=side.other,
                            growth=batch.growth(about, side.factors, side.constant),
                            subgroup=subgroup,
                        )
                    )
    # Only after every bet is made: a bet may not know the weights of its own batch.
    for batch, groups in batches.values():
        batch.teach(sorted(set(groups.tolist())))
    return Claims(tuple(claims), int(n - is_new.sum()))


def _subgroup_members(table: pd.DataFrame, policy: Policy) -> dict[str | None, Array]:
    """Return which rows are in each subgroup of enough rows; None is of all rows."""
    members: dict[str | None, Array] = {None: np.ones(len(table), dtype=bool)}
    subgroups = policy.question.inside
    if subgroups is None:
        return members
    labels, _ = Arguments(table).subgroups(subgroups, 1)
    sizes = pd.Series(labels).value_counts()
    for name in sizes.index[sizes >= policy.min_rows]:
        members[str(name)] = np.asarray(labels == name)
    return members


def _concerns(limit: Limit, subgroup: str | None) -> bool:
    """Return whether a limit is about a subgroup, None for all rows."""
    if limit.subgroup == EVERY and subgroup is not None:
        return True
    return limit.subgroup == subgroup


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
    index = np.repeat(np.arange(len(people)), people)
    return replace(
        rows,
        frame=rows.frame.iloc[index].reset_index(drop=True),
        number=rows.number[index],
        decided=None if rows.decided is None else rows.decided[index],
        actual=None if rows.actual is None else rows.actual[index],
        people=None,
    )


def unit_codes(column: "pd.Series[Any]") -> "np.ndarray[Any, np.dtype[np.uint64]]":
    """Return a code of the unit of each row that is the same in every batch."""
    labels = value_labels(column).astype(object)
    return pd.util.hash_array(labels.to_numpy(), categorize=True)


_NO_GROWTH = (0.0,) * len(sequential.BETS)


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
        sides = []
        for group, factor in factors.items():
            side = self._side(group, factor)
            if side is None or not len(side.unit):
                return _NO_GROWTH
            sides.append(side)
        n_blocks = sequential.blocks_of(sides)
        if not n_blocks:
            return _NO_GROWTH
        # A unit may have rows in both groups; its rows go into one block.
        units, index = np.unique(
            np.concatenate([side.unit for side in sides]), return_inverse=True
        )
        ends = np.cumsum([len(side.unit) for side in sides])[:-1]
        sides = [
            replace(side, unit=part)
            for side, part in zip(sides, np.split(index, ends), strict=True)
        ]
        # Blocks are the same in every run, and do not depend on the values.
        rng = np.random.default_rng(len(self.values))
        block = sequential.deal(sides, len(units), n_blocks, rng)
        terms, bound = sequential.block_terms(sides, constant, block, n_blocks)
        if any(side.worth < 1 for side in sides):
            # Stakes must not depend on the weights of this batch, so the bound is the
            # largest one of the batches before.
            bounds = self.earlier.bounds
            earlier_bound = bounds.get(about)
            bounds[about] = max(bound, earlier_bound or 0.0)
            if earlier_bound is None:
                return _NO_GROWTH
            bound = earlier_bound
        return tuple(map(float, sequential.growth(terms, bound)))

    def teach(self, groups: list[str]) -> None:
        """Add the weights of these rows to what later batches know."""
        for group in groups:
            _, mass, positive = self._masses(group)
            self._earlier_masses(group).add(mass, positive)

    def _earlier_masses(self, group: str) -> Masses:
        return self.earlier.masses.setdefault((*self.place, group), Masses())

    def _side(self, group: str, factor: float) -> sequential.Side | None:
        unit, mass, positive = self._masses(group)
        return self._earlier_masses(group).side(factor, unit, mass, positive)

    def _masses(self, group: str) -> tuple[Array, Array, Array]:
        """Return the units with rows of a group, their weight, and the positive one."""
        is_member = self.groups == group
        unit, index = np.unique(self.unit[is_member], return_inverse=True)
        weight = self.weight[is_member]
        mass = np.bincount(index, weight, len(unit)).astype(np.float64)
        positive = np.bincount(index, weight * self.values[is_member], len(unit))
        return unit, mass, positive.astype(np.float64)


def _values(measure: str, decided: Array, actual: Any) -> tuple[Array, Array]:
    """Return the values whose mean a measure is, and which rows it is of."""
    all_rows = np.ones(len(decided), dtype=bool)
    if measure == "accuracy":
        return (decided == actual).astype(float), all_rows
    if measure == "selection_rate":
        return decided, all_rows
    if measure == "true_positive_rate":
        return decided, actual
    return decided, ~actual


class _Side(NamedTuple):
    """A claim of groups: the sum of factors times rates, and a constant, is below 0."""

    group: str
    other: str | None
    factors: dict[str, float]
    constant: float


def _sides(limit: Limit, policy: Policy, groups: Array) -> Iterator[_Side]:
    """Yield every side of a limit as a sum that is below 0 while the limit is kept.

    A gap has two sides, since it is bounded in both directions.
    """
    names = sorted(set(groups.tolist()))
    most = limit.at_most
    least = limit.at_least
    if limit.of == "value":
        for name in names:
            if limit.group not in (None, name):
                continue
            if most is not None:
                yield _Side(name, None, {name: 1.0}, -most)
            elif least is not None:
                yield _Side(name, None, {name: -1.0}, least)
        return
    for first, second in permutations(names, 2):
        if limit.group is not None and limit.group not in (first, second):
            continue
        if policy.reference is not None and policy.reference not in (first, second):
            continue
        if limit.of == "gap" and most is not None:
            yield _Side(first, second, {first: 1.0, second: -1.0}, -most)
        elif limit.of == "ratio" and least is not None:
            # Kept while P(first) is at least so many times P(second).
            yield _Side(first, second, {first: -1.0, second: min(least, 1.0)}, 0.0)
