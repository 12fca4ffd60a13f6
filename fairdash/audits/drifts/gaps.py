"""How the gaps of a model change between two tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import NO_SUBGROUPS
from fairdash.audits.drifts.tables import DriftTable
from fairdash.metrics import Interval, LocalMeasure, difference_of, for_all_pairs

_ONE_GROUP = "{} has rows of one group only, so there is no gap on it."
_NONE = Interval(*np.full(3, np.nan))


def measured_on(
    table: DriftTable, predicted: NDArray[Any], measure: str, min_size: int = 50
) -> LocalMeasure:
    """Return a measure of one model on a table, by group and subgroup.

    Raises ValueError when the table has rows of one group only.
    """
    if len(np.unique(table.groups.codes)) < 2:
        raise ValueError(_ONE_GROUP.format(table.name))
    return LocalMeasure.of(
        measure,
        table.y,
        predicted,
        sensitive_features=table.groups,
        subgroups=table.subgroups,
        min_size=min_size,
        sample_weight=table.weight,
        cluster=table.unit,
    )


def farthest_groups(name: str, by_group: pd.DataFrame) -> tuple[str, str]:
    """Return the groups with the lowest and the highest value of a measure.

    ``by_group`` is of `fairdash.metrics.measure_by_group`. Raises ValueError when fewer
    than two groups have rows that the measure is about; ``name`` is of the table.
    """
    values = by_group.set_index("group")["value"].dropna()
    if len(values) < 2:
        raise ValueError(_ONE_GROUP.format(name))
    return str(values.idxmin()), str(values.idxmax())


def gap_changes(
    tables: Sequence[DriftTable],
    measured: Sequence[LocalMeasure],
    pair: tuple[str, str],
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Change of the gap between two groups, over all rows and in every subgroup.

    The gap is signed, :math:`d = \hat m_{high} - \hat m_{low}`. The two tables are
    independent samples, so that with the intervals :math:`(l_i, u_i)` of the gaps the
    change has the interval

    .. math::

        d_1 - d_0 - \sqrt{(d_1 - l_1)^2 + (u_0 - d_0)^2}
        \quad\text{to}\quad
        d_1 - d_0 + \sqrt{(u_1 - d_1)^2 + (d_0 - l_0)^2}

    Over the m estimable subgroups all are at ``1 - (1 - confidence) / m`` (Bonferroni):
    they hold at once, so whichever change looks largest may be named. The pair was
    chosen by its gap on the first table; of more than two groups m counts all pairs.

    Parameters
    ----------
    tables, measured : sequence of two
        The reference and the other table, and `measured_on` each.
    pair : (str, str)
        The groups ``low`` and ``high``.

    Returns
    -------
    DataFrame, a row for all rows, "All rows", and one per subgroup: subgroup, n_before,
    n_after, gap_before, before_low, before_high, gap_after, after_low, after_high (each
    at ``confidence``), change, ci_low, ci_high, estimable, reason.

    References
    ----------
    R. G. Newcombe (1998), Stat. Med. 17, 873-890, method 10. G. Y. Zou and A. Donner
    (2008), Construction of confidence limits about effect measures: a general
    approach. Stat. Med. 27, 1693-1702.
    """
    subgroups = [*map(str, tables[0].subgroups.categories)]
    both = [*zip(tables, measured, strict=True)]
    reasons = {
        place: next(filter(None, (_reason(*one, place) for one in both)), "")
        for place in subgroups
    }
    several = len(measured[0].cells.groups)
    m = max(sum(not reason for reason in reasons.values()), 1)
    rows = []
    for place in (None, *subgroups):
        times = 1 if place is None else m
        level = for_all_pairs(confidence, several, times=times)
        reason = "" if place is None else reasons[place]
        old, new = (_gap(one, pair, place, confidence) for one in measured)
        one, other = (_gap(one, pair, place, level) for one in measured[::-1])
        if not reason and np.isnan(new.value - old.value):
            reason = "a group has no rows"
        change = new.value - old.value, *difference_of(one, other)
        n = [_rows(one, place) for one in measured]
        row = {"subgroup": place or NO_SUBGROUPS, "n_before": n[0], "n_after": n[1]}
        numbers = dict(zip(_NUMBERS, map(float, (*old, *new, *change)), strict=True))
        if reason:
            numbers = dict.fromkeys(numbers, np.nan)
        rows.append(row | numbers | {"estimable": not reason, "reason": reason})
    return pd.DataFrame(rows)


_NUMBERS = (
    "gap_before", "before_low", "before_high", "gap_after", "after_low", "after_high",
    "change", "ci_low", "ci_high",
)  # fmt: skip


def _gap(
    measured: LocalMeasure, pair: tuple[str, str], place: str | None, level: float
) -> Interval:
    low, high = pair
    if not {low, high} <= set(measured.cells.groups):
        return _NONE
    return measured.between(high, low, subgroup=place, confidence=level)


def _reason(table: DriftTable, measured: LocalMeasure, place: str) -> str:
    if place not in measured.cells.subgroups:
        return f"0 rows in {table.name}"
    reason = measured.reasons[measured.cells.subgroups.index(place)]
    return f"{reason} in {table.name}" if reason else ""


def _rows(measured: LocalMeasure, place: str | None) -> int:
    if place is None:
        return len(measured.cells.group)
    if place not in measured.cells.subgroups:
        return 0
    return int(measured.reported().n[measured.cells.subgroups.index(place)].sum())
