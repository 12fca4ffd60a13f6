"""What benchmarks say of many models: areas under fronts, ranks of two parts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm, spearmanr

from fairdash.sweep import decides, pareto_front
from fairdash.sweep._front import AXES, NO_LIMITS, PARTS, is_gain
from fairdash.sweep._seeds import first_folds, param_columns

FEW_SETTINGS = 5  # below which nothing is said about validation against test


def hypervolume(
    rows: pd.DataFrame,
    *,
    reference: tuple[float, float],
    axes: tuple[str, str] = AXES,
    limits: Mapping[str, float] = NO_LIMITS,
) -> float:
    """Return the area between a front and a reference point that is worse than it.

    ``reference`` has the worst values that count, in the order of ``axes``; models
    beyond it on an axis add nothing: ``(0.5, 0.45)`` for Worst-1-DI up to 0.5 and
    accuracy from 45 %.
    """
    front = pareto_front(rows, axes=axes, limits=limits)
    signs = np.array([-1.0 if is_gain(column) else 1.0 for column in axes])
    corner = signs * np.asarray(reference, dtype=float)
    costs = front[list(axes)].to_numpy(float) * signs
    costs = costs[(costs < corner).all(axis=1)]
    ends = np.append(costs[:, 0], corner[0])
    widths = np.diff(ends)
    return float((widths * (corner[1] - costs[:, 1])).sum())


def rank_agreement(rows: pd.DataFrame, metric: str) -> tuple[float, float, float]:
    r"""Return how validation rows rank the settings of a sweep beside test rows.

    Returns
    -------
    correlation, low, high : float
        Spearman's rank correlation between the metric on validation and on test rows
        over the settings of one seed, averaged over seeds, with a 95 % interval:
        Fisher's transformation, of variance :math:`1.06 / (n - 3)`, with the settings
        of one seed as n. NaN below five settings. Models that do not decide are
        excluded, and starts of a setting on the same split averaged.

    References
    ----------
    E. C. Fieller, H. O. Hartley and E. S. Pearson (1957), Tests for rank correlation
    coefficients I. Biometrika 44, 470-481.
    """
    rows = first_folds(rows)
    rows = rows[decides(rows, "validation") & decides(rows, "test")]
    found = []
    by, names = ["method", *param_columns(rows)], [f"{part}{metric}" for part in PARTS]
    for _, of_seed in rows.dropna(subset=names).groupby("seed"):
        pair = of_seed.groupby(by, dropna=False)[names].mean()
        if len(pair) >= FEW_SETTINGS and np.ptp(pair, axis=0).all():
            found.append((float(spearmanr(*pair.to_numpy().T)[0]), len(pair)))
    if not found:
        return float("nan"), float("nan"), float("nan")
    mean, n = np.mean(found, axis=0)
    centre, half = np.arctanh(np.clip(mean, -0.999, 0.999)), norm.ppf(0.975)
    ends = np.tanh(centre + np.array([-half, half]) * np.sqrt(1.06 / (n - 3)))
    return float(mean), float(ends[0]), float(ends[1])
