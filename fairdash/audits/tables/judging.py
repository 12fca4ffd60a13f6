"""Hold single estimates against the limits of a policy."""

import math
from collections.abc import Collection, Hashable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from fairdash._wording import interval, listing, number, plural
from fairdash.analysis import JUDGEMENTS, Judgement, LimitSide, judge
from fairdash.audits.tables.policy import EVERY, Limit, Policy
from fairdash.metrics import intervals

_LUCK = "beyond the limit, but not surely among all estimates judged"


@dataclass(frozen=True)
class Judged:
    """An estimate held against a limit.

    Attributes
    ----------
    limit : int
        Index of the limit in the policy.
    value, low, high : float
        The estimate with its interval; the size of a gap.
    reason : str
        Why it neither keeps nor breaks the limit; "" where it does.
    """

    limit: int
    feature: str
    subgroup: str | None
    group: str | None
    value: float
    low: float
    high: float
    n: int
    status: Judgement
    reason: str = ""

    @property
    def words(self) -> str:
        """Who, the value with its interval, and the rows."""
        ends = f"{number(self.value)} ({interval(self.low, self.high)})"
        why = f"; {self.reason}" if self.reason else ""
        return f"{self.who}: {ends}, {plural(self.n, 'row')}{why}"

    @property
    def who(self) -> str:
        """The column with its group, and the subgroup if it is inside one."""
        name = self.feature if self.group is None else f"{self.feature}: {self.group}"
        return name if self.subgroup is None else f"{name} in {self.subgroup}"


def judge_all(
    policy: Policy, estimates: pd.DataFrame, only: Collection[int] | None = None
) -> list[Judged]:
    """Return every estimate that a limit is about, as the limit judges it.

    Parameters
    ----------
    estimates : DataFrame
        Of `fairdash.audits.tables.audit.TableAudit.estimates`.
    only : collection of int, optional
        Indices of the limits to judge by, by default all.
    """
    judged = []
    for index, limit in enumerate(policy.limits):
        if only is not None and index not in only:
            continue
        rows = _estimates_of(limit, estimates)
        judged += [_judge(index, limit, policy, row) for row in rows.itertuples()]
        if limit.of == "value" or limit.subgroup or limit.group:
            continue
        for row in _farthest_pairs(limit, policy, rows, estimates).itertuples():
            why = f"compared with {row.reference}; one of the two has few rows"
            judged.append(replace(_judge(index, limit, policy, row), reason=why))
    return judged


def _farthest_pairs(
    limit: Limit, policy: Policy, rows: pd.DataFrame, estimates: pd.DataFrame
) -> pd.DataFrame:
    """Return the two groups farthest apart that break a limit and are not in rows.

    A group with few rows compared with each of the others is no reference, though it
    may be best off. Its pair has no interval, but a limit that it breaks is not kept.
    """
    if policy.reference is not None:
        return rows.head(0)
    fewest = limit.min_rows or policy.min_rows
    values = estimates[
        (estimates["measure"] == limit.measure)
        & estimates["feature"].isin(rows["feature"])
        & estimates["subgroup"].isna()
        & estimates["group"].notna()
        & estimates["value"].notna()
        & (estimates["n"] >= fewest)
    ]
    pairs = []
    for feature, groups in values.groupby("feature", sort=False):
        order = groups.sort_values("value", kind="stable")
        lowest = order.iloc[0]
        highest = order.iloc[-1]
        # A limit from above is broken by the larger over the smaller value.
        if limit.bound.upper:
            group = highest
            reference = lowest
        else:
            group = lowest
            reference = highest
        names = (group["group"], reference["group"])
        if names[0] == names[1] or names in _compared(limit, rows, feature):
            continue
        if limit.of == "gap":
            value = abs(group["value"] - reference["value"])
        elif reference["value"]:
            value = group["value"] / reference["value"]
        else:
            continue  # a ratio to 0 is undefined
        if math.isnan(value) or limit.bound.keeps(value):
            continue
        pairs.append(
            {
                "feature": feature,
                "subgroup": None,
                "group": names[0],
                "reference": names[1],
                "value": value,
                "low": math.nan,
                "high": math.nan,
                "n": group["n"],
                "reason": "",
            }
        )
    return pd.DataFrame(pairs, columns=list(rows))


def _compared(limit: Limit, rows: pd.DataFrame, feature: Any) -> set[tuple[Any, Any]]:
    """Return the pairs of groups that rows compare."""
    of_feature = rows[rows["feature"] == feature]
    groups = of_feature["group"]
    references = of_feature["reference"]
    pairs = set(zip(groups, references, strict=True))
    if limit.of == "gap":  # of the same size the other way round
        pairs |= set(zip(references, groups, strict=True))
    return pairs


def family_of(policy: Policy, judged: Judged) -> tuple[Any, ...]:
    """Return the key of all estimates that one interval method covers together.

    Intervals of gaps and ratios hold for all pairs of groups at once (Bonferroni), so
    these are one family. The value of each group is a family of its own.
    """
    place = (judged.limit, judged.feature, judged.subgroup)
    if policy.limits[judged.limit].of == "value":
        return (*place, judged.group)
    return place


def by_interval(policy: Policy, judged: Judged) -> bool:
    """Return whether the interval of an estimate is held against its limit."""
    how = policy.judge_of(policy.limits[judged.limit])
    return how != "estimate" and not math.isnan(judged.low)


def surely_fails(policy: Policy, judged: Judged) -> bool:
    """Return whether an estimate breaks its limit by its interval."""
    return judged.status is Judgement.FAIL and by_interval(policy, judged)


def unless_luck(policy: Policy, judged: Judged, broken: set[Hashable]) -> Judged:
    """Return an estimate that breaks a limit as not sure, unless it surely does.

    ``broken`` are the families that break their limit after the correction.
    """
    if not surely_fails(policy, judged) or family_of(policy, judged) in broken:
        return judged
    how = policy.judge_of(policy.limits[judged.limit])
    status = JUDGEMENTS[how][LimitSide.BEYOND]
    return replace(judged, status=status, reason=_LUCK)


def _estimates_of(limit: Limit, estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the estimates that a limit is about; ValueError where it has none."""
    rows = estimates[estimates["measure"] == limit.estimate]
    inside = rows["subgroup"].notna()
    rows = rows[inside if limit.subgroup else ~inside]
    for column in ("feature", "subgroup", "group"):
        wanted = getattr(limit, column)
        if wanted is None or (column == "subgroup" and wanted == EVERY):
            continue
        present = list(dict.fromkeys(rows[column].dropna()))
        if column == "group":  # the group that others are compared with has no gap
            present += list(dict.fromkeys(rows["reference"].dropna()))
        if wanted not in present:
            raise ValueError(
                f"The limit {limit.words!r} names {column} {wanted!r}, which the table "
                f"does not have; it has {listing(map(str, present[:8]))}."
            )
        rows = rows[rows[column] == wanted]
    return rows


def _judge(index: int, limit: Limit, policy: Policy, row: Any) -> Judged:
    """Hold a row of the estimates against a limit."""
    value = float(row.value)
    low = float(row.low)
    high = float(row.high)
    if limit.of == "gap":
        # A limit is about the size of a gap: its interval is folded at 0.
        value = abs(value)
        low, high = map(float, intervals.folded(low, high))
    status, reason = judge(policy.judge_of(limit), limit.bound, value, low, high)
    n = int(row.n)
    fewest = limit.min_rows or policy.min_rows
    # Whatever the interval says, an estimate of few rows decides nothing.
    if row.reason:
        status = Judgement.UNDECIDED
        reason = str(row.reason)
    elif n < fewest:
        status = Judgement.UNDECIDED
        reason = f"fewer than {plural(fewest, 'row')}"
    return Judged(
        limit=index,
        feature=str(row.feature),
        subgroup=_name(row.subgroup),
        group=_name(row.group),
        value=value,
        low=low,
        high=high,
        n=n,
        status=status,
        reason=reason,
    )


def _name(label: Any) -> str | None:
    """Return a label as text; None where it is missing."""
    return None if pd.isna(label) else str(label)


def judged_again(policy: Policy, judged: Judged) -> Judged:
    """Return a stored estimate as it is judged now.

    Earlier versions called some estimates beyond a limit "pass".
    """
    if judged.status is not Judgement.PASS:
        return judged
    limit = policy.limits[judged.limit]
    status, reason = judge(
        policy.judge_of(limit), limit.bound, judged.value, judged.low, judged.high
    )
    return replace(judged, status=status, reason=reason)
