"""Search of a rule list: conditions on columns, branch and bound over lists."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from fairdash._arrays import BoolArray, Codes, FloatArray

_ROUNDING = 1e-9  # a gap that equals the tolerance keeps it


class RuleCondition(NamedTuple):
    """One column above a threshold, or at most the threshold."""

    feature: int
    threshold: float
    above: bool


class Rule(NamedTuple):
    """Index of a condition, and the decision for rows that meet it."""

    condition: int
    decision: int


class Prefix(NamedTuple):
    """The first rules of a list, before what decides the other rows.

    Attributes
    ----------
    rules : tuple of Rule
    free, positive : ndarray of bool of shape (n_patterns,)
        Patterns that no rule meets; those decided 1.
    """

    rules: tuple[Rule, ...]
    free: BoolArray
    positive: BoolArray


class Extension(NamedTuple):
    """A prefix with one more rule, in the queue of prefixes to look at.

    Entries compare in the order of their fields: the purest comes first, and among
    equals the one queued first, before prefixes would be compared.
    """

    purity: float
    number: int
    bound: float
    prefix: Prefix
    rule: Rule


class Completed(NamedTuple):
    """A prefix with a last rule and the decision for all other rows."""

    objective: float
    condition: int
    decision: int
    default: int


def possible_conditions(
    X: FloatArray, n_bins: int, min_support: float
) -> tuple[list[RuleCondition], BoolArray]:
    """Return the conditions on one column, and the rows that meet each, as rows."""
    conditions: dict[bytes, tuple[RuleCondition, BoolArray]] = {}
    for feature, x in enumerate(X.T):
        values = np.unique(x)
        if len(values) > 2:
            inner = np.linspace(0, 1, n_bins + 1)[1:-1]
            cuts = np.quantile(x, inner, method="lower")
        else:
            cuts = values[:1]
        for threshold in np.unique(cuts):
            high = x > threshold
            support = min(high.mean(), 1 - high.mean())
            if support < max(min_support, 0.5 / len(x)):
                continue
            for above, met in ((True, high), (False, ~high)):
                condition = RuleCondition(feature, float(threshold), above)
                # Of conditions that the same rows meet the first is enough.
                key = np.packbits(met).tobytes()
                conditions.setdefault(key, (condition, met))
    rows = [met for _, met in conditions.values()]
    all_met = np.array(rows, bool).reshape(-1, len(X))
    return [condition for condition, _ in conditions.values()], all_met


class Patterns:
    """Training rows that meet the same conditions, counted together.

    Parameters
    ----------
    met : ndarray of bool of shape (n_conditions, n_rows)
    target, codes : ndarray of int of shape (n_rows,)
        Outcome, 0 or 1, and index of the group.
    samples : ndarray of bool of shape (1 + n_samples, n_rows)
        Which rows each sample holds; the first all.

    Attributes
    ----------
    met : ndarray of shape (n_conditions, n_patterns)
        1 where a pattern meets a condition.
    counts : ndarray of shape (n_patterns, 1 + n_samples, n_groups, 2)
        Rows by sample, group and outcome.
    """

    def __init__(
        self, met: BoolArray, target: Codes, codes: Codes, samples: BoolArray
    ) -> None:
        packed = np.packbits(met.T, axis=1)
        _, first, pattern_of_row = np.unique(
            packed, axis=0, return_index=True, return_inverse=True
        )
        self.met = met[:, first].astype(np.float64)
        self.counts = np.zeros((len(first), len(samples), codes.max() + 1, 2))
        for b, in_sample in enumerate(samples):
            cells = (
                pattern_of_row[in_sample],
                np.full(in_sample.sum(), b),
                codes[in_sample],
                target[in_sample],
            )
            np.add.at(self.counts, cells, 1)
        self.all_rows = self.counts[:, 0].copy()
        # Rows of one pattern get one decision, which is wrong for the rarer outcome.
        self.unavoidable = self.all_rows.sum(1).min(1)


def unfairness(positive: FloatArray, total: FloatArray, *, odds: bool) -> FloatArray:
    """Return the largest gap of shares of rows by (..., group, outcome), decided 1.

    A group without such rows has no share, and no gap with others.
    """
    if not odds:
        positive = positive.sum(-1, keepdims=True)
        total = total.sum(-1, keepdims=True)
    defined = np.broadcast_to(total > 0, positive.shape)
    share = positive / np.maximum(total, 1)
    most = np.where(defined, share, -np.inf).max(-2)
    least = np.where(defined, share, np.inf).min(-2)
    return np.maximum(most - least, 0).max(-1)


class RuleSearch:
    """Branch and bound over prefixes of rule lists, the purest prefixes first."""

    def __init__(
        self,
        rows: Patterns,
        *,
        odds: bool,
        tolerance: float,
        cost: float,
        max_rules: int,
        min_rows: float,
    ) -> None:
        self.rows = rows
        self.odds = odds
        self.tolerance = tolerance
        self.cost = cost
        self.max_rules = max_rules
        self.min_rows = min_rows
        self.total = rows.all_rows.sum(0)
        self.n = self.total.sum()
        # A constant decision is always feasible: its gap is 0.
        self.rules: tuple[Rule, ...] = ()
        self.default = int(self.total[:, 1].sum() > self.total[:, 0].sum())
        self.objective = float(self.total[:, 1 - self.default].sum() / self.n)
        self.bound = self.objective
        self._queue: list[Extension] = []
        self._n_queued = 0

    def run(self, max_prefixes: int) -> None:
        """Look at prefixes until none can be better, or at so many."""
        n_patterns = len(self.rows.unavoidable)
        empty = Prefix((), np.ones(n_patterns, bool), np.zeros(n_patterns, bool))
        self._extend(empty)
        fewest_rules: dict[bytes, int] = {}
        n_extended = 1
        while self._queue and n_extended < max_prefixes:
            extension = heappop(self._queue)
            if extension.bound >= self.objective:
                continue
            prefix = self._with_rule(extension.prefix, extension.rule)
            # Prefixes that decide the same rows alike have the same continuations: one
            # with as few rules is as good.
            decided = np.packbits([prefix.free, prefix.positive]).tobytes()
            if fewest_rules.get(decided, self.max_rules) <= len(prefix.rules):
                continue
            fewest_rules[decided] = len(prefix.rules)
            self._extend(prefix)
            n_extended += 1
        open_bounds = [extension.bound for extension in self._queue]
        self.bound = min([self.objective, *open_bounds])

    def _with_rule(self, prefix: Prefix, rule: Rule) -> Prefix:
        caught = prefix.free & (self.rows.met[rule.condition] > 0)
        positive = prefix.positive
        if rule.decision:
            positive = positive | caught
        return Prefix((*prefix.rules, rule), prefix.free & ~caught, positive)

    def _extend(self, prefix: Prefix) -> None:
        """Try every rule after a prefix as the last one; queue those to go on from."""
        # Rows are counted by (group, outcome); for all conditions at once, the first
        # axis is the condition.
        rows = self.rows
        counts = rows.all_rows.reshape(len(prefix.free), -1)
        free = counts * prefix.free[:, None]
        caught = (rows.met @ free).reshape(-1, *self.total.shape)
        rest = free.sum(0).reshape(self.total.shape) - caught
        # Errors that no decision avoids among the rows that each condition leaves.
        unavoidable = rows.unavoidable * prefix.free
        unavoidable_rest = unavoidable.sum() - rows.met @ unavoidable
        decided_1 = counts[prefix.positive].sum(0).reshape(self.total.shape)
        decided = counts[~prefix.free].sum(0).reshape(self.total.shape)
        wrong = decided_1[:, 0].sum() + (decided - decided_1)[:, 1].sum()
        usable = (caught.sum((1, 2)) >= max(self.min_rows, 1)) & (rest.sum((1, 2)) > 0)
        length = len(prefix.rules) + 1
        completed: list[Completed] = []
        for decision in (0, 1):
            errors = wrong + caught[..., 1 - decision].sum(1)
            positive = decided_1 + decision * caught
            for default in (0, 1):
                final = (errors + rest[..., 1 - default].sum(1)) / self.n
                final += self.cost * length
                gap = unfairness(positive + default * rest, self.total, odds=self.odds)
                fair = gap <= self.tolerance + _ROUNDING
                for i in np.where(usable & (final < self.objective) & fair)[0]:
                    completed.append(Completed(final[i], int(i), decision, default))
            if length == self.max_rules:
                continue
            # A longer list costs one more rule and still makes these errors.
            bounds = (errors + unavoidable_rest) / self.n + self.cost * (length + 1)
            purity = errors / (self.n - rest.sum((1, 2)))
            for i in np.where(usable & (bounds < self.objective))[0]:
                self._n_queued += 1
                extension = Extension(
                    float(purity[i]),
                    self._n_queued,
                    float(bounds[i]),
                    prefix,
                    Rule(int(i), decision),
                )
                heappush(self._queue, extension)
        # The samples are only asked about lists that would win: the best first.
        for objective, condition, decision, default in sorted(completed):
            rule = Rule(condition, decision)
            if self._robust(self._with_rule(prefix, rule), default):
                self.rules = (*prefix.rules, rule)
                self.default = default
                self.objective = float(objective)
                break

    def _robust(self, prefix: Prefix, default: int) -> bool:
        """Return whether a list is fair on all rows and on every sample."""
        positive_patterns = prefix.positive
        if default:
            positive_patterns = positive_patterns | prefix.free
        positive = self.rows.counts[positive_patterns].sum(0)
        gaps = unfairness(positive, self.rows.counts.sum(0), odds=self.odds)
        return bool((gaps <= self.tolerance + _ROUNDING).all())
