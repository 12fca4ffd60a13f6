"""Hold the estimates of a table against the limits of a policy."""

import math
from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from fairdash._wording import (
    Kpi,
    headed,
    interval,
    listing,
    markdown_table,
    number,
    plural,
    sentences,
)
from fairdash.analysis import (
    JUDGEMENTS,
    Judgement,
    LimitSide,
    judge,
    judgement_rows,
    surely_broken,
    worst,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables import audit
from fairdash.audits.tables.policy import EVERY, Limit, Policy
from fairdash.audits.tables.question import TableQuestion
from fairdash.audits.tables.reading import Source
from fairdash.brought import TableModel

_DRAWN = ("value", "low", "high")
_HOW = f"""A row is a measure of a group, or its gap or ratio to the best group. Bars
are intervals. The upright mark is the limit. The policy's `judge` says what follows:

{markdown_table(judgement_rows())}

Of many estimates some are beyond their limit by luck. Of intervals, a limit is called
broken only if the interval that is corrected for all of them (Holm) is beyond it.
With fewer rows than `min_rows` a limit is undecided."""
_LUCK = "beyond the limit, but not surely among all estimates judged"
_JUNIT = {
    Judgement.FAIL: "failure",
    Judgement.UNDECIDED: "error",
    Judgement.NOT_SURELY_BROKEN: "skipped",
}


@dataclass(frozen=True)
class Judged:
    """An estimate held against a limit.

    Attributes
    ----------
    limit : int
        Which one of the policy, from 0.
    value, low, high : float
        Of a gap, its size.
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


@dataclass(frozen=True, eq=False)
class PolicyCheck:
    """What became of every limit of a policy."""

    policy: Policy
    audited: audit.TableAudit
    judged: tuple[Judged, ...]
    n_families: int = 1  # of estimates that are judged by their interval

    @cached_property
    def results(self) -> list[tuple[Limit, Judgement, list[Judged]]]:
        """Every limit with its status, the worst of its estimates."""
        results = []
        for at, limit in enumerate(self.policy.limits):
            estimates = [judged for judged in self.judged if judged.limit == at]
            status = worst(judged.status for judged in estimates)
            undecided = status is Judgement.UNDECIDED
            if undecided and self.policy.when_undecided == "fail":
                status = Judgement.FAIL
            results.append((limit, status, estimates))
        return results

    @property
    def status(self) -> Judgement:
        """The worst status of a limit."""
        return worst(status for _, status, _ in self.results)

    @property
    def exit_status(self) -> int:
        """With what `fairdash check` ends, see `Judgement.exit_status`."""
        return self.status.exit_status

    def lines(self) -> list[str]:
        """Return each limit with its status and what decided it."""
        lines = []
        for limit, status, estimates in self.results:
            how = self.policy.judge_of(limit)
            lines.append(f"{status}: {limit.words} (judge: {how})")
            shown = _not_passing(estimates) or estimates
            lines += [f"  {judged.words}" for judged in shown]
        return [*lines, *filter(None, (self._alike("The table"), self.error_rate))]

    @property
    def error_rate(self) -> str:
        """How often a limit that is kept is called broken; "" where none is."""
        if not any(_surely_fails(self.policy, judged) for judged in self.judged):
            return ""
        share = f"{100 * (1 - self.policy.confidence):g}%"
        several = self.n_families > 1
        among = f" (Holm over {self.n_families:,} estimates)" if several else ""
        return (
            "Of tables that keep every limit, at most "
            f"{share} are said to break one by its interval{among}."
        )

    def answer(self) -> Answer:
        """Return the check as an answer."""
        rows = pd.DataFrame([_plain(judged) for judged in self.judged])
        names = [self.policy.limits[at].words for at in rows["limit"]]
        how = [self.policy.judge_of(self.policy.limits[at]) for at in rows["limit"]]
        table = rows.assign(limit=names, judge=how)
        verdict, excluded = self._verdict(), self.audited.rows.words
        return Answer(
            verdict=verdict,
            cards=self._cards(),
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every limit", headed(table, reason="Why"), excluded),
            details=" ".join(
                filter(None, [self.error_rate, *self.audited.rows.remarks])
            ),
            how=_HOW,
            file="fairdash-limits.csv",
            data=table,
        )

    def _verdict(self) -> str:
        return sentences(self._status_words(), self._alike("It"))

    def _alike(self, label: str) -> str:
        """Say that nearly all or none are accepted; "" where decisions differ."""
        deciding = self.audited.deciding
        return deciding.brief(label) if deciding.alike else ""

    def _status_words(self) -> str:
        counts = Counter(status for _, status, _ in self.results)
        some = f"{counts[self.status]} of {plural(len(self.results), 'limit')}"
        if self.status is Judgement.FAIL:
            return f"The table breaks {some}."
        if self.status is Judgement.UNDECIDED:
            return f"{some} cannot be decided: too few rows."
        if self.status is Judgement.NOT_SURELY_BROKEN:
            return f"Estimates are beyond {some}, but not surely."
        return "The table keeps every limit."

    def _cards(self) -> list[Kpi]:
        limits = Counter(status for _, status, _ in self.results)
        estimates = Counter(judged.status for judged in self.judged)
        ways = [self.policy.judge_of(limit) for limit in self.policy.limits]
        cards = []
        for status in reversed(Judgement):
            if status is Judgement.NOT_SURELY_BROKEN and "sure_break" not in ways:
                continue
            note = f"in {plural(estimates[status], 'estimate')}"
            if status is Judgement.PASS and limits[status]:
                mark = self.audited.deciding.mark()
                note = f"{note}; {mark}" if mark else note
            cards.append(Kpi(f"Limits {status.of_limit}", str(limits[status]), note))
        return cards

    def _drawn(self) -> pd.DataFrame:
        rows = []
        for judged in self.judged:
            limit = self.policy.limits[judged.limit]
            row = {
                "label": f"{limit.short}, {judged.who}",
                "limit": limit.bound.value,
                "axis": limit.of,
                "status": judged.status.value,
            }
            rows.append(row | {name: getattr(judged, name) for name in _DRAWN})
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON has it."""
        limits = [
            {
                "limit": limit.words,
                "judge": self.policy.judge_of(limit),
                "status": status.value,
                "judged": [audit.plain(_plain(judged)) for judged in estimates],
            }
            for limit, status, estimates in self.results
        ]
        return {
            "status": self.status.value,
            "limits": limits,
            "rows": self.audited.rows.n,
            "excluded": [part._asdict() for part in self.audited.rows.excluded],
            "remarks": list(self.audited.rows.remarks),
            "source": asdict(self.audited.source),
            "facts": self.audited.record,
            "estimates": audit.plain_rows(self.audited.estimates()),
        }

    def to_junit(self) -> bytes:
        """Return the check as JUnit XML: a test a limit.

        One that is undecided is an error, one not surely broken is skipped.
        """
        counts = Counter(status for _, status, _ in self.results)
        suite = ElementTree.Element(
            "testsuite",
            name="fairdash check",
            tests=str(len(self.results)),
            failures=str(counts[Judgement.FAIL]),
            errors=str(counts[Judgement.UNDECIDED]),
            skipped=str(counts[Judgement.NOT_SURELY_BROKEN]),
            timestamp=self.audited.source.date.rstrip("Z"),
        )
        for limit, status, estimates in self.results:
            case = ElementTree.SubElement(
                suite, "testcase", classname="fairdash", name=_xml(limit.words)
            )
            if status is not Judgement.PASS:
                words = [judged.words for judged in _not_passing(estimates)]
                outcome = ElementTree.SubElement(
                    case, _JUNIT[status], message=_xml(words[0])
                )
                outcome.text = _xml("\n".join(words))
        return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)


def check_policy(
    frame: pd.DataFrame,
    policy: Policy,
    source: Source,
    *,
    model: TableModel | None = None,
    may_be_absent: bool = False,
) -> PolicyCheck:
    """Hold the numbers of a table against the limits of a policy.

    What an estimate and its interval say of a limit is the policy's ``judge``, see
    `fairdash.analysis.judgement`. Breaks are corrected for all estimates judged by
    their interval, see `fairdash.analysis.breaks`. With fewer rows than asked a
    limit is undecided.

    Raises
    ------
    ValueError
        As `fairdash.audits.tables.audit_table`; when a limit names a group, a feature
        or a subgroup that is not there.
    """

    def ask(question: TableQuestion, confidence: float) -> audit.TableAudit:
        return audit.audit_table(
            frame,
            question,
            source,
            model=model,
            confidence=confidence,
            may_be_absent=may_be_absent,
        )

    audited = ask(policy.question, policy.confidence)
    judged = _judge_all(policy, audited.estimates())
    families = {_family(policy, part) for part in judged if _by_interval(policy, part)}
    suspects = {_family(policy, part) for part in judged if _surely_fails(policy, part)}
    measures = [policy.limits[at].measure for at in sorted({at for at, *_ in suspects})]

    def broken_at(confidence: float) -> set[Hashable]:
        asked = policy.question.model_copy(update={"measures": tuple(measures)})
        estimates = ask(asked, confidence).estimates()
        some = {at for at, *_ in suspects}
        again = _judge_all(policy, estimates, only=some)
        return {_family(policy, part) for part in again if _surely_fails(policy, part)}

    broken = surely_broken(len(families), list(suspects), policy.confidence, broken_at)
    corrected = tuple(_unless_luck(policy, part, broken) for part in judged)
    return PolicyCheck(policy, audited, corrected, len(families))


def _judge_all(
    policy: Policy, estimates: pd.DataFrame, only: Collection[int] | None = None
) -> list[Judged]:
    judged = []
    for at, limit in enumerate(policy.limits):
        if only is None or at in only:
            rows = _rows_of(limit, estimates)
            judged += [_judge(at, limit, policy, row) for row in rows.itertuples()]
            if limit.of == "value" or limit.subgroup or limit.group:
                continue
            for row in _farthest(limit, policy, rows, estimates).itertuples():
                why = f"compared with {row.reference}; one of the two has few rows"
                judged.append(replace(_judge(at, limit, policy, row), reason=why))
    return judged


def _farthest(
    limit: Limit, policy: Policy, rows: pd.DataFrame, estimates: pd.DataFrame
) -> pd.DataFrame:
    """Return the two groups farthest apart if these break a limit and are not there.

    A group with few rows beside each other one is no reference, though it may be best
    off. Its pair has no interval, but a limit that it breaks is not kept.
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
    added = []
    for feature, groups in values.groupby("feature", sort=False):
        order = groups.sort_values("value", kind="stable")
        low, high = order.iloc[0], order.iloc[-1]
        first, than = (high, low) if limit.bound.upper else (low, high)
        pairs = rows.loc[rows["feature"] == feature, ["group", "reference"]].to_numpy()
        pair = first["group"], than["group"]
        known = [(one, other) for one, other in pairs]
        if limit.of == "gap":  # of the same size the other way round
            known += [(other, one) for one, other in pairs]
        if pair[0] == pair[1] or pair in known:
            continue
        if limit.of == "gap":
            value = abs(first["value"] - than["value"])
        else:
            value = first["value"] / than["value"] if than["value"] else math.nan
        if math.isnan(value) or limit.bound.keeps(value):
            continue
        ends = {"value": value, "low": math.nan, "high": math.nan, "reason": ""}
        who = {"feature": feature, "group": pair[0], "reference": pair[1]}
        added.append({**who, **ends, "subgroup": None, "n": first["n"]})
    return pd.DataFrame(added, columns=list(rows))


def _family(policy: Policy, judged: Judged) -> tuple[Any, ...]:
    """Return what an estimate is judged with: intervals of gaps hold for all pairs."""
    place = judged.limit, judged.feature, judged.subgroup
    alone = policy.limits[judged.limit].of == "value"
    return (*place, judged.group) if alone else place


def _by_interval(policy: Policy, judged: Judged) -> bool:
    how = policy.judge_of(policy.limits[judged.limit])
    return how != "estimate" and not math.isnan(judged.low)


def _surely_fails(policy: Policy, judged: Judged) -> bool:
    return judged.status is Judgement.FAIL and _by_interval(policy, judged)


def _unless_luck(policy: Policy, judged: Judged, broken: set[Hashable]) -> Judged:
    """Return an estimate that breaks a limit as not sure, unless it surely does."""
    if not _surely_fails(policy, judged) or _family(policy, judged) in broken:
        return judged
    how = policy.judge_of(policy.limits[judged.limit])
    status = JUDGEMENTS[how][LimitSide.BEYOND]
    return replace(judged, status=status, reason=_LUCK)


def _rows_of(limit: Limit, estimates: pd.DataFrame) -> pd.DataFrame:
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


def _judge(at: int, limit: Limit, policy: Policy, row: Any) -> Judged:
    value, low, high = float(row.value), float(row.low), float(row.high)
    if limit.of == "gap":
        value, low, high = abs(value), max(low, -high, 0.0), max(-low, high)
    n = int(row.n)
    fewest = limit.min_rows or policy.min_rows
    status, reason = judge(policy.judge_of(limit), limit.bound, value, low, high)
    if row.reason:
        status, reason = Judgement.UNDECIDED, str(row.reason)
    elif n < fewest:
        status, reason = Judgement.UNDECIDED, f"fewer than {plural(fewest, 'row')}"
    subgroup, group = (
        None if pd.isna(name) else str(name) for name in (row.subgroup, row.group)
    )
    return Judged(
        at, str(row.feature), subgroup, group, value, low, high, n, status, reason
    )


def judged_again(policy: Policy, judged: Judged) -> Judged:
    """Return a stored estimate as it is judged now.

    Earlier versions called some estimates beyond a limit "pass".
    """
    if judged.status is not Judgement.PASS:
        return judged
    limit = policy.limits[judged.limit]
    ends = (judged.value, judged.low, judged.high)
    status, reason = judge(policy.judge_of(limit), limit.bound, *ends)
    return replace(judged, status=status, reason=reason)


def _not_passing(estimates: list[Judged]) -> list[Judged]:
    return [judged for judged in estimates if judged.status is not Judgement.PASS]


def _plain(judged: Judged) -> dict[str, Any]:
    return {**vars(judged), "status": judged.status.value}


def _xml(text: str) -> str:
    return "".join(c if c in "\t\n\r" or c >= " " else "?" for c in text)
