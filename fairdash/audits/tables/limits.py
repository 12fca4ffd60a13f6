"""Does a table keep the limits of a policy? Each is judged on its interval."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal
from xml.etree import ElementTree

import pandas as pd

from fairdash._wording import Kpi, headed, interval, listing, number, plural
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables import audit
from fairdash.audits.tables.policy import EVERY, Limit, Policy
from fairdash.brought import TableModel

Status = Literal["pass", "fail", "undecided"]
EXIT_STATUS: dict[Status, int] = {"pass": 0, "fail": 1, "undecided": 2}
_DRAWN = ("value", "low", "high", "status")
_HOW = """A row is a measure of a group, or its gap or ratio to the best group. Bars
are intervals. The upright mark is the limit. A limit is kept if the whole
interval keeps it, and broken if the whole interval breaks it. In between it is
undecided, unless the policy says `must_be_sure: false`."""
_CARDS: dict[Status, str] = {"fail": "broken", "undecided": "undecided", "pass": "kept"}
_WORST: tuple[Status, ...] = tuple(_CARDS)


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
        Why it is undecided; "" where it is not.
    """

    limit: int
    feature: str
    subgroup: str | None
    group: str | None
    value: float
    low: float
    high: float
    n: int
    status: Status
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

    @cached_property
    def results(self) -> list[tuple[Limit, Status, list[Judged]]]:
        """Every limit with its status, the worst of what it was held against."""
        results = []
        for at, limit in enumerate(self.policy.limits):
            own = [judged for judged in self.judged if judged.limit == at]
            status = _worst(judged.status for judged in own)
            if status == "undecided" and self.policy.when_undecided == "fail":
                status = "fail"
            results.append((limit, status, own))
        return results

    @property
    def status(self) -> Status:
        """Fail if one limit does, else undecided if one is, else pass."""
        return _worst(status for _, status, _ in self.results)

    @property
    def exit_status(self) -> int:
        """0 where every limit passes, 1 where one fails, else 2."""
        return EXIT_STATUS[self.status]

    def lines(self) -> list[str]:
        """Return each limit with its status and what decided it."""
        lines = []
        for limit, status, own in self.results:
            lines.append(f"{status}: {limit.words}")
            shown = [judged for judged in own if judged.status != "pass"] or own
            lines += [f"  {judged.words}" for judged in shown]
        return lines

    def answer(self) -> Answer:
        """Return the check as an answer."""
        counts = Counter(status for _, status, _ in self.results)
        of = f"of {plural(len(self.results), 'limit')}"
        verdict = {
            "pass": "The table keeps every limit.",
            "fail": f"The table breaks {counts['fail']} {of}.",
            "undecided": f"{counts['undecided']} {of} cannot be decided: too few rows.",
        }[self.status]
        rows = pd.DataFrame([vars(judged) for judged in self.judged])
        n = Counter(rows["status"])  # estimates; one that fails breaks its limit
        cards = [
            Kpi(f"Limits {word}", f"{counts[key]}", f"in {plural(n[key], 'estimate')}")
            for key, word in _CARDS.items()
        ]
        names = [self.policy.limits[at].words for at in rows["limit"]]
        table, words = rows.assign(limit=names), self.audited.rows.words
        return Answer(
            verdict=verdict,
            cards=cards,
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every limit", headed(table, reason="Why"), words),
            how=_HOW,
            file="fairdash-limits.csv",
            data=table,
        )

    def _drawn(self) -> pd.DataFrame:
        rows = []
        for judged in self.judged:
            limit = self.policy.limits[judged.limit]
            bound = limit.at_least if limit.at_most is None else limit.at_most
            row = {"label": f"{limit.short}, {judged.who}", "limit": bound}
            rows.append(row | {name: getattr(judged, name) for name in _DRAWN})
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON has it."""
        limits = [
            {
                "limit": limit.words,
                "status": status,
                "judged": [audit.plain(vars(judged)) for judged in own],
            }
            for limit, status, own in self.results
        ]
        return {
            "status": self.status,
            "limits": limits,
            "rows": len(self.audited.rows.frame),
            "excluded": [part._asdict() for part in self.audited.rows.excluded],
            "source": vars(self.audited.source),
            "estimates": audit.plain_rows(self.audited.estimates()),
        }

    def to_junit(self) -> bytes:
        """Return the check as JUnit XML: a test a limit, undecided as an error."""
        counts = Counter(status for _, status, _ in self.results)
        suite = ElementTree.Element(
            "testsuite",
            name="fairdash check",
            tests=str(len(self.results)),
            failures=str(counts["fail"]),
            errors=str(counts["undecided"]),
            timestamp=self.audited.source.date.rstrip("Z"),
        )
        for limit, status, own in self.results:
            case = ElementTree.SubElement(
                suite, "testcase", classname="fairdash", name=_xml(limit.words)
            )
            if status != "pass":
                kind = "failure" if status == "fail" else "error"
                words = [judged.words for judged in own if judged.status != "pass"]
                outcome = ElementTree.SubElement(case, kind, message=_xml(words[0]))
                outcome.text = _xml("\n".join(words))
        return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)


def check_policy(
    frame: pd.DataFrame,
    policy: Policy,
    source: audit.Source,
    *,
    model: TableModel | None = None,
) -> PolicyCheck:
    """Hold the numbers of a table against the limits of a policy.

    A limit that must be sure passes if the whole interval keeps it, fails if the whole
    interval breaks it, and is undecided in between. One that need not be sure fails if
    the whole interval breaks it, and passes otherwise. With fewer rows than asked, or
    without an interval, a limit is undecided.

    Raises
    ------
    ValueError
        As `fairdash.audits.tables.audit_table`; when a limit names a group, a feature
        or a subgroup that is not there.
    """
    audited = audit.audit_table(
        frame, policy.question, source, model=model, confidence=policy.confidence
    )
    estimates = audited.estimates()
    judged = []
    for at, limit in enumerate(policy.limits):
        rows = _rows_of(limit, estimates)
        judged += [_judge(at, limit, policy, row) for row in rows.itertuples()]
    return PolicyCheck(policy, audited, tuple(judged))


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
    sure = policy.must_be_sure if limit.must_be_sure is None else limit.must_be_sure
    status, reason = _status(limit, sure, low, high)
    if row.reason:
        status, reason = "undecided", str(row.reason)
    elif n < fewest:
        status, reason = "undecided", f"fewer than {plural(fewest, 'row')}"
    subgroup, group = (
        None if pd.isna(name) else str(name) for name in (row.subgroup, row.group)
    )
    return Judged(
        at, str(row.feature), subgroup, group, value, low, high, n, status, reason
    )


def _status(limit: Limit, sure: bool, low: float, high: float) -> tuple[Status, str]:
    if math.isnan(low) or math.isnan(high):
        return "undecided", "no interval"
    if limit.at_most is not None:
        keeps, breaks = high <= limit.at_most, low > limit.at_most
    else:
        assert limit.at_least is not None, "a limit has one end"
        keeps, breaks = low >= limit.at_least, high < limit.at_least
    if breaks:
        return "fail", ""
    if keeps or not sure:
        return "pass", ""
    return "undecided", "the interval reaches the limit"


def _worst(statuses: Iterable[Status]) -> Status:
    return min(statuses, key=_WORST.index)


def _xml(text: str) -> str:
    return "".join(c if c in "\t\n\r" or c >= " " else "?" for c in text)
