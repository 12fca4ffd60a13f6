"""How gaps of a model change between two tables, and what drives the change."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from fairdash._wording import NO_SUBGROUPS
from fairdash.audits.drifts.tables import DriftTable
from fairdash.metrics import (
    RATES,
    CellValues,
    Interval,
    Measured,
    difference_of,
    divide,
    for_all_pairs,
    newcombe_interval,
)

Float = NDArray[np.float64]
REST = "(in no subgroup)"
_DRAWS = 1000  # of a bootstrap


@dataclass(frozen=True, eq=False)
class GapCells:
    """Rows that a rate is about, and those counted, by subgroup and group.

    ``n`` and ``k`` are of shape (subgroups + 1, groups); the last row is of those in
    none. A measure that is no rate, and any of rows with weights, has estimates
    ``inside`` of that shape instead of ``k``, and ``overall``, (groups,), of all rows.
    Of a rate with weights ``mass`` are the weights of both kinds of rows, and how many
    rows a unit of it is worth by group: Kish's.
    """

    name: str
    subgroups: tuple[str, ...]
    groups: tuple[str, ...]
    n: Float
    k: Float
    inside: CellValues | None = None
    overall: CellValues | None = None
    mass: tuple[Float, Float, Float] | None = None

    @classmethod
    def of(cls, table: DriftTable, predicted: NDArray[Any], rate: str) -> "GapCells":
        """Count what a model does on a table.

        ``rate`` is a measure, see `fairdash.metrics.measure_by_group`, ``predicted``
        decisions, or scores where it is of scores; ValueError when it needs the outcome
        and the table has none.
        """
        decided = predicted
        if (rate not in RATES or RATES[rate].needs_outcome) and table.y is None:
            raise ValueError(
                f"{table.name} has no outcome, so only selection rates can be "
                "compared; add the column, or choose DI or Worst-1-DI."
            )
        y = np.zeros(len(decided)) if table.y is None else table.y.astype(float)
        subgroups = tuple(map(str, table.subgroups.categories))
        groups = tuple(map(str, table.groups.categories))
        shape = len(subgroups) + 1, len(groups)
        row = np.where(table.subgroups.codes < 0, shape[0] - 1, table.subgroups.codes)
        place = row * shape[1] + table.groups.codes
        size = shape[0] * shape[1]

        def total(values: NDArray[Any]) -> Float:
            sums = np.bincount(place, weights=values, minlength=size)
            return sums.astype(np.float64).reshape(shape)

        mass, heavy = None, table.weight
        d = decided.astype(float)
        if rate in RATES:
            about = RATES[rate].about(y, d)
            counted = about & RATES[rate].counted(y, d)
        if rate in RATES and heavy is not None:
            n, k = total(about * heavy), total(counted * heavy)
            squares = total(about * heavy**2)
            mass = n, k, divide(n.sum(axis=0), squares.sum(axis=0))
        if rate not in RATES or heavy is not None:
            measured = Measured.of(rate, y, predicted, heavy)
            values = measured.estimate(place, size).reshape(*shape)
            overall = measured.estimate(table.groups.codes.astype(np.int64), shape[1])
            n, k = values.n.astype(np.float64), np.full(shape, np.nan)
            return cls(table.name, subgroups, groups, n, k, values, overall, mass)
        return cls(table.name, subgroups, groups, total(about), total(counted))

    @property
    def by_group(self) -> Float:
        """The measure of every group over all rows, NaN where there are none."""
        if self.overall is not None:
            return self.overall.value
        return divide(self.k.sum(axis=0), self.n.sum(axis=0))

    def pair(self) -> tuple[int, int]:
        """Return the groups with the lowest and the highest rate over all rows.

        Raises ValueError when fewer than two groups have rows that the rate is about.
        """
        rates = self.by_group
        if np.isfinite(rates).sum() < 2:
            raise ValueError(
                f"{self.name} has rows of one group only, so there is no gap on it."
            )
        return int(np.nanargmin(rates)), int(np.nanargmax(rates))

    def whole(self) -> "GapCells":
        """Return the cells with all rows in one subgroup."""
        none = np.zeros((1, len(self.groups)))
        n, k = (np.vstack([c.sum(axis=0)[None], none]) for c in (self.n, self.k))
        whole = GapCells(self.name, (NO_SUBGROUPS,), self.groups, n, k)
        if self.overall is None:
            return whole
        twice = self.overall.at(np.tile(np.arange(len(self.groups)), 2))
        return replace(whole, inside=twice.reshape(2, -1), overall=self.overall)

    def gap(self, pair: tuple[int, int], confidence: float) -> Interval:
        """Return the signed gap in every subgroup, the pair's second less its first."""
        low, high = pair
        if self.inside is not None:
            every = self.inside.interval(confidence)
            one, other = (
                Interval(*(part[:-1, group] for part in every)) for group in (high, low)
            )
            return Interval(one.value - other.value, *difference_of(one, other))
        k, n = self.k[:-1], self.n[:-1]
        value = divide(k[:, high], n[:, high]) - divide(k[:, low], n[:, low])
        ends = newcombe_interval(
            k[:, high], n[:, high], k[:, low], n[:, low], confidence=confidence
        )
        return Interval(value, *ends)


def gap_changes(
    before: GapCells,
    after: GapCells,
    pair: tuple[int, int],
    *,
    min_size: int = 50,
    confidence: float = 0.95,
    n_rates: int = 1,
) -> pd.DataFrame:
    r"""Change of the gap between two groups inside every subgroup.

    The gap is signed, :math:`d = \hat p_{high} - \hat p_{low}`. The two tables are
    independent samples, so that with Newcombe's intervals :math:`(l_i, u_i)` of the
    gaps the change has the interval

    .. math::

        d_1 - d_0 - \sqrt{(d_1 - l_1)^2 + (u_0 - d_0)^2}
        \quad\text{to}\quad
        d_1 - d_0 + \sqrt{(u_1 - d_1)^2 + (d_0 - l_0)^2}

    and over the m estimable subgroups all at ``1 - (1 - confidence) / m`` (Bonferroni):
    they hold at once, so whichever change looks largest may be named. The pair was
    chosen by its gap on the first table; of more than two groups m counts all pairs.
    Where the rate was chosen of ``n_rates``, as the wider gap of equalized odds is, m
    counts all of these.

    Subgroups with fewer than ``min_size`` rows of the two groups in a table are not
    estimable.

    Returns
    -------
    DataFrame, one row per subgroup: subgroup, n_before, n_after, gap_before,
    before_low, before_high, gap_after, after_low, after_high (Newcombe, each at
    ``confidence``), change, ci_low, ci_high (simultaneous), estimable, reason.

    References
    ----------
    R. G. Newcombe (1998), Stat. Med. 17, 873-890, method 10. G. Y. Zou and A. Donner
    (2008), Construction of confidence limits about effect measures: a general
    approach. Stat. Med. 27, 1693-1702.
    """
    both = list(pair)
    reasons = [
        _reason(before, i, both, min_size) or _reason(after, i, both, min_size)
        for i in range(len(before.subgroups))
    ]
    estimable = np.array([not reason for reason in reasons], bool)
    times = n_rates * max(int(estimable.sum()), 1)
    level = for_all_pairs(confidence, len(before.groups), times=times)
    low, high = difference_of(after.gap(pair, level), before.gap(pair, level))
    old, new = before.gap(pair, confidence), after.gap(pair, confidence)

    def shown(values: Float) -> Float:
        return np.where(estimable, values, np.nan)

    return pd.DataFrame(
        {
            "subgroup": list(before.subgroups),
            "n_before": before.n[:-1, both].sum(axis=1).astype(np.int64),
            "n_after": after.n[:-1, both].sum(axis=1).astype(np.int64),
            "gap_before": shown(old.value),
            "before_low": shown(old.low),
            "before_high": shown(old.high),
            "gap_after": shown(new.value),
            "after_low": shown(new.low),
            "after_high": shown(new.high),
            "change": shown(new.value - old.value),
            "ci_low": shown(low),
            "ci_high": shown(high),
            "estimable": estimable,
            "reason": reasons,
        }
    )


def _reason(cells: GapCells, place: int, both: list[int], min_size: int) -> str:
    rows = cells.n[place, both]
    if cells.inside is not None and np.isnan(cells.inside.value[place, both]).any():
        rows = np.where(np.isnan(cells.inside.value[place, both]), 0, rows)
    absent = [cells.groups[g] for g, n in zip(both, rows, strict=True) if n == 0]
    if absent:
        return f"no {' or '.join(absent)} rows in {cells.name}"
    if rows.sum() < min_size:
        n = int(rows.sum())
        return f"{n:,} row{'s' * (n > 1)} in {cells.name}"
    return ""


def gap_drivers(
    before: GapCells,
    after: GapCells,
    pair: tuple[int, int],
    *,
    confidence: float = 0.95,
    n_rates: int = 1,
    random_state: int = 0,
) -> pd.DataFrame:
    r"""Split the change of the gap over all rows among the subgroups.

    The gap over all rows is :math:`D = \sum_g w_{bg} r_{bg} - w_{ag} r_{ag}` for the
    groups a and b of the pair, the share :math:`w_{sg}` of group s that is in subgroup
    g, and its rate :math:`r_{sg}` there. Between two tables

    .. math::

        \Delta D = \sum_g \underbrace{
            \bar w_{bg} \Delta r_{bg} - \bar w_{ag} \Delta r_{ag}}_\text{rates}
        + \underbrace{(\bar r_{bg} - \bar R_b) \Delta w_{bg}
            - (\bar r_{ag} - \bar R_a) \Delta w_{ag}}_\text{composition}

    exactly, where a bar is the mean over the tables and :math:`\bar R_s` that of the
    group's rate over all rows: :math:`\sum_g \Delta w_{sg} = 0`, so subtracting it
    changes no sum, and growth of a subgroup counts by how it differs. A rate that one
    table cannot tell, for lack of rows, is that of the other.

    Returns
    -------
    DataFrame, the largest contribution first, one row per subgroup and one for rows in
    none, if any: subgroup, contribution, ci_low, ci_high, rates, composition,
    share_before, share_after (of the pair's rows). Intervals are normal ones, with the
    standard deviation of a bootstrap of the rows of both tables within groups; they
    hold at once, as those of `gap_changes`. All NaN if a group of the pair has no rows
    in a table.

    References
    ----------
    E. M. Kitagawa (1955), Components of a difference between two rates. JASA 50,
    1168-1194.
    """
    both = list(pair)
    masses = [c.mass or (c.n, c.k, np.ones(len(c.groups))) for c in (before, after)]
    cells = [(n[:, both], k[:, both]) for n, k, _ in masses]
    rates, composition = _parts(*cells[0], *cells[1])
    rng = np.random.default_rng(random_state)
    each = [np.nan_to_num(worth[both]) for *_, worth in masses]
    drawn = [
        _resampled(n * worth, k * worth, rng)
        for (n, k), worth in zip(cells, each, strict=True)
    ]
    again = np.add(*_parts(*drawn[0], *drawn[1]))
    occur = cells[0][0].sum(axis=1) + cells[1][0].sum(axis=1) > 0
    times = n_rates * max(int(occur.sum()), 1)
    tail = (1 - for_all_pairs(confidence, len(before.groups), times=times)) / 2
    half = -ndtri(tail) * again.std(axis=0, ddof=1)
    shares = [divide(n.sum(axis=1), np.full(len(n), n.sum())) for n, _ in cells]
    total = rates + composition
    table = pd.DataFrame(
        {
            "subgroup": [*before.subgroups, REST],
            "contribution": total,
            "ci_low": total - half,
            "ci_high": total + half,
            "rates": rates,
            "composition": composition,
            "share_before": shares[0],
            "share_after": shares[1],
        }
    )
    table = table.loc[occur]
    order = table["contribution"].abs().sort_values(ascending=False, kind="stable")
    sorted_by_size: pd.DataFrame = table.loc[order.index].reset_index(drop=True)
    return sorted_by_size


def _parts(n0: Float, k0: Float, n1: Float, k1: Float) -> tuple[Float, Float]:
    """Return what rates and composition contribute, over (..., subgroups, 2)."""
    size0, size1 = (n.sum(axis=-2, keepdims=True) for n in (n0, n1))
    w0, w1 = divide(n0, size0), divide(n1, size1)
    r0, r1 = divide(k0, n0), divide(k1, n1)
    r0, r1 = np.where(np.isnan(r0), r1, r0), np.where(np.isnan(r1), r0, r1)
    r0, r1 = np.nan_to_num(r0), np.nan_to_num(r1)  # no rows in either: weights 0
    level = (
        divide(k0.sum(axis=-2, keepdims=True), size0)
        + divide(k1.sum(axis=-2, keepdims=True), size1)
    ) / 2
    by_rate = (w0 + w1) / 2 * (r1 - r0)
    by_share = ((r0 + r1) / 2 - level) * (w1 - w0)
    return by_rate[..., 1] - by_rate[..., 0], by_share[..., 1] - by_share[..., 0]


def _resampled(n: Float, k: Float, rng: np.random.Generator) -> tuple[Float, Float]:
    """Draw the rows of every group again, with replacement."""
    sizes, counted = [], []
    for rows, positive in zip(n.T, k.T, strict=True):
        total = float(rows.sum())
        others = np.maximum(rows - positive, 0)  # of weights it may round below 0
        shares = np.concatenate([positive, others]) / (total or 1)
        drawn = rng.multinomial(round(total), shares, size=_DRAWS).astype(float)
        first, second = np.split(drawn, 2, axis=1)
        sizes.append(first + second)
        counted.append(first)
    return np.stack(sizes, axis=-1), np.stack(counted, axis=-1)
