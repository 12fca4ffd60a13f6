"""Robust FairCORELS: the best short list of rules that stays fair on subsamples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fairdash._arrays import FloatArray
from fairdash._validation import check_non_negative
from fairdash.methods.base import TrainingRows
from fairdash.methods.classical.plain import OneByOne
from fairdash.methods.classical.rule_search import (
    Patterns,
    RuleSearch,
    possible_conditions,
)
from fairdash.methods.declare import Method, at_least_one, param, positional, vary
from fairdash.methods.mixture import MixtureClassifier
from fairdash.methods.params import CONSTRAINT, RANDOM_STATE, TOLERANCE
from fairdash.methods.scorers import RuleList


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

    constraints: str = positional(default=CONSTRAINT, kw_only=False)
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

    def _learn(self, rows: TrainingRows) -> FloatArray:
        X, target, codes, _ = rows
        conditions, met = possible_conditions(X, self.n_bins, self.min_support)
        rng = check_random_state(self.random_state)
        halves = rng.random((self.n_samples, len(X))) < 0.5
        samples = np.vstack([np.ones(len(X), bool), halves])
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
        self.objective_ = search.objective
        self.bound_ = search.bound
        used = [conditions[i] for i, _ in search.rules]
        decisions = [decision for _, decision in search.rules]
        thresholds = [condition.threshold for condition in used]
        self.network_ = RuleList(
            features=np.array([condition.feature for condition in used], np.int32),
            rule_thresholds=np.array(thresholds, np.float64),
            above=np.array([condition.above for condition in used], np.int8),
            decisions=np.array([*decisions, search.default], np.int8),
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
