"""What a batch of rows says of each side of a limit, as bets against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import CROSSED, decisions_of
from fairdash.audits.tables.counting import count_rows
from fairdash.audits.tables.policy import Limit, Policy
from fairdash.audits.tables.sequential import BETS, difference_terms, growth


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

    @property
    def about(self) -> tuple[int, str, str, str | None]:
        """What is claimed, without the batch."""
        return self.limit, self.feature, self.group, self.other


def claims_of(frame: pd.DataFrame, policy: Policy) -> Iterator[Claim]:
    """Return what a batch says of every side of every limit."""
    question = policy.question
    rows = count_rows(frame, question)
    decided, _ = decisions_of(rows, question, None)
    # an order that does not depend on the values, and is the same in every run
    order = np.random.default_rng(len(decided)).permutation(len(decided))
    decided = np.asarray(decided, dtype=float)[order]
    actual = None if rows.actual is None else rows.actual[order]
    for columns in rows.crossed:
        feature = CROSSED.join(columns)
        groups = np.asarray(Arguments(rows.frame).groups(list(columns)), dtype=str)[
            order
        ]
        for at, limit in enumerate(policy.limits):
            if limit.feature not in (None, feature):
                continue
            values = _values(limit.measure, decided, actual, groups)
            for group, other, terms, bound in _sides(limit, policy, values):
                grown = growth(terms, bound) if len(terms) else np.zeros(len(BETS))
                yield Claim(at, feature, group, other, tuple(map(float, grown)))


def _values(
    measure: str, decided: Any, actual: Any, groups: Any
) -> dict[str, np.ndarray[Any, Any]]:
    values, counts = decided, np.ones(len(decided), dtype=bool)
    if measure == "accuracy":
        values = (decided == actual).astype(float)
    elif measure != "selection_rate":
        counts = actual if measure == "true_positive_rate" else ~actual
    return {
        name: values[counts & (groups == name)] for name in sorted(set(groups.tolist()))
    }


def _sides(
    limit: Limit, policy: Policy, values: dict[str, Any]
) -> Iterator[tuple[str, str | None, Any, float]]:
    """Return terms whose mean is at most 0 while a limit is kept, with their bound."""
    if limit.of == "value":
        for name, rows in values.items():
            if limit.group in (None, name):
                if limit.at_most is not None:
                    yield name, None, rows - limit.at_most, max(limit.at_most, 0.01)
                else:
                    end = limit.at_least or 0.0
                    yield name, None, end - rows, max(1 - end, 0.01)
        return
    for first, other in permutations(values, 2):
        if limit.group is not None and limit.group not in (first, other):
            continue
        if policy.reference is not None and policy.reference not in (first, other):
            continue
        if limit.of == "gap" and limit.at_most is not None:
            end = limit.at_most
            terms = difference_terms(values[first], values[other]) - end
            yield first, other, terms, 1 + end
        elif limit.of == "ratio" and limit.at_least is not None:
            # kept while P(first) is at least so many times P(other)
            end = min(limit.at_least, 1.0)
            terms = -difference_terms(values[first], values[other], end)
            yield first, other, terms, 1.0
