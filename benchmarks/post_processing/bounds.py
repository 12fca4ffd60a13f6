"""What theory says of the ramp: the bounds of theorem 2 and of proposition 2.

    python benchmarks/post_processing/bounds.py

The first falls below 1, where it begins to say something, near a million rows.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import (
    as_column,
    check_lengths,
    check_non_negative,
    check_positive,
    check_whole,
)
from fairdash.postprocessing.inputs import as_margins


class ExcessRisk(NamedTuple):
    """Upper bound of the error above that of the best fair rule, term by term.

    Attributes
    ----------
    score_error : float
        E|2 eta - 1 - f|: how far scores are from true probabilities, as assumed.
    ramp_width, sample, groups : float
        Prices of randomising, 2 gamma, of a small sample, 8 (2 + 1/gamma) / N^(1/3),
        and of learning K rates, 4 sqrt((2 K + 2 log(2 / delta)) / N).
    """

    score_error: float
    ramp_width: float
    sample: float
    groups: float

    @property
    def total(self) -> float:
        """The sum; 1 or more says nothing."""
        return sum(self)


def excess_risk_bound(
    n: int,
    n_groups: int,
    gamma: float,
    *,
    delta: float = 0.05,
    score_error: float = 0.0,
) -> ExcessRisk:
    r"""Bound the excess risk of the ramp, with probability ``1 - delta``.

    .. math::

        \mathrm{err}(h) - \mathrm{err}(h^*) \le E|2\eta - 1 - f| + 2\gamma
        + \frac{8 (2 + 1/\gamma)}{N^{1/3}}
        + 4 \sqrt{\frac{2K + 2 \log(2/\delta)}{N}}

    N are rows of the fitting sample, K groups; ``score_error`` is the first term,
    assumed.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, theorem 2 as corrected. NeurIPS.
    """
    check_whole("n", n, at_least=1)
    check_whole("n_groups", n_groups, at_least=1)
    check_positive("gamma", gamma)
    check_non_negative("score_error", score_error)
    check_positive("delta", delta)
    if delta >= 1:
        raise ValueError(f"`delta` must lie between 0 and 1, got {delta!r}.")
    learning = 4 * math.sqrt((2 * n_groups + 2 * math.log(2 / delta)) / n)
    sample = 8 * (2 + 1 / gamma) / n ** (1 / 3)
    return ExcessRisk(score_error, 2 * gamma, sample, learning)


def group_shares(in_group: ArrayLike, subgroups: ArrayLike) -> NDArray[np.float64]:
    """Return the share of a group in the subgroup of every row.

    Rows without a subgroup form one of their own. :func:`impossibility_bound` takes it
    for P(S = 1 | x) without a model of that.
    """
    codes, _ = pd.factorize(pd.Series(subgroups), use_na_sentinel=False)
    members = np.asarray(in_group, dtype=np.float64)
    check_lengths(codes, members)
    shares: NDArray[np.float64] = np.bincount(codes, members) / np.bincount(codes)
    return shares[codes]


class Impossibility(NamedTuple):
    """Lower bound of the covariance that some subgroup has whatever is corrected.

    ``predictability`` is E|P(S | x) - P(S)|, how well the features tell the group,
    ``minority`` min(E f, 1 - E f) of the decisions, and ``bound`` half the product.
    """

    predictability: float
    minority: float
    bound: float


def impossibility_bound(
    group_probability: ArrayLike, y_pred: ArrayLike
) -> Impossibility:
    r"""Covariance with a group that some unknown subgroup must show.

    .. math::

        \sup_\pi E |\mathrm{Cov}(f, \gamma(x) \mid \pi)| \ge
        \tfrac12\, E|\gamma(x) - \bar\gamma| \, \min(E f, 1 - E f)

    Parameters
    ----------
    group_probability : array-like of shape (n,)
        P(S = 1 | x) of every row; without a model of it :func:`group_shares`, which
        give a lower bound.
    y_pred : array-like of shape (n,)
        Deterministic decisions 0 and 1.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, proposition 2. NeurIPS.
    """
    margins = as_margins(group_probability, "probability")
    decisions = as_column(y_pred).astype(np.float64)
    check_lengths(margins, decisions)
    if not np.isin(decisions, (0, 1)).all():
        raise ValueError("`y_pred` must hold 0 and 1 only: the bound is for decisions.")
    probability = (margins + 1) / 2
    predictability = float(np.abs(probability - probability.mean()).mean())
    rate = float(decisions.mean())
    minority = min(rate, 1 - rate)
    return Impossibility(predictability, minority, predictability * minority / 2)


if __name__ == "__main__":
    for n in (1_000, 100_000, 1_000_000):
        best = min(
            excess_risk_bound(n, 2, gamma).total for gamma in np.geomspace(0.01, 2, 99)
        )
        print(f"{n:>9,} rows: excess risk of at most {best:.2f}, at the best gamma")
    told = impossibility_bound([1, 1, 0, 0], [1, 0, 1, 0])
    print(f"features that tell the group: covariance of at least {told.bound:.3f}")
