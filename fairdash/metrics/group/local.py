"""Local DI: gaps within subgroups, of predictions and of outcomes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole
from fairdash.metrics.group.counting import (
    Cells,
    Counts,
    binary_models,
    binary_vector,
    divide,
    group_codes,
    spread,
    subgroup_codes,
)
from fairdash.metrics.group.intervals import gap_interval, wilson_interval
from fairdash.metrics.group.rates import demographic_parity_difference, group_rates


@dataclass(frozen=True, eq=False)
class LocalCells:
    """Rows by subgroup and group, counted once and ready for any number of models.

    Attributes
    ----------
    codes : int64 array of shape (n_rows,)
        Subgroup of every row, -1 for none.
    reasons : tuple of str
        Why a subgroup is not estimable; empty where it is.
    """

    subgroups: tuple[str, ...]
    groups: tuple[str, ...]
    codes: NDArray[np.int64]
    cells: Cells
    reasons: tuple[str, ...]

    @property
    def estimable(self) -> NDArray[np.bool_]:
        """Whether local DI of each subgroup is reported."""
        return np.array([reason == "" for reason in self.reasons], dtype=bool)

    def rates(self, positives: Counts) -> Counts:
        """Return rates of ``positives``, (..., subgroups, groups), where estimable."""
        rates = divide(positives, self.cells.rows)
        return np.where(self.estimable[:, None], rates, np.nan)

    def local_di(self, y_pred: ArrayLike) -> Counts:
        """Return local DI of 0/1 predictions as (models, subgroups), NaN undefined."""
        return spread(self.rates(self.cells.count(binary_models("y_pred", y_pred))))

    def table(
        self,
        positives: Counts,
        effective: Counts | None = None,
        *,
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Return the table of :func:`local_di` of sums by subgroup and group.

        ``effective`` are the rows that intervals count, of rows with weights Kish's.
        """
        rows = self.cells.rows
        rates, reported = divide(positives, rows), self.rates(positives)
        counted = positives if effective is None else rates * effective
        low, high = gap_interval(
            np.where(self.estimable[:, None], counted, np.nan),
            rows if effective is None else effective,
            confidence=confidence,
        )
        by_group = list(enumerate(self.groups))
        return pd.DataFrame(
            {
                "subgroup": list(self.subgroups),
                "n": rows.sum(axis=1).astype(np.int64),
                **{f"n_{name}": rows[:, k].astype(np.int64) for k, name in by_group},
                **{f"rate_{name}": rates[:, k] for k, name in by_group},
                "local_di": spread(reported),
                "ci_low": low,
                "ci_high": high,
                "estimable": self.estimable,
                "reason": list(self.reasons),
            }
        )

    def worst_k_di(self, y_pred: ArrayLike, k: int = 1) -> Counts:
        """Return Worst-k-DI of every model of ``y_pred``, (models, rows)."""
        return mean_of_largest(self.local_di(y_pred), k)


def local_cells(
    *, sensitive_features: ArrayLike, subgroups: ArrayLike, min_size: int = 50
) -> LocalCells:
    """Sort rows by subgroup and group, to evaluate many models on the same rows.

    A missing subgroup is none; those below ``min_size`` rows are not estimable.
    """
    check_whole("min_size", min_size, at_least=1)
    groups = group_codes(sensitive_features, sensitive_features)
    named = subgroup_codes(subgroups, groups.codes)
    shape = (len(named.names), len(groups.names))
    cells = Cells((named.codes, groups.codes), shape)
    reasons = tuple(reason_of(rows, groups.names, min_size) for rows in cells.rows)
    return LocalCells(named.names, groups.names, named.codes, cells, reasons)


def local_di(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Gap between the groups' positive rates inside every subgroup.

    .. math::

        \mathrm{DI}_g = \max_s P(\hat y = 1 \mid s, g) - \min_s P(\hat y = 1 \mid s, g)

    which is the ROAD paper's absolute difference for two groups.

    Parameters
    ----------
    y_pred : array-like of 0/1, (n_rows,) or (n_models, n_rows)
        Or any 0/1 column: with the outcome itself this is the gap in base rates.
    subgroups : array-like of shape (n_rows,)
        Label of every row; missing means none. Categories keep their order.

    Returns
    -------
    DataFrame, one row per subgroup: subgroup, n, ``n_<group>`` and ``rate_<group>`` of
    every group, local_di, ci_low, ci_high, estimable, reason ("", "11 rows", "one group
    only", "no <group> rows"). Where not estimable local_di and its interval are NaN.
    Several models come one below the other, numbered in a leading column ``model``.

    References
    ----------
    V. Grari et al. (2024), On the fairness ROAD: robust optimization for adversarial
    debiasing. ICLR.
    """
    predictions = binary_models("y_pred", y_pred)
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    positives = local.cells.count(predictions)
    tables = [local.table(counts, confidence=confidence) for counts in positives]
    if np.ndim(y_pred) == 1:
        return tables[0]
    return pd.concat(tables, keys=range(len(tables)), names=["model"]).reset_index(0)


def worst_k_di(table: pd.DataFrame, k: int = 1) -> float:
    """Mean of the ``k`` largest local DI of one model; NaN if fewer are estimable.

    A maximum of noisy gaps is biased upwards; :func:`noise_floor` says by how much.
    """
    if "model" in table:
        raise ValueError("`table` holds several models; pass the rows of one of them.")
    return float(mean_of_largest(table["local_di"].to_numpy(np.float64), k))


def subgroup_rates(
    values: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Rate of a 0/1 column (outcome or prediction) by subgroup and group.

    Returns
    -------
    DataFrame, one row per subgroup and group: subgroup, group, n, positives, rate,
    ci_low, ci_high (Wilson), estimable, reason (of the subgroup, as in
    :func:`local_di`). A rate is given wherever there are rows.
    """
    column = binary_vector("values", values)
    local = local_cells(
        sensitive_features=sensitive_features, subgroups=subgroups, min_size=min_size
    )
    positives, rows = local.cells.count(column[None])[0], local.cells.rows
    low, high = wilson_interval(positives, rows, confidence=confidence)
    n_groups = len(local.groups)
    return pd.DataFrame(
        {
            "subgroup": np.repeat(local.subgroups, n_groups),
            "group": np.tile(local.groups, len(local.subgroups)),
            "n": rows.ravel().astype(np.int64),
            "positives": positives.ravel().astype(np.int64),
            "rate": divide(positives, rows).ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "estimable": np.repeat(local.estimable, n_groups),
            "reason": np.repeat(local.reasons, n_groups),
        }
    )


def mean_of_largest(gaps: Counts, k: int) -> Counts:
    """Return the mean of the ``k`` largest of the last axis; NaN if fewer exist."""
    check_whole("k", k, at_least=1)
    if gaps.shape[-1] < k:
        return np.full(gaps.shape[:-1], np.nan)
    # NaN counts as smaller than any gap, and spreads if it is among the k
    filled = np.where(np.isnan(gaps), -np.inf, gaps)
    largest = np.partition(filled, -k, axis=-1)[..., -k:].mean(axis=-1)
    return np.where(np.isneginf(largest), np.nan, largest)


def reason_of(
    rows: NDArray[Any], groups: tuple[str, ...], min_size: int, support: str = ""
) -> str:
    """Say why rows by group are not enough for a gap; "" where they are."""
    total, kind = int(rows.sum()), f" {support}".rstrip()
    if total < min_size:
        return f"{total} row{kind}" if total == 1 else f"{total:,} rows{kind}"
    if (rows > 0).sum() == 1:
        return f"one group only{kind}"
    absent = [name for name, count in zip(groups, rows, strict=True) if count == 0]
    return f"no {' or '.join(absent)} rows{kind}" if absent else ""


@dataclass(frozen=True, eq=False)
class BaseRates:
    """How often the outcome is positive, by group and by subgroup.

    Attributes
    ----------
    rate, low, high : float
        Over all rows, with Wilson interval.
    gap, gap_low, gap_high : float
        Largest minus smallest rate of the groups, with folded Newcombe interval.
    groups, cells, local : DataFrame
        Of :func:`group_rates`, :func:`subgroup_rates` and :func:`local_di`.
    """

    n: int
    rate: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float
    groups: pd.DataFrame
    cells: pd.DataFrame
    local: pd.DataFrame

    def sizes(self) -> pd.DataFrame:
        """Return the rows of every subgroup and of each group in it."""
        local = self.local.set_index("subgroup")
        counts = self.cells.pivot_table("n", "subgroup", "group", "sum", observed=True)
        table = counts.reindex(local.index).fillna(0).astype(int)
        table.insert(0, "Rows", local["n"])
        table["Estimable"] = local["estimable"]
        table["Why not"] = local["reason"]
        return table.rename_axis("Subgroup").reset_index().rename_axis(columns=None)


def base_rates(
    y: ArrayLike, *, sensitive_features: ArrayLike, subgroups: ArrayLike, min_size: int
) -> BaseRates:
    """Return the rates of the positive outcome, with 95 % intervals."""
    whole = group_rates(y, sensitive_features=sensitive_features)
    positives = whole["positives"].to_numpy(float)
    n_rows = whole["n"].to_numpy(float)
    n, n_positive = int(n_rows.sum()), int(positives.sum())
    low, high = wilson_interval(n_positive, n)
    gap_low, gap_high = gap_interval(positives, n_rows)
    return BaseRates(
        n=n,
        rate=n_positive / n,
        low=float(low),
        high=float(high),
        gap=demographic_parity_difference(y, sensitive_features=sensitive_features),
        gap_low=float(gap_low),
        gap_high=float(gap_high),
        groups=whole,
        cells=subgroup_rates(
            y,
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        ),
        local=local_di(
            y,
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
        ),
    )
