"""Settings over seeds: means, what seeds they share, what their spread is made of."""

import numpy as np
import pandas as pd
from scipy.stats import norm, spearmanr

from fairdash.metrics import summarise_seeds
from fairdash.sweep._front import PARTS, check_columns, decides
from fairdash.sweep._plan import FOLD

FEW_SETTINGS = 5  # below which nothing is said about validation against test
_NOT_PARAMS = ("key", "method", "seed", "initialisation", "seconds")


def param_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns of `run_sweep` that hold parameters of methods."""
    return [
        name
        for name in map(str, rows)
        if name not in _NOT_PARAMS and not name.startswith(PARTS)
    ]


def first_folds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the models of a seed's first fold, by which alone settings are compared.

    Further folds of ``cross_validate`` have other test rows.
    """
    return rows[rows[FOLD].isna()].drop(columns=FOLD) if FOLD in rows else rows


def mean_over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Average every setting of a method over its seeds, in the first fold of each.

    Initialisations on the same split are averaged first, so a spread is always that
    over splits.

    Returns
    -------
    DataFrame
        One row per setting: method, its parameters, ``n_seeds`` and for every metric
        its mean, ``_sd`` and ``_seeds``: see `fairdash.metrics.summarise_seeds`.
    """
    rows = first_folds(rows)
    by = ["method", *param_columns(rows)]
    known = rows.drop(columns="initialisation", errors="ignore")
    if known.duplicated([*by, "seed"]).any():
        splits = known.groupby([*by, "seed"], sort=False, dropna=False)
        known = splits.mean(numeric_only=True).reset_index()
    return summarise_seeds(known, by)


def rows_on_shared_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the models on the seeds that all settings have.

    Each seed has test rows of its own, so means over other seeds would differ by more
    than the settings do. If no seed is common to all settings, those that lack the seed
    which most of them have are excluded.
    """
    by = ["method", *param_columns(rows)]
    setting = rows.groupby(by, sort=False, dropna=False).ngroup()
    has = pd.crosstab(setting, rows["seed"]).gt(0)
    most = has.sum().idxmax()  # the first of several
    kept = has[has[most]]
    seeds = kept.columns[kept.all()]
    shared = rows["seed"].isin(seeds) & setting.isin(kept.index)
    return rows[shared].reset_index(drop=True)


def variance_components(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    r"""Say how much of a metric's spread is the split's and how much the start's.

    With :math:`s^2_w` the variance of initialisations within a split, averaged over
    splits, :math:`s^2_b` that of the means of the splits and :math:`m` initialisations
    a split, the components are :math:`s_w` and
    :math:`\sqrt{\max(0, s^2_b - s^2_w / m)}`.

    Returns
    -------
    DataFrame
        One row per setting, in the order of `mean_over_seeds`: ``split`` and
        ``initialisation``, standard deviations in the unit of the metric, NaN where
        there are not two seeds or not two initialisations of a seed; ``n_seeds`` and
        ``n_initialisations``.
    """
    check_columns(rows, [metric])
    rows = first_folds(rows)
    by = ["method", *param_columns(rows)]
    setting = rows.groupby(by, sort=False, dropna=False).ngroup()
    cells = rows.groupby([setting, rows["seed"]])[metric].agg(["mean", "var", "count"])
    over = cells.groupby(level=0)
    n_seeds, m = over["mean"].count(), over["count"].mean()
    within_split = over["var"].mean()
    excess = over["mean"].var() - within_split / m
    return pd.DataFrame(
        {
            "split": np.sqrt(excess.clip(lower=0)),
            "initialisation": np.sqrt(within_split),
            "n_seeds": n_seeds,
            "n_initialisations": m,
        }
    ).reset_index(drop=True)


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
