"""Robust FairCORELS: the best short list of rules that stays fair on subsamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fairdash._validation import check_non_negative
from fairdash.methods.base import Float, TrainingRows
from fairdash.methods.classical.plain import Codes, OneByOne
from fairdash.methods.declare import Method, at_least_one, param, vary
from fairdash.methods.mixture import MixtureClassifier
from fairdash.methods.params import CONSTRAINT, RANDOM_STATE, TOLERANCE

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


@dataclass(frozen=True, eq=False)
class RuleList:
    """Rules in order, the first that applies decides.

    Parameters
    ----------
    features : ndarray of int32 of shape (n_rules,)
    rule_thresholds : ndarray of shape (n_rules,)
    above : ndarray of int8 of shape (n_rules,)
        1: the rule applies above its threshold; 0: at most at it.
    decisions : ndarray of int8 of shape (n_rules + 1,)
        Of each rule, and where none applies.
    """

    features: NDArray[np.int32]
    rule_thresholds: Float
    above: NDArray[np.int8]
    decisions: NDArray[np.int8]

    def positive(self, X: NDArray[np.floating], group: Codes | None = None) -> Float:
        """Return the decision, 0 or 1."""
        return self.decisions[self.first(X)].astype(np.float64)

    def first(self, X: NDArray[np.floating]) -> Codes:
        """Return which rule decides each row; where none applies, their number."""
        values = np.asarray(X, np.float64)[:, self.features]
        applies = (values > self.rule_thresholds) == (self.above == 1)
        last = np.ones((len(applies), 1), bool)
        return np.hstack([applies, last]).argmax(1)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the parameters by name."""
        return dict(vars(self))


class RobustFairCORELS(OneByOne, MixtureClassifier):
    r"""A list "if ..., else if ..., else ..." that is accurate, short and fair.

    .. math::

        \min_l \; \frac{1}{n} \sum_i 1[l(x_i) \ne y_i] + c\, |l|
        \quad \text{s.t.} \quad
        \mathrm{unf}(l, D_b) \le \varepsilon \;\; (b = 0, \dots, m)

    with :math:`D_0` the training rows and :math:`D_1, \dots, D_m` samples of them with
    probability 1/2 for each row; unf is the largest difference between groups of
    positive decisions, for equalized odds of those among either outcome. A rule asks
    for one column: a level, or a number above or at most a quantile. Branch and bound
    over prefixes: one is left when its errors, those that no decision avoids among rows
    equal in all conditions, and one more rule cost as much as the best list does.

    ``predict_proba`` is the decision, 0 or 1.

    Attributes
    ----------
    rules_ : list of (Condition, int)
        In order, each with its decision.
    default_ : int
        Decision where no rule applies.
    objective_ : float
    bound_ : float
        No list that meets the constraints is below it; equal to ``objective_`` when
        the search came to its end.
    network_ : RuleList
        The same as plain arrays.

    References
    ----------
    Ferry et al., Improving fairness generalization through a sample-robust optimization
    method (Machine Learning 2022), by its masks; Aivodji et al., FairCORELS (CIKM
    2021).
    """

    network_: Any
    _mixture = False  # a chance is 0 or 1

    constraints: str = CONSTRAINT
    tolerance: float = vary(
        TOLERANCE,
        default=0.05,
        check=check_non_negative,
        help="Difference between groups that training rows and samples may show.",
        doc="Difference between groups that training rows and samples may show.",
    )
    n_samples: int = param(
        30,
        "Samples",
        letter="m",
        low=0,
        high=200,
        check=partial(at_least_one, at_least=0),
        help="Random halves of the rows on which the list must be fair as well.",
    )
    max_rules: int = param(
        4, "Rules", high=8, help="Most rules before the default decision."
    )
    rule_cost: float = param(
        0.001,
        "Cost of a rule",
        low=0.0005,
        high=0.05,
        step=0.0005,
        axis="log",
        advanced=True,
        check=check_non_negative,
        help="Share of errors that a further rule must save.",
    )
    n_bins: int = param(
        4,
        "Bins of a number",
        low=2,
        high=20,
        advanced=True,
        help="A number is compared with the quantiles between them.",
    )
    min_support: float = param(
        0.01,
        "Smallest rule",
        high=0.2,
        step=0.005,
        advanced=True,
        check=check_non_negative,
        help="Share of the training rows that a rule must decide.",
    )
    max_prefixes: int = param(
        1000,
        "Prefixes",
        low=100,
        high=100_000,
        step=100,
        advanced=True,
        help="Most prefixes looked at; then the best list so far is taken.",
    )
    random_state: Any = vary(RANDOM_STATE, doc="Of the samples.")

    def _learn(self, rows: TrainingRows) -> Float:
        X, target, codes, _ = rows
        conditions, met = possible_conditions(X, self.n_bins, self.min_support)
        rng = check_random_state(self.random_state)
        kept = rng.random((self.n_samples, len(X))) < 0.5
        samples = np.vstack([np.ones(len(X), bool), kept])
        search = RuleSearch(
            Patterns(met, target, codes, samples),
            odds=self.constraints == "equalized_odds",
            tolerance=self.tolerance,
            cost=self.rule_cost,
            max_rules=self.max_rules,
            min_rows=self.min_support * len(X),
        )
        search.run(self.max_prefixes)
        self.rules_ = [(conditions[i], decision) for i, decision in search.rules]
        self.default_ = search.default
        self.objective_, self.bound_ = search.objective, search.bound
        used = [condition for condition, _ in self.rules_]
        self.network_ = RuleList(
            features=np.array([one.feature for one in used], np.int32),
            rule_thresholds=np.array([one.threshold for one in used], np.float64),
            above=np.array([one.above for one in used], np.int8),
            decisions=np.array(
                [d for _, d in search.rules] + [search.default], np.int8
            ),
        )
        return self.network_.positive(X)


METHOD = Method.of(
    RobustFairCORELS,
    key="rule_list",
    label="Rule list",
    title="Robust FairCORELS: a fair rule list",
    summary="A short list of rules that anybody can read, fair on random halves of the "
    "rows as well.",
    source="Ferry et al., Improving fairness generalization (Machine Learning 2022), "
    "heuristic variant, as in Grari et al., On the fairness ROAD (ICLR 2024)",
    efforts={"fast": {}, "paper": {"max_prefixes": 20_000}},
)


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
        self.rows, self.odds, self.tolerance = rows, odds, tolerance
        self.cost, self.max_rules, self.min_rows = cost, max_rules, min_rows
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
                self.rules, self.default = (*prefix.rules, rule), default
                self.objective = float(objective)
                break

    def _robust(self, prefix: Prefix, default: int) -> bool:
        """Return whether a list is fair on all rows and on every sample."""
        decided = prefix.positive | prefix.free if default else prefix.positive
        positive = self.rows.counts[decided].sum(0)
        gaps = unfairness(positive, self.rows.counts.sum(0), odds=self.odds)
        return bool((gaps <= self.tolerance + _ROUNDING).all())
