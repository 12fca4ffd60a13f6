"""Settings over seeds: means, what seeds they share, what their spread is made of."""

import numpy as np
import pandas as pd

from fairdash.metrics import summarise_seeds
from fairdash.sweep._front import PARTS, check_columns
from fairdash.sweep._plan import FOLD

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
