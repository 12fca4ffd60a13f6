"""Guarantees about the true groups for any decisions."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_non_negative, check_one_of
from fairdash.methods.noisy_groups import worst_case
from fairdash.methods.noisy_groups.inputs import (
    SIDES,
    Labels,
    Side,
    by_group,
    decided_rows,
)


def tv_certificate(
    y: ArrayLike,
    y_pred: ArrayLike,
    noisy_groups: ArrayLike,
    radius: object,
    *,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
) -> pd.DataFrame:
    r"""Certify decisions for all groups within total variation of the noisy ones.

    If :math:`TV(p_j, \hat p_j) \le \gamma_j`, the true group's rate on these rows is
    not worse than ``worst``, and no smaller claim is possible: some distribution within
    the radius attains it. A violation is by how much a rate is worse than that of all
    rows: :math:`TPR - TPR_j - \alpha`, :math:`FPR_j - FPR - \alpha` and, for
    demographic parity, :math:`P(\hat Y = 1) - P(\hat Y = 1 | j) - \alpha`.

    Parameters
    ----------
    radius : float, mapping or sequence
        :math:`\gamma`, for all groups, by name, or in sorted order of groups.
    constraints : str
        "true_positive_rate_parity", "false_positive_rate_parity", "equalized_odds"
        (both) or "demographic_parity".
    slack : float, default=0
        :math:`\alpha`.

    Returns
    -------
    DataFrame
        One row per rate and group: ``rate``, ``group``, ``overall``, ``value`` and
        ``violation`` of the noisy group, ``worst`` and ``worst_violation``.

    Raises
    ------
    ValueError
        When a radius is outside [0, 1] or a group lacks an outcome.
    """
    curve = tv_curve(
        y, y_pred, noisy_groups, [radius], constraints=constraints, slack=slack
    )
    return curve.drop(columns="step")


def tv_curve(
    y: ArrayLike,
    y_pred: ArrayLike,
    noisy_groups: ArrayLike,
    radii: Sequence[object],
    *,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
) -> pd.DataFrame:
    """Return `tv_certificate` for each of several radii.

    ``step`` is the index of the radius in ``radii``.
    """
    outcome, decision, names, codes = decided_rows(y, y_pred, noisy_groups)
    steps = np.stack([by_group("radius", radius, names) for radius in radii])
    n_steps = len(steps)
    parts = []
    for side in _sides(constraints, slack):
        side.check_groups(outcome, codes, names)
        value, worst = worst_case.worst_rates(side, outcome, decision, codes, steps)
        part = _part(
            side,
            np.tile(names, n_steps),
            _overall(side, outcome, decision),
            slack,
            value=np.tile(value, n_steps),
            worst=worst.ravel(),
        )
        part["step"] = np.repeat(np.arange(n_steps), len(names))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def soft_certificate(
    y: ArrayLike,
    y_pred: ArrayLike,
    noisy_groups: ArrayLike,
    group_given_noisy: ArrayLike,
    *,
    least: ArrayLike | None = None,
    most: ArrayLike | None = None,
    constraints: str = "true_positive_rate_parity",
    slack: float = 0.0,
) -> pd.DataFrame:
    r"""Certify decisions for all memberships that agree with P(G = j | noisy group k).

    Unlike `tv_certificate` it knows no more than decision, outcome and noisy group of
    a row, and needs no relation of the two groupings but this matrix.

    Parameters
    ----------
    group_given_noisy : DataFrame or array-like of shape (n_noisy, n_groups)
        Rows in the sorted order of noisy groups; each sums to one. Columns of a frame
        name the true groups.
    least, most : array-like of shape (n_noisy, n_groups), optional
        Limits of these shares in the rows given, where they are not known exactly: see
        `shares_on_rows`.

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
    joint = worst_case.cell_probabilities(outcome, decision, codes)
    table = worst_case.soft_group_rates(
        joint, group_given_noisy, least=least, most=most
    )
    names = np.asarray(getattr(group_given_noisy, "columns", range(len(table))))
    parts = []
    for side in _sides(constraints, slack):
        overall = _overall(side, outcome, decision)
        worst = table[side.worst].to_numpy()
        parts.append(_part(side, names, overall, slack, worst=worst))
    return pd.concat(parts, ignore_index=True)


def _sides(constraints: str, slack: float) -> tuple[Side, ...]:
    check_one_of("constraints", constraints, SIDES)
    check_non_negative("slack", slack)
    return SIDES[constraints]


def _overall(side: Side, outcome: Labels, decision: Labels) -> float:
    """Return the rate of all rows; NaN where no row has such an outcome."""
    decisions = decision[side.rows(outcome)]
    if not len(decisions):
        return float("nan")
    return float(decisions.mean())


def _part(
    side: Side,
    names: NDArray[np.generic],
    overall: float,
    slack: float,
    **rates: FloatArray,
) -> pd.DataFrame:
    """Return a row for each group: its rates, and the violation by each of them."""
    table = pd.DataFrame({"rate": side.rate, "group": names, "overall": overall})
    for name, values in rates.items():
        table[name] = values
        column = "violation" if name == "value" else f"{name}_violation"
        table[column] = side.sign * (values - overall) - slack
    return table
