"""Evidence packs: what a rule asks for, filled from a table or a run."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from fairdash import __version__
from fairdash._wording import interval, number
from fairdash.audits import tables
from fairdash.reports._blocks import Block, Facts, Section, Table, Words
from fairdash.reports._report import Report, report
from fairdash.store import Store

PackName = Literal["ll144", "adverse-impact", "eu-ai-act"]
ADVICE = "This is not legal advice."
_FILE = Path(__file__).with_name("packs.toml")
_LL144, _ADVERSE, _ANNEX = tomllib.loads(_FILE.read_text("utf-8")).values()


def pack(
    name: PackName,
    what: str,
    question: tables.TableQuestion,
    *,
    store: Store,
    frame: pd.DataFrame | None,
    present: str | None = None,
    loss: float = 0.01,
) -> Report:
    """Return a pack of a file, read as ``frame``, or of the run ``what`` of a store.

    Raises ValueError when a pack cannot be of that.
    """
    if frame is not None:
        source = tables.Source.of(Path(what), frame)
        if name == "ll144":
            return ll144_pack(frame, question, source)
        if name == "adverse-impact":
            return adverse_pack(frame, question, source)
        raise ValueError("The pack eu-ai-act is of a run; give its id.")
    if name == "ll144":
        raise ValueError("The pack ll144 is of a table of people; give its file.")
    if name == "eu-ai-act":
        return annex_pack(store, what)
    return alternative_pack(store, what, present, loss)


def ll144_pack(
    frame: pd.DataFrame, question: tables.TableQuestion, source: tables.Source
) -> Report:
    """Return the impact ratios that New York City's Local Law 144 asks for.

    Without columns of groups the table holds published counts, and what was printed is
    checked. Raises ValueError as `fairdash.audits.tables.bias_audit`.
    """
    published = not question.groups
    audit = (
        tables.published_audit(frame)
        if published
        else tables.bias_audit(frame, question)
    )
    scoring = audit.kind == "scoring"
    other = (
        {"selected": "Rows above the median", "rate": "Scoring rate"} if scoring else {}
    )
    blocks: list[Block] = [
        _table(name, table, _LL144["headings"] | other, audit.words(name))
        for name, table in audit.tables.items()
    ]
    if published:
        wrong = " ".join(tables.inconsistencies(frame))
        blocks.append(Words(wrong or "Every printed number follows from the counts."))
    ratios = Section("ratios", "Impact ratios", [*blocks, Words(_LL144["how"])])
    facts = (source.name, f"{audit.rows:,} people", audit.excluded, source.date)
    about = _source(source, audit.excluded, _LL144["rules"])
    return Report("Bias audit (Local Law 144)", facts, (ratios, about), ADVICE)


def adverse_pack(
    frame: pd.DataFrame, question: tables.TableQuestion, source: tables.Source
) -> Report:
    """Return the tests of adverse impact of a table.

    Raises ValueError as `fairdash.audits.tables.adverse_impact`.
    """
    impact = tables.adverse_impact(frame, question)
    blocks: list[Block] = [
        _table(name, table.dropna(axis=1, how="all"), _ADVERSE["headings"])
        for name, table in impact.tables.items()
    ]
    title = "Ratios, tests and shortfall"
    tests = Section("tests", title, [*blocks, Words(_ADVERSE["how"])])
    facts = (source.name, f"{len(impact.rows.frame):,} people", source.date)
    about = _source(source, impact.rows.words, _ADVERSE["rules"])
    return Report("Adverse impact", facts, (tests, about), ADVICE)


def alternative_pack(
    store: Store, run_id: str, present: str | None, loss: float
) -> Report:
    """Return the search for a less discriminatory alternative among a run's models.

    Raises ValueError as `fairdash.audits.tables.alternative_in_run`.
    """
    label, search = tables.alternative_in_run(store, run_id, present, loss=loss)
    items = {
        "Model in use": label,
        "Models searched": str(search.tried),
        "Accuracy that may be lost": number(loss),
        "Chosen on validation rows": search.candidate or "none",
    }
    if search.candidate is not None:
        for term, part in (
            ("Gap smaller by, on test rows", search.reduction),
            ("Accuracy changes by, on test rows", search.accuracy),
        ):
            ends = interval(float(part.low), float(part.high))
            items[term] = f"{number(float(part.value))} ({ends})"
    how = (
        "Validation rows were searched; test rows, which the search did not see, "
        "confirm with 95 % intervals. Accuracy is the share of right decisions."
    )
    blocks: list[Block] = [Words(search.words, finding=True), Facts(items), Words(how)]
    section = Section("alternative", "A less discriminatory alternative", blocks)
    facts = (store.run(run_id).name,)
    return Report("Adverse impact: alternatives", facts, (section,), ADVICE)


def annex_pack(store: Store, run_id: str) -> Report:
    """Return Annex IV of the EU AI Act: what a run can fill, and what it cannot.

    Raises ValueError as `fairdash.reports.report`.
    """
    made = report(store, run_id)
    titles = {section.name: section.title for section in made.sections}
    rows, missing = [], []
    for point, (asks, names) in _ANNEX["points"].items():
        where = "; ".join(titles[name] for name in names if name in titles)
        rows.append((point, asks, "filled" if where else "not in this run", where))
        missing += [] if where else [point]
    table = pd.DataFrame(rows, columns=["Point", "It asks for", "Status", "Where"])
    words = (
        f"This run fills {len(rows) - len(missing)} of {len(rows)} points. Add the "
        f"others yourself: {', '.join(missing)}."
    )
    blocks: list[Block] = [Words(words, finding=True)]
    blocks.append(Table("Technical documentation", table))
    first = Section("annex", "Annex IV, point by point", blocks)
    note = f"{ADVICE} {_ANNEX['rules']} {made.note} fairdash {__version__}."
    title = f"Technical documentation: {made.title}"
    return Report(title, made.facts, (first, *made.sections), note)


def _table(
    name: str, table: pd.DataFrame, titles: Mapping[str, str], note: str = ""
) -> Table:
    shown = table[[column for column in titles if column in table]]
    return Table(f"By {name}", shown.rename(columns=titles), note)


def _source(source: tables.Source, excluded: str, rules: str) -> Section:
    items = {
        "File": source.name,
        "SHA-256": source.digest,
        "Rows in the file": f"{source.rows:,}",
        "Rows that do not count": excluded,
        "Audited": source.date,
        "Rules": rules,
    }
    return Section("source", "What was audited", [Facts(items)])
