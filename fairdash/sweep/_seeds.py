"""Settings over seeds: their means, and the seeds that they share."""

import pandas as pd

from fairdash.metrics import summarise_seeds
from fairdash.sweep._front import PARTS
from fairdash.sweep._ranking import PREFIX
from fairdash.sweep.planning import FOLD, INITIALISATION

DRAWN = "drawn"  # 1 where figures of a random mixture are the expected ones
_NOT_PARAMS = ("key", "method", "seed", INITIALISATION, "seconds", DRAWN)


def param_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns of `run_sweep` that hold parameters of methods."""
    columns = []
    for name in map(str, rows):
        is_metric = name.startswith((*PARTS, PREFIX))
        if name not in _NOT_PARAMS and not is_metric:
            columns.append(name)
    return columns


def first_trainings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one model a setting and seed.

    Runs of earlier versions may have several initialisations or folds of a split, of
    which the first counts.
    """
    for name in (FOLD, INITIALISATION):
        if name in rows:
            rows = rows[rows[name].fillna(0) == 0].drop(columns=name)
    return rows


def mean_over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Average every setting of a method over its seeds.

    Returns
    -------
    DataFrame
        One row per setting: method, its parameters, ``n_seeds`` and for every metric
        its mean, ``_sd`` and ``_seeds``: see `fairdash.metrics.summarise_seeds`.
    """
    rows = first_trainings(rows)
    return summarise_seeds(rows, ["method", *param_columns(rows)])


def rows_on_shared_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the models on the seeds that all settings have.

    Each seed has test rows of its own, so means over other seeds would differ by more
    than the settings do. If no seed is common to all settings, those that lack the seed
    which most of them have are excluded.
    """
    by = ["method", *param_columns(rows)]
    setting = rows.groupby(by, sort=False, dropna=False).ngroup()
    finished = pd.crosstab(setting, rows["seed"]).gt(0)
    commonest = finished.sum().idxmax()  # the first of several seeds
    settings = finished[finished[commonest]]
    seeds = settings.columns[settings.all()]
    is_shared = rows["seed"].isin(seeds) & setting.isin(settings.index)
    return rows[is_shared].reset_index(drop=True)
