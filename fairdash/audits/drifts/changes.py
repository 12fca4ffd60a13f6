"""How the gaps of a model change between two tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import NO_SUBGROUPS
from fairdash.audits.drifts.tables import DriftTable
from fairdash.metrics import Interval, LocalMeasure, difference_of, for_all_pairs

_CONFIDENCE = 0.95
_ONE_GROUP = "{} has rows of one group only, so there is no gap on it."
_NUMBERS = (
    "gap_before", "before_low", "before_high", "gap_after", "after_low", "after_high",
    "change", "ci_low", "ci_high",
)  # fmt: skip


def measured_on(
    table: DriftTable, predicted: NDArray[Any], measure: str, min_size: int
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


def farthest_groups(name: str, measured: LocalMeasure) -> tuple[str, str]:
    """Return the groups with the lowest and the highest value over all rows.

    Raises ValueError when fewer than two groups have rows that the measure is about;
    ``name`` is of the table.
    """
    values = measured.whole.value
    if np.isfinite(values).sum() < 2:
        raise ValueError(_ONE_GROUP.format(name))
    groups = measured.cells.groups
    return groups[int(np.nanargmin(values))], groups[int(np.nanargmax(values))]


def gap_changes(
    tables: Sequence[DriftTable],
    measured: Sequence[LocalMeasure],
    pair: tuple[str, str],
) -> pd.DataFrame:
    r"""Change of the gap between two groups, over all rows and in every subgroup.

    The gap is signed, :math:`d = \hat m_{high} - \hat m_{low}`. The two tables are
    independent samples, so that with the intervals :math:`(l_i, u_i)` of the gaps the
    change has the interval

    .. math::

        d_1 - d_0 - \sqrt{(d_1 - l_1)^2 + (u_0 - d_0)^2}
        \quad\text{to}\quad
        d_1 - d_0 + \sqrt{(u_1 - d_1)^2 + (d_0 - l_0)^2}

    Over the m estimable subgroups all are at 1 - .05 / m (Bonferroni): they hold at
    once, so whichever change looks largest may be named. The pair was chosen by its gap
    on the first table; of more than two groups m counts all pairs.

    Returns a row for all rows, "All rows", and one per subgroup: subgroup, n_before,
    n_after, gap_before, before_low, before_high, gap_after, after_low, after_high (each
    at 95 %), change, ci_low, ci_high, estimable, reason.

    References
    ----------
    R. G. Newcombe (1998), Stat. Med. 17, 873-890, method 10. G. Y. Zou and A. Donner
    (2008), Construction of confidence limits about effect measures: a general
    approach. Stat. Med. 27, 1693-1702.
    """
    subgroups = [*map(str, tables[0].subgroups.categories)]
    both = [*zip(tables, measured, strict=True)]
    reasons = {
        subgroup: next(filter(None, (_reason(*side, subgroup) for side in both)), "")
        for subgroup in subgroups
    }
    n_groups = len(measured[0].cells.groups)
    m = max(sum(not reason for reason in reasons.values()), 1)
    rows = []
    for subgroup in (None, *subgroups):
        times = 1 if subgroup is None else m
        level = for_all_pairs(_CONFIDENCE, n_groups, times=times)
        before, after = (_gap(side, pair, subgroup, _CONFIDENCE) for side in measured)
        old, new = (_gap(side, pair, subgroup, level) for side in measured)
        change = (new.value - old.value, *difference_of(new, old))
        reason = "" if subgroup is None else reasons[subgroup]
        if not reason and np.isnan(change[0]):
            reason = "a group has no rows"
        numbers = [float(x) for x in (*before, *after, *change)]
        if reason:
            numbers = [np.nan] * len(_NUMBERS)
        rows.append(
            {
                "subgroup": subgroup or NO_SUBGROUPS,
                "n_before": _rows(measured[0], subgroup),
                "n_after": _rows(measured[1], subgroup),
                **dict(zip(_NUMBERS, numbers, strict=True)),
                "estimable": not reason,
                "reason": reason,
            }
        )
    return pd.DataFrame(rows)


def _gap(
    measured: LocalMeasure, pair: tuple[str, str], subgroup: str | None, level: float
) -> Interval:
    low, high = pair
    if not {low, high} <= set(measured.cells.groups):
        return Interval(*np.full(3, np.nan))
    return measured.between(high, low, subgroup=subgroup, confidence=level)


def _reason(table: DriftTable, measured: LocalMeasure, subgroup: str) -> str:
    if subgroup not in measured.cells.subgroups:
        return f"0 rows in {table.name}"
    reason = measured.reasons[measured.cells.subgroups.index(subgroup)]
    return f"{reason} in {table.name}" if reason else ""


def _rows(measured: LocalMeasure, subgroup: str | None) -> int:
    if subgroup is None:
        return len(measured.cells.group)
    if subgroup not in measured.cells.subgroups:
        return 0
    return int(measured.reported().n[measured.cells.subgroups.index(subgroup)].sum())
