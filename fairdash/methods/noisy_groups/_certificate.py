"""What is guaranteed of the true groups, for the decisions of any model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from fairdash._validation import check_non_negative, check_one_of, check_whole
from fairdash.methods.noisy_groups._inputs import by_group, decided_rows
from fairdash.methods.noisy_groups._rates import worst_rate
from fairdash.methods.noisy_groups._sides import SIDES, Side
from fairdash.methods.noisy_groups._soft import cell_probabilities, soft_group_rates

Float = NDArray[np.float64]
Labels = NDArray[np.int64]
WORST = {
    "tpr": "min_tpr",
    "fpr": "max_fpr",
    "positive_rate": "min_positive_rate",
}
N_DRAWS = 20  # of the check in the paper's public code


def violations(
    y: ArrayLike,
    y_pred: ArrayLike,
    groups: ArrayLike,
    *,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
) -> pd.DataFrame:
    r"""Return by how much each group's rate is worse than the rate of all rows.

    :math:`TPR - TPR_j - \alpha`, :math:`FPR_j - FPR - \alpha` and, for demographic
    parity, :math:`P(\hat Y = 1) - P(\hat Y = 1 | j) - \alpha`: not above 0 where the
    constraint holds.

    Parameters
    ----------
    y, y_pred : array-like of 0/1, shape (n,)
        Outcomes and decisions.
    groups : array-like of shape (n,)
    constraints : str
        "true_positive_rate_parity", "false_positive_rate_parity", "equalized_odds"
        (both) or "demographic_parity".
    slack : float, default=0
        :math:`\alpha`.

    Returns
    -------
    DataFrame
        ``rate``, ``group``, ``overall``, ``value`` and ``violation``, one row per rate
        and group; NaN for a group without rows that the rate is over.
    """
    outcome, decision, names, codes = decided_rows(y, y_pred, groups)
    parts = []
    for side in _sides(constraints, slack):
        overall, value = _rates(side, outcome, decision, codes, len(names))
        parts.append(_part(side, names, overall, slack, value=value))
    return pd.concat(parts, ignore_index=True)


def tv_certificate(
    y: ArrayLike,
    y_pred: ArrayLike,
    noisy_groups: ArrayLike,
    radius: object,
    *,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
    n_draws: int = N_DRAWS,
    random_state: object = 0,
) -> pd.DataFrame:
    r"""Certify decisions for all groups within total variation of the noisy ones.

    If :math:`TV(p_j, \hat p_j) \le \gamma_j`, the true group's rate on these rows is
    not worse than ``worst``, and no smaller claim is possible: some distribution within
    the radius attains it. Beside it stands the check of the paper's public code, the
    worst of a few random perturbations

    .. math::

        \tilde p = \max(0, \hat p_j + \gamma_j s \odot d), \quad
        d \sim \mathrm{Dirichlet}(1), \; s_i = \pm 1

    which average over the rows and so come nowhere near the worst.

    Parameters
    ----------
    y, y_pred, constraints, slack
        As of `violations`.
    noisy_groups : array-like of shape (n,)
    radius : float, mapping or sequence
        :math:`\gamma`, for all groups, by name, or in sorted order of groups.
    n_draws : int, default=20
        0 leaves the random check out.
    random_state : int, RandomState or None
        Of the draws.

    Returns
    -------
    DataFrame
        The columns of `violations` for the noisy groups, then ``worst``,
        ``worst_violation`` and ``drawn_violation``.

    Raises
    ------
    ValueError
        When a radius is outside [0, 1] or a group lacks an outcome.
    """
    outcome, decision, names, codes = decided_rows(y, y_pred, noisy_groups)
    check_whole("n_draws", n_draws, at_least=0)
    radii = by_group("radius", radius, names)
    random = check_random_state(random_state)
    sides = _sides(constraints, slack)
    parts = []
    for side in sides:
        overall, value = _rates(side, outcome, decision, codes, len(names))
        if side.rate == "positive_rate":
            worst = np.maximum(value - radii, 0.0) if overall < 1 else value
        else:
            (label,) = side.outcomes
            worst = worst_rate(label, outcome, decision, names, codes, radii)
        drawn = np.full(len(names), np.nan)
        if n_draws:
            tilted = _drawn_rates(
                side, outcome, decision, codes, radii, n_draws, random
            )
            drawn = side.sign * (tilted - overall) - slack
        part = _part(side, names, overall, slack, value=value, worst=worst)
        parts.append(part.assign(drawn_violation=drawn))
    return pd.concat(parts, ignore_index=True)


def soft_certificate(
    y: ArrayLike,
    y_pred: ArrayLike,
    noisy_groups: ArrayLike,
    group_given_noisy: ArrayLike,
    *,
    true_groups: Sequence[object] | None = None,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
) -> pd.DataFrame:
    r"""Certify decisions for all memberships that agree with P(G = j | noisy group k).

    Unlike `tv_certificate` it knows no more than decision, outcome and noisy group of
    a row, and needs no relation of the two groupings but this matrix.

    Parameters
    ----------
    y, y_pred, constraints, slack
        As of `violations`.
    noisy_groups : array-like of shape (n,)
    group_given_noisy : array-like of shape (n_noisy, n_groups)
        Rows in the sorted order of noisy groups; each sums to one.
    true_groups : sequence, optional
        Names of the columns; by default numbers.

    Returns
    -------
    DataFrame
        ``rate``, ``group``, ``overall``, ``worst`` and ``worst_violation``.

    Raises
    ------
    ValueError
        When the matrix does not fit the noisy groups or a row does not sum to one.
    """
    outcome, decision, _, codes = decided_rows(y, y_pred, noisy_groups)
    table = soft_group_rates(
        cell_probabilities(outcome, decision, codes), group_given_noisy
    )
    names = np.asarray(range(len(table)) if true_groups is None else true_groups)
    if len(names) != len(table):
        message = f"`true_groups` must name the {len(table)} columns"
        raise ValueError(f"{message} of `group_given_noisy`, got {len(names)} names.")
    parts = []
    for side in _sides(constraints, slack):
        overall = float(decision[side.rows(outcome)].mean())
        worst = table[WORST[side.rate]].to_numpy()
        parts.append(_part(side, names, overall, slack, worst=worst))
    return pd.concat(parts, ignore_index=True)


def _sides(constraints: str, slack: float) -> tuple[Side, ...]:
    check_one_of("constraints", constraints, SIDES)
    check_non_negative("slack", slack)
    return SIDES[constraints]


def _rates(
    side: Side, outcome: Labels, decision: Labels, codes: Labels, n_groups: int
) -> tuple[float, Float]:
    chosen = side.rows(outcome)
    n = np.bincount(codes[chosen], minlength=n_groups)
    positive = np.bincount(codes[chosen], decision[chosen], minlength=n_groups)
    value = np.where(n > 0, positive / np.maximum(n, 1), np.nan)
    return float(positive.sum() / n.sum()), value


def _part(
    side: Side, names: NDArray[np.generic], overall: float, slack: float, **rates: Float
) -> pd.DataFrame:
    """Return the rows of one side; each rate is followed by its violation."""
    table = pd.DataFrame({"rate": side.rate, "group": names, "overall": overall})
    for name, values in rates.items():
        table[name] = values
        column = "violation" if name == "value" else f"{name}_violation"
        table[column] = side.sign * (values - overall) - slack
    return table


def _drawn_rates(
    side: Side,
    outcome: Labels,
    decision: Labels,
    codes: Labels,
    radii: Float,
    n_draws: int,
    random: np.random.RandomState,
) -> Float:
    """Return each group's worst rate over random perturbations of its distribution."""
    chosen, decided = side.rows(outcome), decision == 1
    worst = np.empty(len(radii))
    for j, radius in enumerate(radii):
        base = (codes == j) / (codes == j).sum()
        rates = []
        for _ in range(n_draws):
            moves = random.exponential(size=len(codes))
            moves *= random.choice((-1.0, 1.0), size=len(codes)) / moves.sum()
            p = np.maximum(base + radius * moves, 0.0) * chosen
            rates.append(p[decided].sum() / p.sum())
        worst[j] = side.sign * np.max(side.sign * np.array(rates))
    return worst
