"""Fronts over seeds: the area under each, and the fairest model for an accuracy."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm, spearmanr, ttest_1samp

from fairdash.methods import CATALOG
from fairdash.sweep import BASELINE, PARITY, decides, pareto_front
from fairdash.sweep._front import AXES, NO_LIMITS, PARTS, is_gain
from fairdash.sweep._seeds import param_columns

FEW_SETTINGS = 5  # below which nothing is said about validation against test
WORST = "worst_1_di"
GIVEN_UP = (0.0, 0.01, 0.02, 0.05, 0.1)  # of accuracy on validation rows
AREA_FROM = (0.5, 0.45)  # Worst-1-DI and accuracy from which an area counts


def compare_values(
    rows: pd.DataFrame, method: str, param: str, *, di_limit: float = 0.05
) -> pd.DataFrame:
    """Hold the values of one choice of a method to each other, over seeds.

    On every seed and for every value the models of all other settings compete. Of those
    that give up at most so much validation accuracy against the unconstrained model,
    which competes as well, the one with the smallest Worst-1-DI on validation rows is
    taken; and the front of accuracy against Worst-1-DI within ``di_limit`` is chosen on
    validation rows. Figures are on test rows.

    Parameters
    ----------
    rows : DataFrame
        Of `run_sweep`, with the unconstrained model on every seed.

    Returns
    -------
    DataFrame
        One row per value, in the order of the catalog, and accuracy ``given_up``:
        n_seeds; n_models and n_idle, how many of them do not decide; worst_1_di,
        accuracy and area (under the front), means over seeds with _low and _high; and
        area_apart, paired by seed, from the first value, whose interval holds for all
        values at once. Intervals are Student's over seeds: NaN for one.

    Raises
    ------
    ValueError
        When the unconstrained model is missing on a seed, or the choice has one value.
    """
    mine = rows[rows["method"] == method]
    options = {
        param_entry.name: param_entry.options for param_entry in CATALOG[method].params
    }[param]
    values = [value for value in options if (mine[param] == value).any()]
    if len(values) < 2:
        raise ValueError(f"{method!r} has one value of {param!r}; nothing to compare.")
    plain = dict(list(rows[rows["method"] == BASELINE].groupby("seed")))
    seeds = sorted(mine["seed"].unique().tolist())
    if missing := [seed for seed in seeds if seed not in plain]:
        raise ValueError(f"Seeds {missing} lack the {BASELINE} model; add it.")
    parts = {
        value: [mine[(mine[param] == value) & (mine["seed"] == s)] for s in seeds]
        for value in values
    }
    areas = {
        value: [front_area(param_entry, di_limit) for param_entry in parts[value]]
        for value in values
    }
    first = pd.Series(areas[values[0]])
    at_once = 1 - 0.05 / (len(values) - 1)
    problems = []
    for value in values:
        joined = pd.concat(parts[value])
        idle = ~(decides(joined, "validation") & decides(joined, "test"))
        area = pd.Series(areas[value])
        common = {
            "value": value,
            "n_seeds": len(seeds),
            "n_models": len(joined),
            "n_idle": int(idle.sum()),
            **_told("area", area),
            **_told("area_apart", area - first, at_once),
        }
        for given_up in GIVEN_UP:
            chosen = pd.DataFrame(
                [
                    least_gap(param_entry, plain[seed], given_up)
                    for seed, param_entry in zip(seeds, parts[value], strict=True)
                ]
            )
            sentences = [
                _told(name, chosen[f"test_{name}"]) for name in (WORST, "accuracy")
            ]
            problems.append(
                {**common, "given_up": given_up, **sentences[0], **sentences[1]}
            )
    return pd.DataFrame(problems)


def least_gap(
    rows: pd.DataFrame, plain: pd.DataFrame, given_up: float, *, measure: str = WORST
) -> "pd.Series[float]":
    """Return the model of the least gap that gives up at most so much accuracy.

    Both on validation rows; ``plain``, the unconstrained model, competes as well.
    """
    rows = pd.concat([plain, rows])
    least = plain["validation_accuracy"].iloc[0] - given_up
    able = decides(rows, "validation") & (rows["validation_accuracy"] >= least)
    good = rows[able].dropna(subset=f"validation_{measure}")
    place = None if good.empty else int(good[f"validation_{measure}"].argmin())
    # where the unconstrained model itself does not decide, nothing may compete
    return plain.iloc[0] if place is None else good.iloc[place]


def front_area(rows: pd.DataFrame, di_limit: float = 0.05) -> float:
    """Return the area on test rows under a front chosen on validation rows."""
    axes = (f"validation_{WORST}", "validation_accuracy")
    limits = {f"validation_{PARITY}": di_limit}
    front = pareto_front(rows, axes=axes, limits=limits)
    return hypervolume(front, reference=AREA_FROM)


def _told(
    name: str, by_seed: "pd.Series[float]", confidence: float = 0.95
) -> dict[str, float]:
    values = by_seed.dropna()
    interval = values.mean(), *ttest_1samp(values, 0).confidence_interval(confidence)
    ends = zip(("", "_low", "_high"), interval, strict=True)
    return {f"{name}{end}": float(value) for end, value in ends}


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
    rows = rows[decides(rows, "validation") & decides(rows, "test")]
    problems = []
    by = ["method", *param_columns(rows)]
    names = [f"{part}{metric}" for part in PARTS]
    for _, of_seed in rows.dropna(subset=names).groupby("seed"):
        pair = of_seed.groupby(by, dropna=False)[names].mean()
        if len(pair) >= FEW_SETTINGS and np.ptp(pair, axis=0).all():
            problems.append((float(spearmanr(*pair.to_numpy().T)[0]), len(pair)))
    if not problems:
        return float("nan"), float("nan"), float("nan")
    mean, n = np.mean(problems, axis=0)
    centre = np.arctanh(np.clip(mean, -0.999, 0.999))
    half = norm.ppf(0.975)
    ends = np.tanh(centre + np.array([-half, half]) * np.sqrt(1.06 / (n - 3)))
    return float(mean), float(ends[0]), float(ends[1])
