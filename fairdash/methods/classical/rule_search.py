"""Search of a rule list: conditions on columns, branch and bound over lists."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.base import Float
from fairdash.methods.scorers import Codes

_ROUNDING = 1e-9  # a gap that equals the tolerance keeps it

Bool = NDArray[np.bool_]


class Condition(NamedTuple):
    """One column above a threshold, or at most the threshold."""

    feature: int
    threshold: float
    above: bool


class Prefix(NamedTuple):
    """The first rules of a list, before what decides the other rows.

    Attributes
    ----------
    rules : tuple of (int, int)
        Condition and decision.
    free, positive : ndarray of bool of shape (n_patterns,)
        Patterns that no rule meets; those decided 1.
    """

    rules: tuple[tuple[int, int], ...]
    free: Bool
    positive: Bool


def possible_conditions(
    X: Float, n_bins: int, min_support: float
) -> tuple[list[Condition], Bool]:
    """Return the conditions on one column, and the rows that meet each, as rows."""
    found: dict[bytes, tuple[Condition, Bool]] = {}
    for feature, x in enumerate(X.T):
        values = np.unique(x)
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
        cuts = np.quantile(x, inner, method="lower") if len(values) > 2 else values[:1]
        for threshold in np.unique(cuts):
            high = x > threshold
            if min(high.mean(), 1 - high.mean()) < max(min_support, 0.5 / len(x)):
                continue
            for above, met in ((True, high), (False, ~high)):
                condition = Condition(feature, float(threshold), above)
                found.setdefault(np.packbits(met).tobytes(), (condition, met))
    met = np.array([met for _, met in found.values()], bool).reshape(-1, len(X))
    return [condition for condition, _ in found.values()], met


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

    def __init__(self, met: Bool, target: Codes, codes: Codes, samples: Bool) -> None:
        packed = np.packbits(met.T, axis=1)
        _, first, place = np.unique(
            packed, axis=0, return_index=True, return_inverse=True
        )
        self.met = met[:, first].astype(np.float64)
        self.counts = np.zeros((len(first), len(samples), codes.max() + 1, 2))
        for b, kept in enumerate(samples):
            where = place[kept], np.full(kept.sum(), b), codes[kept], target[kept]
            np.add.at(self.counts, where, 1)
        self.all_rows = self.counts[:, 0].copy()
        self.unavoidable = self.all_rows.sum(1).min(1)


def unfairness(positive: Float, total: Float, *, odds: bool) -> Float:
    """Return the largest gap of shares of rows by (..., group, outcome), decided 1."""
    if not odds:
        positive = positive.sum(-1, keepdims=True)
        total = total.sum(-1, keepdims=True)
    known = np.broadcast_to(total > 0, positive.shape)
    share = positive / np.maximum(total, 1)
    most = np.where(known, share, -np.inf).max(-2)
    least = np.where(known, share, np.inf).min(-2)
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
        self.rules: tuple[tuple[int, int], ...] = ()
        self.default = int(self.total[:, 1].sum() > self.total[:, 0].sum())
        self.objective = float(self.total[:, 1 - self.default].sum() / self.n)
        self.bound = self.objective
        self._queue: list[tuple[float, int, float, Prefix, tuple[int, int]]] = []
        self._made = 0

    def run(self, max_prefixes: int) -> None:
        """Look at prefixes until none can be better, or at so many."""
        n_patterns = len(self.rows.unavoidable)
        start = np.ones(n_patterns, bool), np.zeros(n_patterns, bool)
        self._extend(Prefix((), *start))
        seen: dict[bytes, int] = {}
        looked = 1
        while self._queue and looked < max_prefixes:
            _, _, bound, parent, rule = heappop(self._queue)
            if bound >= self.objective:
                continue
            prefix = self._with_rule(parent, rule)
            decided = np.packbits([prefix.free, prefix.positive]).tobytes()
            if seen.get(decided, self.max_rules) <= len(prefix.rules):
                continue
            seen[decided] = len(prefix.rules)
            self._extend(prefix)
            looked += 1
        open_bounds = [bound for _, _, bound, _, _ in self._queue]
        self.bound = min([self.objective, *open_bounds])

    def _with_rule(self, prefix: Prefix, rule: tuple[int, int]) -> Prefix:
        condition, decision = rule
        caught = prefix.free & (self.rows.met[condition] > 0)
        positive = prefix.positive | caught if decision else prefix.positive
        return Prefix((*prefix.rules, rule), prefix.free & ~caught, positive)

    def _extend(self, prefix: Prefix) -> None:
        """Try every rule after a prefix as the last one; queue those to go on from."""
        rows = self.rows
        counts = rows.all_rows.reshape(len(prefix.free), -1)
        free = counts * prefix.free[:, None]
        caught = (rows.met @ free).reshape(-1, *self.total.shape)
        rest = free.sum(0).reshape(self.total.shape) - caught
        unavoidable = rows.unavoidable * prefix.free
        avoidless = unavoidable.sum() - rows.met @ unavoidable
        before = counts[prefix.positive].sum(0).reshape(self.total.shape)
        decided = counts[~prefix.free].sum(0).reshape(self.total.shape)
        wrong = before[:, 0].sum() + (decided - before)[:, 1].sum()
        usable = (caught.sum((1, 2)) >= max(self.min_rows, 1)) & (rest.sum((1, 2)) > 0)
        length = len(prefix.rules) + 1
        lists = []
        for decision in (0, 1):
            errors = wrong + caught[..., 1 - decision].sum(1)
            positive = before + decision * caught
            for default in (0, 1):
                final = (errors + rest[..., 1 - default].sum(1)) / self.n
                final += self.cost * length
                gap = unfairness(positive + default * rest, self.total, odds=self.odds)
                good = (
                    usable
                    & (final < self.objective)
                    & (gap <= self.tolerance + _ROUNDING)
                )
                lists += [
                    (final[i], int(i), decision, default) for i in np.where(good)[0]
                ]
            if length == self.max_rules:
                continue
            bounds = (errors + avoidless) / self.n + self.cost * (length + 1)
            purity = errors / (self.n - rest.sum((1, 2)))
            for i in np.where(usable & (bounds < self.objective))[0]:
                self._made += 1
                entry = (float(purity[i]), self._made, float(bounds[i]), prefix)
                heappush(self._queue, (*entry, (int(i), decision)))
        for objective, i, decision, default in sorted(lists):
            rule = (i, decision)
            if self._robust(self._with_rule(prefix, rule), default):
                self.rules = (*prefix.rules, rule)
                self.default = default
                self.objective = float(objective)
                break

    def _robust(self, prefix: Prefix, default: int) -> bool:
        """Return whether a list is fair on all rows and on every sample."""
        decided = prefix.positive | prefix.free if default else prefix.positive
        positive = self.rows.counts[decided].sum(0)
        gaps = unfairness(positive, self.rows.counts.sum(0), odds=self.odds)
        return bool((gaps <= self.tolerance + _ROUNDING).all())
