"""Hold the estimates of a table against the limits of a policy."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from fairdash._wording import (
    Kpi,
    headed,
    markdown_table,
    plural,
    sentences,
)
from fairdash.analysis import Judgement, judgement_rows, surely_broken, worst
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.tables import audit, judging
from fairdash.audits.tables.judging import Judged
from fairdash.audits.tables.policy import Limit, Policy
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
_JUNIT = {
    Judgement.FAIL: "failure",
    Judgement.UNDECIDED: "error",
    Judgement.NOT_SURELY_BROKEN: "skipped",
}


@dataclass(frozen=True, eq=False)
class PolicyCheck:
    """The judgement of every limit of a policy."""

    policy: Policy
    audited: audit.TableAudit
    judged: tuple[Judged, ...]
    n_families: int = 1  # of estimates that are judged by their interval

    @cached_property
    def results(self) -> list[tuple[Limit, Judgement, list[Judged]]]:
        """Every limit with its status, the worst of its estimates."""
        results = []
        for index, limit in enumerate(self.policy.limits):
            estimates = [judged for judged in self.judged if judged.limit == index]
            status = worst(judged.status for judged in estimates)
            is_undecided = status is Judgement.UNDECIDED
            if is_undecided and self.policy.when_undecided == "fail":
                status = Judgement.FAIL
            results.append((limit, status, estimates))
        return results

    @property
    def status(self) -> Judgement:
        """The worst status of a limit."""
        return worst(status for _, status, _ in self.results)

    @property
    def exit_status(self) -> int:
        """The exit status of `fairdash check`, see `Judgement.exit_status`."""
        return self.status.exit_status

    def lines(self) -> list[str]:
        """Return each limit with its status and what decided it."""
        lines = []
        for limit, status, estimates in self.results:
            how = self.policy.judge_of(limit)
            lines.append(f"{status}: {limit.words} (judge: {how})")
            deciding = _not_passing(estimates) or estimates
            lines += [f"  {judged.words}" for judged in deciding]
        remarks = [self._alike("The table"), self.error_rate]
        return lines + [remark for remark in remarks if remark]

    @property
    def error_rate(self) -> str:
        """How often a limit that is kept is called broken; "" where none is."""
        if not any(judging.surely_fails(self.policy, part) for part in self.judged):
            return ""
        share = f"{100 * (1 - self.policy.confidence):g}%"
        correction = ""
        if self.n_families > 1:
            correction = f" (Holm over {self.n_families:,} estimates)"
        return (
            "Of tables that keep every limit, at most "
            f"{share} are said to break one by its interval{correction}."
        )

    def answer(self) -> Answer:
        """Return the check as an answer."""
        rows = pd.DataFrame([_plain(judged) for judged in self.judged])
        limits = [self.policy.limits[index] for index in rows["limit"]]
        table = rows.assign(
            limit=[limit.words for limit in limits],
            judge=[self.policy.judge_of(limit) for limit in limits],
        )
        verdict = self._verdict()
        excluded = self.audited.rows.words
        details = [self.error_rate, *self.audited.rows.remarks]
        return Answer(
            verdict=verdict,
            cards=self._cards(),
            figure=Drawing("plot_limits", self._drawn(), {"headline": verdict[:-1]}),
            table=Listing("Every limit", headed(table, reason="Why"), excluded),
            details=" ".join(text for text in details if text),
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
        limits = f"{counts[self.status]} of {plural(len(self.results), 'limit')}"
        if self.status is Judgement.FAIL:
            return f"The table breaks {limits}."
        if self.status is Judgement.UNDECIDED:
            return f"{limits} cannot be decided: too few rows."
        if self.status is Judgement.NOT_SURELY_BROKEN:
            return f"Estimates are beyond {limits}, but not surely."
        return "The table keeps every limit."

    def _cards(self) -> list[Kpi]:
        limits = Counter(status for _, status, _ in self.results)
        estimates = Counter(judged.status for judged in self.judged)
        judges = [self.policy.judge_of(limit) for limit in self.policy.limits]
        cards = []
        for status in reversed(Judgement):
            # Only this judge has the status.
            if status is Judgement.NOT_SURELY_BROKEN and "sure_break" not in judges:
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

    def failing(judged: list[Judged]) -> set[tuple[Any, ...]]:
        return {
            judging.family_of(policy, part)
            for part in judged
            if judging.surely_fails(policy, part)
        }

    audited = ask(policy.question, policy.confidence)
    judged = judging.judge_all(policy, audited.estimates())
    families = {
        judging.family_of(policy, part)
        for part in judged
        if judging.by_interval(policy, part)
    }
    suspects = failing(judged)
    # Only what a suspect limit measures is audited again with wider intervals.
    suspect_limits = sorted({limit for limit, *_ in suspects})
    measures = tuple(policy.limits[limit].measure for limit in suspect_limits)

    def broken_at(confidence: float) -> set[Hashable]:
        question = policy.question.model_copy(update={"measures": measures})
        estimates = ask(question, confidence).estimates()
        return set(failing(judging.judge_all(policy, estimates, only=suspect_limits)))

    # Holm: the error that some kept limit is called broken stays at 1 - confidence,
    # however many estimates are judged by their interval.
    broken = surely_broken(len(families), list(suspects), policy.confidence, broken_at)
    corrected = tuple(judging.unless_luck(policy, part, broken) for part in judged)
    return PolicyCheck(policy, audited, corrected, len(families))


def _not_passing(estimates: list[Judged]) -> list[Judged]:
    return [judged for judged in estimates if judged.status is not Judgement.PASS]


def _plain(judged: Judged) -> dict[str, Any]:
    return {**vars(judged), "status": judged.status.value}


def _xml(text: str) -> str:
    """Return text without the control characters that XML 1.0 forbids."""
    return "".join(c if c in "\t\n\r" or c >= " " else "?" for c in text)
