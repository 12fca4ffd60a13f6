"""Evidence packs: what a rule asks for, filled from a table or a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from fairdash import __version__
from fairdash._wording import interval, number
from fairdash.audits import (
    Source,
    TableQuestion,
    adverse_impact,
    alternative_in_run,
    bias_audit,
)
from fairdash.reports._blocks import Block, Facts, Section, Table, Words
from fairdash.reports._report import report
from fairdash.reports._written import as_markdown, to_html
from fairdash.store import Store

PackName = Literal["ll144", "adverse-impact", "eu-ai-act"]
ADVICE = "This is not legal advice."


@dataclass(frozen=True, eq=False)
class Pack:
    """A finished pack."""

    title: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    note: str

    def to_html(self) -> str:
        """Return one HTML page that loads nothing from elsewhere."""
        return to_html(self.title, self.facts, self.sections, self.note)

    def to_markdown(self) -> str:
        """Return the same as Markdown."""
        return as_markdown(self.title, self.facts, self.sections, self.note)


def ll144_pack(frame: pd.DataFrame, question: TableQuestion, source: Source) -> Pack:
    """Return the impact ratios that New York City's Local Law 144 asks for.

    Raises ValueError as `fairdash.audits.bias_audit`.
    """
    audit = bias_audit(frame, question)
    rate = "Selection rate" if audit.kind == "selection" else "Scoring rate"
    picked = "Selected" if audit.kind == "selection" else "Above the median"
    names = {
        "category": "Category",
        "n": "Rows",
        "selected": f"Rows: {picked.lower()}",
        "rate": rate,
        "ratio": "Impact ratio",
        "low": "Low",
        "high": "High",
        "bound_low": "Least, over unknown people",
        "bound_high": "Largest, over unknown people",
    }
    blocks: list[Block] = []
    for name, table in audit.tables.items():
        shown = table.rename(columns=names)[list(names.values())]
        blocks.append(Table(f"By {name}", shown, audit.words(name)))
    how = (
        "The impact ratio is a category's rate over the largest rate of a category. "
        "Low and High are a 95 % interval. Least and Largest are the bounds over every "
        "way in which people of unknown category could belong to categories; for the "
        "crossed table, a person counts as unknown if either is."
    )
    rules = (
        "Local Law 144 of 2021 of New York City and 6 RCNY § 5-300 to 5-304: rates by "
        "sex, race or ethnicity and both crossed; impact ratios; the number of people "
        "of unknown category; categories below 2 % of the data may be excluded."
    )
    sections = (
        Section("ratios", "Impact ratios", [*blocks, Words(how)]),
        _source("What was audited", source, audit.excluded, rules),
    )
    facts = (source.name, f"{audit.rows:,} people", audit.excluded, source.date)
    return Pack("Bias audit (Local Law 144)", facts, sections, ADVICE)


def adverse_pack(frame: pd.DataFrame, question: TableQuestion, source: Source) -> Pack:
    """Return the tests of adverse impact of a table.

    Raises ValueError as `fairdash.audits.adverse_impact`.
    """
    found = adverse_impact(frame, question)
    names = {
        "group": "Group",
        "reference": "Compared with",
        "n": "Rows",
        "selected": "Rows selected",
        "rate": "Rate",
        "reference_rate": "Rate of the other",
        "ratio": "Ratio",
        "low": "Low",
        "high": "High",
        "below_four_fifths": "Below four fifths",
        "deviations": "Standard deviations",
        "two_deviations": "Beyond two",
        "p_fisher": "p, Fisher's exact test",
        "shortfall": "Shortfall, people",
        "smd": "Mean score, standardised",
    }
    blocks: list[Block] = []
    for name, table in found.tables.items():
        shown = table.rename(columns=names)[list(names.values())]
        blocks.append(Table(f"By {name}", shown.dropna(axis=1, how="all")))
    how = (
        "Each group is compared with the one that is selected most. The shortfall is "
        "how many more would be selected at the rate of both groups together."
    )
    rules = (
        "Uniform Guidelines on Employee Selection Procedures (29 CFR 1607, 1978): the "
        "four-fifths rule of thumb. Hazelwood School District v. United States (1977): "
        "two or three standard deviations."
    )
    sections = (
        Section("tests", "Ratios, tests and shortfall", [*blocks, Words(how)]),
        _source("What was audited", source, found.rows.words, rules),
    )
    facts = (source.name, f"{len(found.rows.frame):,} people", source.date)
    return Pack("Adverse impact", facts, sections, ADVICE)


def alternative_pack(
    store: Store, run_id: str, present: str | None, loss: float
) -> Pack:
    """Return the search for a less discriminatory alternative among a run's models.

    Raises ValueError as `fairdash.audits.alternative_in_run`.
    """
    label, found = alternative_in_run(store, run_id, present, loss=loss)
    items = {
        "Model in use": label,
        "Models searched": str(found.tried),
        "Accuracy that may be lost": number(loss),
        "Chosen on validation rows": found.candidate or "none",
    }
    if found.candidate is not None:
        for term, part in (
            ("Gap smaller by, on test rows", found.reduction),
            ("Accuracy changes by, on test rows", found.accuracy),
        ):
            ends = interval(float(part.low), float(part.high))
            items[term] = f"{number(float(part.value))} ({ends})"
    how = (
        "Validation rows were searched; test rows, which the search did not see, "
        "confirm with 95 % intervals. Accuracy is the share of right decisions."
    )
    blocks: list[Block] = [Words(found.words, finding=True), Facts(items), Words(how)]
    run = store.run(run_id)
    section = Section("alternative", "A less discriminatory alternative", blocks)
    return Pack("Adverse impact: alternatives", (run.name,), (section,), ADVICE)


def annex_pack(store: Store, run_id: str) -> Pack:
    """Return Annex IV of the EU AI Act: what a run can fill, and what it cannot.

    Raises ValueError as `fairdash.reports.report`.
    """
    made = report(store, run_id)
    own = {section.name: section for section in made.sections}
    rows = [
        (point, asks, "filled" if parts else "not in this run", where)
        for point, asks, parts, where in _annex(own)
    ]
    table = pd.DataFrame(rows, columns=["Point", "It asks for", "Status", "Where"])
    open_points = [row[0] for row in rows if row[2] != "filled"]
    words = (
        f"This run fills {len(rows) - len(open_points)} of {len(rows)} points. Add the "
        f"others yourself: {', '.join(open_points)}."
    )
    first = Section(
        "annex",
        "Annex IV, point by point",
        [Words(words, finding=True), Table("Technical documentation", table)],
    )
    rules = (
        "Regulation (EU) 2024/1689, Article 11 and Annex IV: technical documentation "
        "of a high-risk system. The points are in our words."
    )
    note = f"{ADVICE} {rules} {made.note}"
    title = f"Technical documentation: {made.title}"
    return Pack(title, made.facts, (first, *made.sections), note)


def _annex(sections: dict[str, Section]) -> list[tuple[str, str, bool, str]]:
    """Return each point: what it asks for, whether a report has it, and where."""

    def at(*names: str) -> tuple[bool, str]:
        titles = [sections[name].title for name in names if name in sections]
        return bool(titles), "; ".join(titles)

    version = True, f"fairdash {__version__}"
    points = [
        ("1a", "Intended purpose, provider, version", (False, "")),
        ("1b-1h", "Software, hardware, user interface, instructions", (False, "")),
        ("1c", "Versions of software", version),
        ("2a", "Methods and steps of development", at("tried", "reproduce")),
        ("2b", "Design choices, what is optimised, trade-offs", at("tried", "summary")),
        ("2c", "Architecture and computing resources", (False, "")),
        ("2d", "Data: origin, scope, labels, cleaning", at("data")),
        ("2e", "Human oversight", (False, "")),
        ("2f", "Changes that were determined before", (False, "")),
        (
            "2g",
            "Validation, testing, metrics, discriminatory impact",
            at("summary", "local", "guaranteed"),
        ),
        ("2h", "Cybersecurity", (False, "")),
        ("3", "Limits; accuracy for groups of people", at("local", "corrected")),
        ("4", "Why the metrics are appropriate", at("definitions")),
        ("5", "Risk management", (False, "")),
        ("6", "Changes through the lifecycle", (False, "")),
        ("7", "Standards applied", (False, "")),
        ("8", "EU declaration of conformity", (False, "")),
        ("9", "Monitoring after placing on the market", (False, "")),
    ]
    return [(point, asks, *found) for point, asks, found in points]


def _source(title: str, source: Source, excluded: str, rules: str) -> Section:
    items = {
        "File": source.name,
        "SHA-256": source.digest,
        "Rows in the file": f"{source.rows:,}",
        "Rows that do not count": excluded,
        "Audited": source.date,
        "Rules": rules,
    }
    return Section("source", title, [Facts(items)])


def pack(
    name: PackName,
    what: str,
    question: TableQuestion,
    *,
    store: Store | None,
    frame: pd.DataFrame | None,
    present: str | None = None,
    loss: float = 0.01,
) -> Pack:
    """Return a pack of a file, read as ``frame``, or of the run ``what`` of a store.

    Raises ValueError when a pack cannot be of that.
    """
    if frame is not None:
        source = Source.of(Path(what), len(frame))
        if name == "ll144":
            return ll144_pack(frame, question, source)
        if name == "adverse-impact":
            return adverse_pack(frame, question, source)
        raise ValueError("The pack eu-ai-act is of a run; give its id.")
    if store is None or name == "ll144":
        raise ValueError("The pack ll144 is of a table of people; give its file.")
    if name == "eu-ai-act":
        return annex_pack(store, what)
    return alternative_pack(store, what, present, loss)


PACKS: Sequence[PackName] = ("ll144", "adverse-impact", "eu-ai-act")
