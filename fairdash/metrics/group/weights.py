"""Weights r of training rows by subgroup, and the rows that have the largest."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._counts import RowCounts, people_of, quantiles
from fairdash._validation import value_labels
from fairdash._wording import spoken_value
from fairdash.metrics.group import counting
from fairdash.metrics.group.intervals import normal_quantile, wilson_interval
from fairdash.metrics.group.local import local_di
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.variance import unit_codes

_MOST_LEVELS = 12  # of a number that is not cut
_MOST_TRAITS = 8


class Correlation(NamedTuple):
    """Pearson's correlation over subgroups and the line of fit, without an interval.

    The line is that of least squares: mean weight = intercept + slope * local DI.
    """

    value: float
    n_subgroups: int
    slope: float
    intercept: float


class Heaviest(NamedTuple):
    """Rows with the largest weights, largest first.

    ``people`` says how many of those of each row are among them: 1, unless rows are
    counts.
    """

    rows: NDArray[np.int64]
    people: NDArray[np.float64]

    @property
    def n(self) -> int:
        """How many rows or, of counts, people they are."""
        return int(self.people.sum())


def effective_rows(ratio: ArrayLike, people: ArrayLike | None = None) -> float:
    r"""Kish's effective number of rows, :math:`(\sum r)^2 / \sum r^2`.

    ``people`` says how many each row stands for, where rows are counts: sums and number
    are then of people.
    """
    weights = _weights(ratio)
    times = counting.row_weights("people", people, len(weights))
    total = (times * weights).sum()
    squares = (times * np.square(weights)).sum()
    return float(total**2 / squares)


def ratio_by_subgroup(
    ratio: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Mean weight of every subgroup beside the local DI of a model on the same rows.

    Parameters
    ----------
    ratio : array-like of shape (n_rows,)
        Weights that a method gave in training.
    sample_weight, cluster : array-like of shape (n_rows,), optional
        Sampling weights of the rows, and the unit of each.

    Returns
    -------
    DataFrame of :func:`local_di` of ``y_pred`` with the columns mean_ratio, ratio_low,
    ratio_high (normal interval of a mean; NaN for fewer than two rows, or units of a
    ``cluster``)
    """
    weights = _weights(ratio)
    table = local_di(
        y_pred,
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        confidence=confidence,
        sample_weight=sample_weight,
        cluster=cluster,
    )
    subgroup = counting.subgroup_codes(subgroups, weights)
    rows = Measured.of("mean_prediction", None, weights, sample_weight, cluster=cluster)
    k = len(subgroup.names)
    mean = rows.cells(subgroup.codes, k).means(np.arange(k), (k,))
    half = normal_quantile(confidence) * mean.error
    return table.assign(
        mean_ratio=mean.value,
        ratio_low=mean.value - half,
        ratio_high=mean.value + half,
    )


def ratio_correlation(
    ratio: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    sample_weight: ArrayLike | None = None,
) -> Correlation:
    """Correlation over subgroups of mean weight and local DI of a model.

    Every estimable subgroup counts once, whatever its size; NaN with fewer than three.
    It describes these rows. It has no interval: local DIs are measured with an error
    of their own, so their correlation with anything is closer to 0 than that of the
    true ones, and the interval of a bootstrap held the latter in .76 of tables.

    ``sample_weight`` are sampling weights, of which local DIs are.
    """
    table = ratio_by_subgroup(
        ratio,
        y_pred,
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
    )
    return correlation_of(table)


def correlation_of(table: pd.DataFrame) -> Correlation:
    """Return `ratio_correlation` of a table of `ratio_by_subgroup`."""
    estimable = table[table["estimable"]]
    defined = estimable.dropna(subset=["local_di", "mean_ratio"])
    gap = defined["local_di"].to_numpy(np.float64)
    mean = defined["mean_ratio"].to_numpy(np.float64)
    n_subgroups = len(estimable)
    # Two points always lie on a line, and a constant correlates with nothing.
    if len(gap) < 3 or np.ptp(gap) == 0 or np.ptp(mean) == 0:
        return Correlation(np.nan, n_subgroups, np.nan, np.nan)
    value = float(np.corrcoef(gap, mean)[0, 1])
    slope = value * float(mean.std() / gap.std())
    intercept = float(mean.mean() - slope * gap.mean())
    return Correlation(value, n_subgroups, slope, intercept)


def _weights(ratio: ArrayLike) -> NDArray[np.float64]:
    """Return checked weights of rows."""
    return counting.row_weights("ratio", ratio, np.size(ratio))


def top_rows(
    ratio: ArrayLike, share: float, people: ArrayLike | None = None
) -> Heaviest:
    """Return the rows with the largest weights, largest first.

    ``share`` of all rows, at least one; rows of equal weight in their order. With
    ``people``, how many each row stands for, it is the share of people: of the last
    row as many as are missing.
    """
    weights = np.asarray(ratio, dtype=np.float64)
    if not 0 < share <= 1:
        raise ValueError(f"`share` must lie in (0, 1], got {share!r}.")
    times = counting.row_weights("people", people, len(weights))
    n_people = max(1, round(share * times.sum()))
    order = np.argsort(-weights, kind="stable")
    times = times[order]
    before = np.cumsum(times) - times
    included = np.clip(n_people - before, 0, times)
    return Heaviest(order[included > 0], np.asarray(included[included > 0]))


def traits(
    frame: pd.DataFrame,
    top: Heaviest | ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Values that are more frequent among ``top`` rows than among all rows.

    A numeric column with more than 12 values is cut at its quartiles. A column gives
    at most one trait, the one that gains most; eight columns at most.

    Parameters
    ----------
    top : Heaviest or array-like of int
        Rows to compare with all rows, or their positions.
    sample_weight : array-like of shape (n_rows,), optional
        Sampling weights: shares are weighted. Counts of people: all is of people.
    cluster : array-like of shape (n_rows,), optional
        Unit of each row, such as a person: a few persons with many rows each share
        what they share.

    Returns
    -------
    DataFrame, by falling gain: column, value, trait (such as "age 18–25"), share_all,
    share_top, ci_low, ci_high (95 % for all values of all columns at once, by Wilson
    and Bonferroni; with weights or units at the number of independent rows), lift
    (share_top / share_all)
    """
    people = people_of(sample_weight)
    if not isinstance(top, Heaviest):
        positions = np.asarray(top, dtype=np.int64)
        times = np.ones(len(frame)) if people is None else people
        top = Heaviest(positions, times[positions])
    rows = top.rows
    if len(rows) == 0:
        raise ValueError("`top` must name at least one row.")
    labels = {name: _levels(frame[name], people) for name in frame.columns}
    n_values = sum(label.nunique() for label in labels.values())
    confidence = 1 - 0.05 / n_values  # Bonferroni over all values of all columns
    unit = unit_codes(cluster, len(frame))
    if unit is not None:
        unit = unit[rows]
    mass = counting.row_weights("sample_weight", sample_weight, len(frame))
    top_mass = mass[rows] if people is None else top.people.view(RowCounts)
    top_weight = None if sample_weight is None else top_mass
    traits_of_columns = []
    for name, label in labels.items():
        top_labels = label.iloc[rows]
        share_all = _shares(label, mass)
        share_top = _shares(top_labels, top_mass)
        share_top = share_top.reindex(share_all.index, fill_value=0.0)
        low, high = _share_ends(
            top_labels, share_all.index, top_weight, unit, confidence
        )
        table = pd.DataFrame(
            {
                "column": str(name),
                "value": share_all.index.astype(str),
                "share_all": share_all.to_numpy(),
                "share_top": share_top.to_numpy(),
                "ci_low": low,
                "ci_high": high,
            }
        )
        gain = table["share_top"] - table["share_all"]
        traits_of_columns.append(table.loc[[gain.idxmax()]])
    best = pd.concat(traits_of_columns, ignore_index=True)
    pairs = zip(best["column"], best["value"], strict=True)
    best.insert(2, "trait", [spoken_value(*pair) for pair in pairs])
    best["lift"] = best["share_top"] / best["share_all"]
    gain = best["share_top"] - best["share_all"]
    order = gain.sort_values(ascending=False).index
    return best.loc[order].head(_MOST_TRAITS).reset_index(drop=True)


def _shares(values: "pd.Series[Any]", mass: counting.Counts) -> "pd.Series[Any]":
    """Return the weighted share of each value, the largest first."""
    sums = pd.Series(np.asarray(mass), values.index).groupby(values, sort=False).sum()
    return (sums / sums.sum()).sort_values(ascending=False, kind="stable")


def _share_ends(
    values: "pd.Series[Any]",
    levels: Any,
    weight: counting.Counts | None,
    unit: NDArray[np.int64] | None,
    confidence: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of the share of each level among some values."""
    people = people_of(weight)
    if unit is None and (weight is None or people is not None):
        times = np.ones(len(values)) if people is None else people
        counts = pd.Series(times, values.index).groupby(values).sum()
        counts = counts.reindex(levels, fill_value=0)
        return wilson_interval(counts, times.sum(), confidence=confidence)
    lows = []
    highs = []
    one_cell = np.zeros(len(values), np.int64)
    for level in levels:
        flags = (values == level).to_numpy(np.float64)
        rows = Measured.of("selection_rate", None, flags, weight, cluster=unit)
        share = rows.estimate(one_cell, (1,)).interval(confidence)
        lows.append(share.low[0])
        highs.append(share.high[0])
    return np.array(lows), np.array(highs)


def _levels(
    column: "pd.Series[Any]", people: NDArray[np.float64] | None
) -> "pd.Series[Any]":
    """Return what each row is called in a column: its value, or its quarter."""
    numeric = pd.api.types.is_numeric_dtype(column) and column.dtype != bool
    if not numeric or column.nunique() <= _MOST_LEVELS:
        return value_labels(column).astype(object).fillna("missing")
    numbers = column.astype(np.float64)
    quarters = (0, 0.25, 0.5, 0.75, 1)
    cuts = np.unique(quantiles(numbers.to_numpy(), quarters, people)).tolist()
    names = [f"{low:,.6g}–{high:,.6g}" for low, high in itertools.pairwise(cuts)]
    cut = pd.cut(numbers, cuts, labels=names, include_lowest=True, ordered=False)
    return pd.Series(cut).astype(object).fillna("missing")
