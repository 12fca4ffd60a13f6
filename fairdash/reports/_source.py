"""Where the rows of a table come from, and what was asked of them, for a reader."""

from collections.abc import Iterable

from fairdash.audits import tables
from fairdash.reports._blocks import Facts, Section


def source_section(
    source: tables.Source,
    question: tables.TableQuestion,
    excluded: str,
    *,
    rows: int,
    decided: str = "",
    remarks: Iterable[str] = (),
    rules: str = "",
) -> Section:
    """Return the section that audits and packs of a table end with.

    ``excluded`` says which rows do not count, ``decided`` how scores become decisions,
    unless by the threshold or above 1/2, ``remarks`` what is doubtful about the table.
    """
    items = {
        "File": source.name,
        "SHA-256 of the counts" if source.counted_by else "SHA-256": source.digest,
        "Counted where it lies, by": ", ".join(source.counted_by),
        "Rows in the file": f"{source.rows:,}",
        "Rows counted": f"{rows:,}",
        "Rows that do not count": excluded,
        "Audited": source.date or "missing: the date",
        "Decision": question.decision,
        "Score": question.score,
        "Decided positive": decided or _decided(question),
        "Outcome": question.outcome,
        "Not positive": ", ".join(question.negative),
        "Rows asked about": " and ".join(map(str, question.rows)),
        "Prepared": "; ".join(step.words() for step in question.preparation),
        "Groups": ", ".join(question.groups),
        "Unit": question.unit,
        "Weight": question.weight,
        "People in a row": question.count,
        "Doubtful": " ".join(remarks),
        "Rules": rules,
    }
    facts = {term: text for term, text in items.items() if text}
    return Section("source", "What was audited", [Facts(facts)])


def _decided(question: tables.TableQuestion) -> str:
    if question.decision is not None or question.score is None:
        return question.decision or ""
    if question.threshold is not None:
        return f"{question.score} of {question.threshold:g} or more"
    return f"{question.score} above 0.5"
