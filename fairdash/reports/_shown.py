"""An answer, an audit or a report in a notebook; an audited table as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

import pandas as pd

from fairdash import plots
from fairdash.audits import Answer, Audit, tables
from fairdash.metrics import catalog
from fairdash.plots import Picture
from fairdash.reports._blocks import (
    Block,
    Figure,
    Section,
    Table,
    Words,
    blocks_of,
    outcome_blocks,
)
from fairdash.reports._report import Report
from fairdash.reports._source import source_section
from fairdash.reports._written import to_html

AuditOfTable: TypeAlias = (
    tables.TableAudit | tables.MembershipAudit | tables.OutcomesAudit
)
_COUNTED = {
    "feature": "Column",
    "group": "Group",
    "n": "Rows",
    "positive": "Rows decided positive",
    "rate": "Selection rate",
    "low": "Low",
    "high": "High",
    "reference": "Compared with",
    "ratio": "Ratio",
    "ratio_alone_low": "Ratio, low, this pair",
    "ratio_alone_high": "Ratio, high, this pair",
    "pairs": "Pairs",
    "ratio_low": "Ratio, low, all pairs",
    "ratio_high": "Ratio, high, all pairs",
}
_HEIGHT = 640  # pixels of the frame; what is taller scrolls inside


@dataclass(frozen=True)
class Shown:
    """The result of `show`: a notebook draws it, `page` is its whole HTML page."""

    page: str

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="fairdash" srcdoc="{escape(self.page)}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )


def show(
    result: Answer | Audit | AuditOfTable | Report | Picture,
    *,
    facts: Sequence[str] = (),
) -> Shown:
    """Show an answer, an audit, a report or a figure in a notebook, as pages do.

    Parameters
    ----------
    facts : sequence of str
        Lines under the title of an answer or an audit, such as which rows were
        excluded.

    Returns
    -------
    Shown
        With which a cell ends. It brings plotly.js along, 1.8 MB, and needs no network.

    Examples
    --------
    >>> import fairdash
    >>> audit = fairdash.audit(
    ...     [0, 1, 0, 1] * 50, [0, 1, 1, 0] * 50, sensitive_features=["a", "b"] * 100
    ... )
    >>> audit.verdict in fairdash.show(audit).page
    True
    """
    if isinstance(result, Picture):
        sections = [Section("figure", "Figure", [Figure(result, "")])]
        return Shown(to_html(result.headline, [], sections, ""))
    if isinstance(result, tables.MembershipAudit):
        result = result.answer()
    if isinstance(result, tables.TableAudit):
        return Shown(_audit_page(result))
    if isinstance(result, Answer):
        sections = [Section("answer", "Answer", blocks_of(result))]
        return Shown(to_html("fairdash", [*result.facts, *facts], sections, ""))
    if isinstance(result, tables.OutcomesAudit):
        sections = [Section("outcomes", "Audit", outcome_blocks(result))]
        return Shown(to_html("Audit", facts, sections, ""))
    if isinstance(result, Audit):
        sections = [Section("audit", "Every measure by group", audit_blocks(result))]
        return Shown(to_html("Audit", facts, sections, ""))
    return Shown(result.to_html())


def audit_blocks(audit: Audit) -> list[Block]:
    """Return the verdict of an audit, its tables, and its calibration curve."""
    table = audit.table.rename(index=catalog.MEASURE_NAMES)
    measures = table.rename_axis("Measure").reset_index()
    measures = measures.rename(
        columns={"gap": "Gap", "ci_low": "Low", "ci_high": "High"}
    )
    blocks: list[Block] = [
        Words(audit.verdict, finding=True),
        Table("Every measure by group", measures, audit.rows),
        *map(Words, audit.remarks),
    ]
    groups = tuple(dict.fromkeys(audit.by_group["group"].astype(str)))
    if audit.calibration is not None:
        picture = plots.plot_calibration(audit.calibration, groups=groups)
        blocks.append(Figure(picture, ""))
    if audit.local is not None:
        blocks.append(Table("Every measure inside subgroups", audit.local))
    return blocks


def _audit_page(audited: tables.TableAudit) -> str:
    sections = [Section("counts", "Who was counted", _counted(audited))]
    # Numbers name the sections: a column may have any name.
    for number, (name, audit) in enumerate(audited.audits.items()):
        blocks = audit_blocks(audit)
        sections.append(Section(f"measures-{number}", f"By {name}", blocks))
    rows = audited.rows
    source = audited.source
    sections.append(source_section(source, audited.question, rows.words, rows=rows.n))
    facts = [source.name, f"{rows.n:,} rows counted", rows.words, source.date]
    return to_html("Audit", facts, sections, "")


def count_table(audited: tables.TableAudit) -> pd.DataFrame:
    """Return rows, positive decisions, rate and ratio of each group.

    Counts are of rows; rates are weighted where the audit is.
    """
    parts = []
    for name, part in audited.facts.parts.items():
        pairs = part.comparisons.set_index("group").drop(columns="too_few")
        table = part.groups.set_index("group").join(pairs).reset_index()
        parts.append(table.assign(feature=name, pairs=part.pairs))
    counted = pd.concat(parts, ignore_index=True).rename(columns=_COUNTED)
    return counted[list(_COUNTED.values())]


def _counted(audited: tables.TableAudit) -> list[Block]:
    excluded = pd.DataFrame(audited.rows.excluded, columns=["Reason", "Column", "Rows"])
    references = " ".join(
        f"{name}: {part.reference.words()}"
        for name, part in audited.facts.parts.items()
    )
    note = (
        f"{references} {100 * audited.confidence:g} % intervals, two-sided: of a rate "
        "alone; of a ratio of one pair alone, and so that all pairs of groups hold at "
        "once (Bonferroni). Below 0.8 a ratio breaks the four-fifths rule of thumb."
    )
    blocks: list[Block] = [
        Table(
            "Rows and positive decisions by group",
            count_table(audited),
            note,
        ),
        Words(f"{audited.rows.words}."),
        *map(Words, audited.rows.remarks),
    ]
    if len(excluded):
        blocks.append(Table("Rows that do not count", excluded))
    return blocks
