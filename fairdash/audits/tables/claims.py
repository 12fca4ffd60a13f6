"""What a batch of rows says of each side of a limit, as bets against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import decisions_of
from fairdash.audits.tables.counting import count_rows
from fairdash.audits.tables.facts import CROSSED
from fairdash.audits.tables.policy import EVERY, Limit, Policy
from fairdash.audits.tables.sequential import BETS, block_terms, deal, growth

Array = np.ndarray[Any, Any]


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


def claims_of(frame: pd.DataFrame, policy: Policy) -> Iterator[Claim]:
    """Return what a batch says of every side of every limit."""
    question = policy.question
    rows = count_rows(frame, question)
    table, n = rows.frame, len(rows.frame)
    decided, _ = decisions_of(rows, question, None)
    decided = np.asarray(decided, dtype=float)
    weight = np.ones(n)
    if question.weight is not None:
        weight = table[question.weight].to_numpy(float)
    unit = np.arange(n)
    if question.unit is not None:
        unit = pd.factorize(table[question.unit])[0]
    inside: dict[str | None, Array] = {None: np.ones(n, dtype=bool)}
    if question.subgroups:
        labels, _ = Arguments(table).subgroups(list(question.subgroups), 1)
        sizes = pd.Series(labels).value_counts()
        for name in sizes.index[sizes >= policy.min_rows]:
            inside[str(name)] = np.asarray(labels == name)
    for columns in rows.crossed:
        feature = CROSSED.join(columns)
        groups = np.asarray(Arguments(table).groups(list(columns)), dtype=str)
        for at, limit in enumerate(policy.limits):
            if limit.feature not in (None, feature):
                continue
            values, counts = _values(limit.measure, decided, rows.actual)
            for subgroup, within in inside.items():
                every = subgroup is not None and limit.subgroup == EVERY
                if not every and limit.subgroup != subgroup:
                    continue
                used = counts & within
                batch = _Batch(values[used], groups[used], weight[used], unit[used])
                for group, other, factors, constant in _sides(limit, policy, groups):
                    grown = batch.growth(factors, constant)
                    yield Claim(at, feature, group, other, grown, subgroup)


@dataclass(frozen=True, eq=False)
class _Batch:
    values: Array
    groups: Array
    weight: Array
    unit: Array

    def growth(self, factors: dict[str, float], constant: float) -> tuple[float, ...]:
        """Bet against the sum of factors times rates, and a constant, being below 0."""
        share = np.zeros(len(self.values))
        side = np.full(len(self.values), -1)
        for at, (group, factor) in enumerate(factors.items()):
            own = self.groups == group
            total = self.weight[own].sum()
            if total == 0:
                return (0.0,) * len(BETS)
            share[own], side[own] = factor * self.weight[own] / total, at
        used = side >= 0
        # blocks are the same in every run, and do not depend on the values
        rng = np.random.default_rng(len(self.values))
        dealt = deal(side[used], self.unit[used], rng)
        terms, bound = block_terms(self.values[used], share[used], constant, *dealt)
        return tuple(map(float, growth(terms, bound)))


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
