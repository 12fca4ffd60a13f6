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
    row_weights,
    spread,
    subgroup_codes,
)
from fairdash.metrics.group.estimates import block, estimates, gap_of
from fairdash.metrics.group.intervals import (
    Bounds,
    Interval,
    largest_gap,
    normal_quantile,
    wilson_ends,
)


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
        rates = divide(positives, self.cells.mass)
        return np.where(self.estimable[:, None], rates, np.nan)

    def ends(self, rates: Counts, *, confidence: float, axes: int = 1) -> Bounds:
        """Return the interval of the largest difference; see :func:`gap_interval`."""
        effective = self.cells.effective
        return largest_gap(
            rates,
            lambda z: wilson_ends(rates, effective, z),
            confidence=confidence,
            axes=axes,
        )

    def local_di(self, y_pred: ArrayLike) -> Counts:
        """Return local DI of 0/1 predictions as (models, subgroups), NaN undefined."""
        return spread(self.rates(self.cells.count(binary_models("y_pred", y_pred))))

    def table(self, positives: Counts, *, confidence: float = 0.95) -> pd.DataFrame:
        """Return the table of :func:`local_di` of sums by subgroup and group."""
        rows, reported = self.cells.rows, self.rates(positives)
        rates = divide(positives, self.cells.mass)
        low, high = self.ends(reported, confidence=confidence)
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

    def estimates(
        self,
        positives: Counts,
        *,
        model: str = "",
        seed: int | None = None,
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Return selection rates and local DI of sums by subgroup and group.

        A table of `fairdash.metrics.estimates`, as `LocalMeasure.estimates` has it.
        """
        rows, effective = self.cells.rows, self.cells.effective
        rates = divide(positives, self.cells.mass)
        reported, z = self.rates(positives), normal_quantile(confidence)
        values = Interval(rates, *wilson_ends(rates, effective, z))
        gaps = spread(reported), *self.ends(reported, confidence=confidence)
        about: dict[str, Any] = {"subgroups": self.subgroups, "reasons": self.reasons}
        return estimates(
            [
                block(
                    "selection_rate",
                    values,
                    rows.astype(np.int64),
                    groups=self.groups,
                    method="Wilson",
                    **about,
                ),
                block(
                    gap_of("selection_rate"),
                    Interval(*(part[:, None] for part in gaps)),
                    rows.sum(axis=1, keepdims=True).astype(np.int64),
                    method="Newcombe",
                    **about,
                ),
            ],
            model=model,
            seed=seed,
        )

    def worst_k_di(self, y_pred: ArrayLike, k: int = 1) -> Counts:
        """Return Worst-k-DI of every model of ``y_pred``, (models, rows)."""
        return mean_of_largest(self.local_di(y_pred), k)


def local_cells(
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    sample_weight: Counts | None = None,
) -> LocalCells:
    """Sort rows by subgroup and group, to evaluate many models on the same rows.

    A missing subgroup is none. Not estimable are those below ``min_size`` rows, and
    those in which a group is missing or weighs nothing.
    """
    check_whole("min_size", min_size, at_least=1)
    groups = group_codes(sensitive_features, sensitive_features)
    named = subgroup_codes(subgroups, groups.codes)
    shape = (len(named.names), len(groups.names))
    cells = Cells((named.codes, groups.codes), shape, sample_weight)
    reasons = tuple(
        reason_of(rows, groups.names, min_size) or undefined_of(mass == 0, groups.names)
        for rows, mass in zip(cells.rows, cells.mass, strict=True)
    )
    return LocalCells(named.names, groups.names, named.codes, cells, reasons)


def local_di(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
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
    sample_weight : array-like of shape (n_rows,), optional
        Sampling weights; intervals are then at Kish's effective numbers of rows.

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
    weight = sample_weight
    if weight is not None:
        weight = row_weights("sample_weight", weight, predictions.shape[1])
    local = local_cells(
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=weight,
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
    sample_weight: ArrayLike | None = None,
) -> pd.DataFrame:
    """Rate of a 0/1 column (outcome or prediction) by subgroup and group.

    Returns
    -------
    DataFrame, one row per subgroup and group: subgroup, group, n, rate, ci_low, ci_high
    (Wilson, with weights at Kish's effective number of rows), estimable, reason (of the
    subgroup, as in :func:`local_di`). A rate is given wherever there are rows.
    """
    column = binary_vector("values", values)
    weight = sample_weight
    if weight is not None:
        weight = row_weights("sample_weight", weight, len(column))
    local = local_cells(
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=weight,
    )
    cells = local.cells
    rates = cells.rates(column[None])[0]
    low, high = wilson_ends(rates, cells.effective, normal_quantile(confidence))
    n_groups = len(local.groups)
    return pd.DataFrame(
        {
            "subgroup": np.repeat(local.subgroups, n_groups),
            "group": np.tile(local.groups, len(local.subgroups)),
            "n": cells.rows.ravel().astype(np.int64),
            "rate": rates.ravel(),
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


def undefined_of(missing: NDArray[np.bool_], groups: tuple[str, ...]) -> str:
    """Name the groups without a value, as those that weigh nothing; "" for none."""
    names = [name for name, one in zip(groups, missing, strict=True) if one]
    return f"undefined for {' and '.join(names)}" if names else ""


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
        Of the groups over all rows, of :func:`subgroup_rates` and :func:`local_di`.
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
    y: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int,
    sample_weight: ArrayLike | None = None,
) -> BaseRates:
    """Return the rates of the positive outcome, with 95 % intervals."""
    column = binary_vector("y", y)
    weight = sample_weight
    if weight is not None:
        weight = row_weights("sample_weight", weight, len(column))
    inside: dict[str, Any] = {
        "sensitive_features": sensitive_features,
        "subgroups": subgroups,
        "min_size": min_size,
        "sample_weight": weight,
    }
    overall = {**inside, "subgroups": np.full(len(column), ""), "min_size": 1}
    gap = local_di(column, **overall).iloc[0]
    groups = subgroup_rates(column, **overall)
    whole = Cells((np.zeros(len(column), np.int64),), (1,), weight)
    rate = whole.rates(column[None])[0]
    low, high = wilson_ends(rate, whole.effective, normal_quantile(0.95))
    return BaseRates(
        n=len(column),
        rate=float(rate[0]),
        low=float(low[0]),
        high=float(high[0]),
        gap=float(gap["local_di"]),
        gap_low=float(gap["ci_low"]),
        gap_high=float(gap["ci_high"]),
        groups=groups[["group", "n", "rate", "ci_low", "ci_high"]],
        cells=subgroup_rates(column, **inside),
        local=local_di(column, **inside),
    )
