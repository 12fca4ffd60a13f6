"""Audit a table by each column of groups and by all of them crossed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairdash._deciding import Deciding
from fairdash._escaping import as_printed, visible_table
from fairdash._validation import CROSS, check_one_of
from fairdash._wording import UNDEFINED, number
from fairdash.analysis import cells_of
from fairdash.audits.decisions import Audit, audit
from fairdash.audits.tables.counting import CountedRows, count_rows
from fairdash.audits.tables.facts import TableFacts
from fairdash.audits.tables.question import TableQuestion
from fairdash.audits.tables.reading import Source
from fairdash.brought import TableModel, positive_scores
from fairdash.datasets import guessing
from fairdash.metrics import Finding, catalog, views

VERSION = 1  # of the form of `TableAudit.to_dict`


@dataclass(frozen=True, eq=False)
class TableAudit:
    """The audit of a table by each column of groups, then by all of them crossed.

    Attributes
    ----------
    audits : mapping of str to Audit
        By column; several that are crossed are joined by " × ".
    facts : TableFacts
        Counts, rates and comparisons of groups, which packs and reports read, too.
    deciding : Deciding
        Whether nearly all or none are accepted: then gaps in decisions are small.
    """

    question: TableQuestion
    rows: CountedRows
    source: Source
    audits: Mapping[str, Audit]
    facts: TableFacts
    deciding: Deciding

    @property
    def positive(self) -> pd.DataFrame:
        """feature, group, n and positive: rows and positive decisions."""
        return self.facts.positive

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """Every finding with the column of its groups."""
        return [(name, f) for name, part in self.audits.items() for f in part.findings]

    @property
    def confidence(self) -> float:
        """Confidence of all intervals."""
        return next(iter(self.audits.values())).confidence

    @property
    def verdict(self) -> str:
        """The verdict of each column of groups, sure for all of them at once (Holm)."""
        return " ".join(part.verdict for part in self.audits.values())

    def __str__(self) -> str:
        """Return every verdict, gap and table as text."""
        lines = []
        for name, part in self.audits.items():
            if len(self.audits) > 1:
                lines.append(as_printed(name))
            lines.append(f"{part}\n")
            lines += [as_printed(sentence) for sentence in part.gaps["sentence"]]
            lines.append(as_printed(self._intervals_in_words(name)))
            if part.local is not None:
                columns = ["measure", "subgroup", "n", "gap", "ci_low", "ci_high"]
                local = part.local[[*columns, "chance", "reason"]]
                table = visible_table(local).to_string(
                    index=False, float_format=number, na_rep=UNDEFINED
                )
                lines.append(f"\n{table}")
        return "\n".join(lines)

    def _intervals_in_words(self, name: str) -> str:
        """Say for how many pairs the intervals of gaps hold, and with whom they are."""
        facts = self.facts.parts[name]
        pairs = "the one pair"
        if facts.pairs != 1:
            pairs = f"all {facts.pairs} pairs at once"
        kind = f"{100 * self.confidence:g} %, two-sided, for {pairs}"
        return f"Intervals of gaps: {kind}. Selection rates: {facts.reference.words()}"

    @property
    def record(self) -> dict[str, Any]:
        """The facts that every document about these rows has, as JSON has them."""
        return record_of(self.facts, self.source)

    def estimates(self) -> pd.DataFrame:
        """Return everything measured as one long table.

        Columns: feature (columns of the groups), measure, subgroup (None: all rows),
        group, reference (of a gap or a ratio; else None), value, low, high, n, pairs,
        reason ("" where it is estimable). Gaps are "gap in" a measure, the value of the
        group minus that of the reference, and ratios "ratio of" one; inside a subgroup
        the gap is the largest of two groups, without names. An interval holds for so
        many ``pairs`` of groups at once (Bonferroni): 1 is that of the number alone.
        """
        blocks = []
        for name, part in self.audits.items():
            pairs = self.facts.parts[name].pairs
            blocks += [b.assign(feature=name) for b in _blocks(part, pairs)]
        columns = ["feature", "measure", "subgroup", "group", "reference"]
        columns += ["value", "low", "high", "n", "pairs", "reason"]
        table = pd.concat(blocks, ignore_index=True)[columns]
        undefined = table["value"].isna() & (table["reason"] == "")
        return table.assign(reason=table["reason"].mask(undefined, "undefined"))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it, NaN and infinity as None.

        Its form is `docs/deploy/schemas/audit.json`.
        """
        return {
            "version": VERSION,
            "verdict": self.verdict,
            "rows": self.rows.n,
            "confidence": self.confidence,
            "source": asdict(self.source),
            "question": self.question.model_dump(mode="json"),
            "excluded": [part._asdict() for part in self.rows.excluded],
            "remarks": list(self.rows.remarks),
            "counts": plain_rows(self.positive),
            "facts": self.record,
            "estimates": plain_rows(self.estimates()),
            "findings": [
                {"feature": name, **plain(asdict(f))} for name, f in self.findings
            ],
        }


def audit_table(
    frame: pd.DataFrame,
    question: TableQuestion,
    source: Source,
    *,
    model: TableModel | None = None,
    confidence: float = 0.95,
    may_be_absent: bool = False,
) -> TableAudit:
    """Audit the decisions or scores of a table.

    Parameters
    ----------
    frame : DataFrame
    question : TableQuestion
        With a decision or a score, unless a ``model`` scores the rows.
    source : Source
        Of the table, for whoever repeats it.
    may_be_absent : bool, default=False
        As of `count_rows`.

    Raises
    ------
    ValueError
        As `count_rows` and `fairdash.audit`; when nothing or more than one thing says
        who is decided positive; or when scores need a threshold.
    """
    rows = count_rows(frame, question, may_be_absent=may_be_absent)
    decided, scores = decisions_of(rows, question, model)
    counted = rows
    counted_decisions = decided
    options: dict[str, Any] = {"counts": question.count}
    if question.unit is not None:
        options["cluster"] = question.unit
    rows_differ = question.unit or question.weight or question.count
    if scores is None and not rows_differ:
        # Equal rows are counted once for all audits below: they are of the same cells.
        names = [*rows.features, *question.subgroups]
        columns = [rows.frame[name] for name in names]
        cells = cells_of(rows.actual, decided, *columns)
        if cells is not None:
            counted_decisions = cells.of(decided)
            counted = replace(
                rows,
                frame=cells.of(rows.frame),
                number=cells.of(rows.number),
                decided=cells.of(rows.decided),
                actual=cells.of(rows.actual),
                people=cells.counts,
            )
            options["counts"] = cells.counts

    def audit_by(columns: Sequence[str], measures: Sequence[str], times: int) -> Audit:
        return audit(
            None if counted.actual is None else counted.actual.astype(int),
            counted_decisions.astype(int),
            scores=scores,
            sensitive_features=list(columns),
            frame=counted.frame,
            subgroups=question.inside,
            measures=list(measures) or None,
            sample_weight=question.weight,
            reference=question.reference,
            favourable=question.favourable,
            decided=question.decided,
            outcome=question.outcome or "outcome 1",
            confidence=confidence,
            checks=False,  # rows.remarks hold them once
            times=times,
            **options,
        )

    crossed = {CROSS.join(columns): columns for columns in rows.crossed}
    audits = {
        name: audit_by(columns, question.measures, 1)
        for name, columns in crossed.items()
    }
    first_audit = next(iter(audits.values()))
    first_measure = first_audit.by_group["measure"].iloc[:1].tolist()
    audits = _corrected(
        audits, lambda name, times: audit_by(crossed[name], first_measure, times)
    )
    facts = TableFacts.of_audits(counted, audits, question)
    deciding = _deciding(rows, decided, question)
    return TableAudit(question, rows, source, audits, facts, deciding)


def _deciding(rows: CountedRows, decided: Any, question: TableQuestion) -> Deciding:
    """Return whether nearly all or none of the rows are accepted."""
    weight = rows.weights(question)
    accepted = float(np.average(decided, weights=weight))
    if rows.actual is None:
        return Deciding.of_share(accepted)
    return Deciding.of_share(accepted, float(np.average(rows.actual, weights=weight)))


def _corrected(
    audits: Mapping[str, Audit], again: Callable[[str, int], Audit]
) -> dict[str, Audit]:
    """Return audits whose verdicts hold for all columns of groups at once (Holm).

    ``again`` repeats the first measure of one so that it holds for so many at once.
    """
    suspects = {name for name, part in audits.items() if _has_finding(part)}
    # Holm's step-down: those that stand a correction for all that are not confirmed yet
    # are confirmed, and the rest is corrected for fewer.
    confirmed: set[str] = set()
    while confirmed < suspects:
        n_open = len(audits) - len(confirmed)
        candidates = suspects - confirmed
        if n_open > 1:
            candidates = {
                name for name in candidates if _has_finding(again(name, n_open))
            }
        if not candidates:
            break
        confirmed |= candidates
    unsure = suspects - confirmed
    return {
        name: _unsure(part, len(audits)) if name in unsure else part
        for name, part in audits.items()
    }


def _has_finding(part: Audit) -> bool:
    """Return whether a verdict has a finding: it is about the first measure."""
    measure = part.findings[0].measure
    return any(f.sure for f in part.findings if f.measure == measure)


def _unsure(part: Audit, n_columns: int) -> Audit:
    """Return an audit whose gaps are no larger than chance among several columns."""
    why = f"within chance among {n_columns} columns of groups"
    measure = part.findings[0].measure
    findings = []
    for finding in part.findings:
        if finding.sure and finding.measure == measure:
            finding = replace(finding, sure=False, reason=why)
        findings.append(finding)
    name = catalog.measure_in_text(measure)
    verdict = (
        f"No gap between groups is clear by {name}, as {n_columns} columns of groups "
        f"are asked at once. By itself: {part.verdict}"
    )
    return replace(part, verdict=verdict, findings=findings)


def record_of(facts: TableFacts, source: Source) -> dict[str, Any]:
    """Return facts with where their rows come from, as JSON has them."""
    record: dict[str, Any] = _plain({"source": asdict(source), **facts.to_dict()})
    return record


def decisions_of(
    rows: CountedRows, question: TableQuestion, model: TableModel | None
) -> tuple[Any, Any]:
    """Return the decisions of rows, and their scores where there are any."""
    ways = [question.decision, question.score, model]
    if sum(way is not None for way in ways) != 1:
        raise ValueError(
            "Give one of `--decision`, `--score` and the `--model` that scores the "
            "rows."
        )
    if rows.decided is not None:
        return rows.decided, None
    if model is not None:
        positive = (question.outcome or "").rpartition("=")[2] or "1"
        scores = positive_scores(model, rows.frame, positive)
    else:
        assert question.score is not None
        check_one_of("--score", question.score, list(map(str, rows.frame)))
        scores = rows.scores(question.score)
    kind = guessing.guess_score(pd.Series(scores, name="score"))
    if kind is not None and kind.kind == "decision" and question.threshold is None:
        return scores == 1, None
    if question.threshold is not None:
        return scores >= question.threshold, scores
    if kind is not None and kind.kind in ("score", "margin"):
        raise ValueError(
            f"`--score` {question.score!r} is no probability; say from where on a "
            "decision is positive: --threshold."
        )
    return scores > 0.5, scores


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that JSON has: numbers that are not finite as None."""
    return {str(name): _plain(value) for name, value in row.items()}


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON has them."""
    rows: list[dict[Any, Any]] = table.to_dict("records")
    return [plain(row) for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return None if value is pd.NA else value


def _blocks(part: Audit, pairs: int) -> list[pd.DataFrame]:
    """Return the estimates of an audit: rates, gaps, ratios and gaps in subgroups."""
    over_all: dict[str, Any] = {"subgroup": None, "reason": ""}
    ends = {"ci_low": "low", "ci_high": "high"}
    rates = part.by_group.rename(columns=ends)
    gaps = part.gaps.drop(columns="value")
    differences = gaps.rename(columns={**ends, "difference": "value"})
    ratios = gaps.rename(
        columns={"ratio": "value", "ratio_low": "low", "ratio_high": "high"}
    )
    blocks = [
        rates.assign(**over_all, reference=None, pairs=1),
        differences.assign(
            measure=differences["measure"].map(views.gap_of), pairs=pairs, **over_all
        ),
        ratios.assign(
            measure=ratios["measure"].map(views.ratio_of_measure),
            pairs=pairs,
            **over_all,
        ),
    ]
    if part.local is not None:
        local = part.local.rename(columns={**ends, "gap": "value"})
        n_groups = part.by_group["group"].nunique()
        blocks.append(
            local.assign(
                measure=local["measure"].map(views.gap_of),
                group=None,
                reference=None,
                pairs=n_groups * (n_groups - 1) // 2,
            )
        )
    names = ["measure", "subgroup", "group", "reference", "value", "low", "high"]
    return [block[[*names, "n", "pairs", "reason"]] for block in blocks]
