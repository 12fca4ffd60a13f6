"""The page of an audited table: who was counted, every measure, how to repeat it."""

import pandas as pd

from fairdash.audits import TableAudit
from fairdash.metrics import ratio_of_measure
from fairdash.reports._blocks import Block, Facts, Section, Table, Words
from fairdash.reports._shown import audit_blocks
from fairdash.reports._written import to_html

RATE = "selection_rate"


def audit_page(audited: TableAudit) -> str:
    """Return an HTML page with counts, ratios, measures, excluded rows and source."""
    sections = [Section("counts", "Who was counted", _counted(audited))]
    for n, (name, found) in enumerate(audited.audits.items()):
        sections.append(Section(f"measures-{n}", f"By {name}", audit_blocks(found)))
    sections.append(Section("source", "What was audited", _source(audited)))
    facts = [audited.source.name, f"{len(audited.rows.frame):,} rows counted"]
    facts += [audited.rows.words, audited.source.date]
    return to_html("Audit", facts, sections, "")


def count_table(audited: TableAudit) -> pd.DataFrame:
    """Return rows, positive decisions, rate and ratio of each group.

    Counts are of rows; rates are weighted where the audit is.
    """
    estimates = audited.estimates()
    whole = estimates[estimates["subgroup"].isna()]
    keys = ["feature", "group"]
    ends = ["value", "low", "high"]
    rates = whole[whole["measure"] == RATE].set_index(keys)[ends]
    ratios = whole[whole["measure"] == ratio_of_measure(RATE)].set_index(keys)
    ratios = ratios[["reference", *ends]].add_suffix(" of ratio")
    table = audited.positive.set_index(keys).join(rates).join(ratios)
    names = {
        "feature": "Column",
        "group": "Group",
        "n": "Rows",
        "positive": "Rows decided positive",
        "value": "Selection rate",
        "low": "Low",
        "high": "High",
        "reference of ratio": "Compared with",
        "value of ratio": "Ratio",
        "low of ratio": "Ratio, low",
        "high of ratio": "Ratio, high",
    }
    return table.reset_index().rename(columns=names)[list(names.values())]


def _counted(audited: TableAudit) -> list[Block]:
    frame = pd.DataFrame(
        [part._asdict() for part in audited.rows.excluded],
        columns=["reason", "column", "rows"],
    )
    shown = frame.rename(
        columns={"reason": "Reason", "column": "Column", "rows": "Rows"}
    )
    note = "Intervals hold for all pairs of groups at once. Below 0.8 a ratio breaks "
    blocks: list[Block] = [
        Table(
            "Rows and positive decisions by group",
            count_table(audited),
            f"{note}the four-fifths rule of thumb.",
        ),
        Words(f"{audited.rows.words}."),
    ]
    return [*blocks, Table("Rows that do not count", shown)] if len(shown) else blocks


def _source(audited: TableAudit) -> list[Block]:
    source, question = audited.source, audited.question
    asked = {
        "Decision": question.decision,
        "Score": question.score,
        "Threshold": None if question.threshold is None else f"{question.threshold:g}",
        "Outcome": question.outcome,
        "Groups": ", ".join(question.groups),
        "Unit": question.unit,
        "Weight": question.weight,
    }
    items = {
        "File": source.name,
        "SHA-256": source.digest,
        "Rows in the file": f"{source.rows:,}",
        "Rows counted": f"{len(audited.rows.frame):,}",
        "Audited": source.date,
    }
    return [Facts({**items, **{name: text for name, text in asked.items() if text}})]
