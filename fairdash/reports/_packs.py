"""Evidence packs: the documents that a rule asks for, filled from a table or a run."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from fairdash import __version__
from fairdash._wording import interval, listing, number
from fairdash.audits import tables
from fairdash.reports._blocks import Block, Facts, Section, Table, Words
from fairdash.reports._report import Report, report
from fairdash.reports._run_record import run_record, run_words
from fairdash.reports._sections import RunSubject
from fairdash.reports._source import source_section
from fairdash.scored import USUAL
from fairdash.store import Store

PackName = Literal["ll144", "adverse-impact", "eu-ai-act"]
ADVICE = "This is not legal advice."
MISSING = "missing"
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
    declared: Mapping[str, str] | None = None,
) -> Report:
    """Return a pack of a file, read as ``frame``, or of the run ``what`` of a store.

    ``declared`` is what only the reader knows, such as the distribution date that Local
    Law 144 asks for: see `ll144_pack`. Raises ValueError when a pack cannot be of that.
    """
    if frame is not None:
        source = tables.Source.of(Path(what), frame)
        if name == "ll144":
            return ll144_pack(frame, question, source, declared)
        if name == "adverse-impact":
            return adverse_pack(frame, question, source)
        raise ValueError("The pack eu-ai-act is of a run; give its id.")
    if name == "ll144":
        raise ValueError("The pack ll144 is of a table of people; give its file.")
    if name == "eu-ai-act":
        return annex_pack(store, what, present)
    return alternative_pack(store, what, present, loss)


def ll144_pack(
    frame: pd.DataFrame,
    question: tables.TableQuestion,
    source: tables.Source,
    declared: Mapping[str, str] | None = None,
) -> Report:
    """Return the impact ratios that New York City's Local Law 144 asks for.

    Without columns of groups the table holds published counts, and what was printed is
    checked. ``declared`` has auditor, data_source and distributed (the date from which
    the tool was used): what is not given is listed as missing. Raises ValueError as
    `fairdash.audits.tables.bias_audit`.
    """
    published = not question.groups
    if published:
        audit = tables.published_audit(frame)
    else:
        audit = tables.bias_audit(frame, question)
    headings = _LL144["headings"]
    decided = ""
    if audit.kind == "scoring":
        # The rules count scores above the median as the selection of a rating.
        headings = headings | {
            "selected": "Rows above the median",
            "rate": "Scoring rate",
        }
        decided = f"{question.score} above its median"
    blocks: list[Block] = []
    for name, table in audit.tables.items():
        pairs = len(table) * (len(table) - 1) // 2
        blocks.append(_table(name, table, headings, audit.words(name), pairs=pairs))
    if published:
        wrong = " ".join(tables.inconsistencies(frame))
        blocks.append(Words(wrong or "Every printed number follows from the counts."))
    ratios = Section("ratios", "Impact ratios", [*blocks, Words(_LL144["how"])])
    people = tables.people_words(audit.rows)
    facts = (source.name, f"{people} assessed", source.date)
    about = source_section(
        source,
        question,
        audit.excluded,
        rows=audit.rows,
        decided=decided,
        remarks=audit.remarks,
        rules=_LL144["rules"],
    )
    fields = _ll144_fields(audit, source, declared or {})
    required = Section("fields", "What the rules ask to be published", [Facts(fields)])
    record = _record(source, audit.assessed, people=audit.rows)
    record["parts"] = _ll144_parts(audit)
    record["tables"] = _rows_of(audit.tables)
    record["fields"] = fields
    return Report(
        "Bias audit (Local Law 144)",
        facts,
        (ratios, required, about),
        ADVICE,
        record=tables.plain(record),
    )


def adverse_pack(
    frame: pd.DataFrame, question: tables.TableQuestion, source: tables.Source
) -> Report:
    """Return the tests of adverse impact of a table.

    Raises ValueError as `fairdash.audits.tables.adverse_impact`.
    """
    impact = tables.adverse_impact(frame, question)
    blocks: list[Block] = []
    for name, table in impact.tables.items():
        blocks += map(Words, impact.sentences(name))
        with_people = table.assign(people=_whole_people(table["shortfall"]))
        # A test that no group has numbers for takes no column.
        with_numbers = with_people.dropna(axis=1, how="all")
        pairs = impact.facts.parts[name].pairs
        note = impact.words(name)
        blocks.append(
            _table(name, with_numbers, _ADVERSE["headings"], note, pairs=pairs)
        )
    title = "Ratios, tests and shortfall"
    tests = Section("tests", title, [*blocks, Words(_ADVERSE["how"])])
    rows = impact.facts.rows
    people = tables.people_words(rows.n)
    facts = (source.name, f"{people} counted", source.date)
    about = source_section(
        source,
        question,
        rows.words,
        rows=rows.n,
        remarks=rows.remarks,
        rules=_ADVERSE["rules"],
    )
    record = tables.record_of(impact.facts, source)
    record = record | {
        "tables": _rows_of(impact.tables),
        "fields": _ADVERSE["fields"],
    }
    to_add = Section("fields", "What a reader must add", [Facts(_ADVERSE["fields"])])
    sections = (tests, to_add, about)
    return Report("Adverse impact", facts, sections, ADVICE, record=record)


def alternative_pack(
    store: Store, run_id: str, present: str | None, loss: float
) -> Report:
    """Return the search for a less discriminatory alternative among a run's models.

    The model in use is by default the one that a report of the run calls "before".
    Raises ValueError as `fairdash.audits.tables.alternative_in_run`.
    """
    snapshot = store.snapshot(run_id, curves=False)
    subject = RunSubject(store, snapshot.run.dataset_id, snapshot, None, USUAL)
    record = run_record(subject)
    label, search = tables.alternative_in_run(
        store, run_id, present or record["before"], loss=loss
    )
    record = record | {"present": label, "candidate": search.candidate}
    items = {
        "Model in use": label,
        "Models searched": str(search.tried),
        "Accuracy that may be lost": number(loss),
        "Chosen on validation rows": search.candidate or "none",
        "Seed": f"{min(record['seeds'])}, of {listing(map(str, record['seeds']))}",
    }
    if search.candidate is not None:
        items["Gap smaller by, on test rows"] = _with_interval(search.reduction)
        items["Accuracy changes by, on test rows"] = _with_interval(search.accuracy)
    blocks: list[Block] = [Words(search.words, finding=True), Facts(items)]
    blocks.append(Words(_ADVERSE["alternatives"]))
    title = "A less discriminatory alternative"
    section = Section("alternative", title, blocks)
    about = Section("source", "What was searched", [Facts(run_words(record))])
    facts = (snapshot.run.name, record["data"]["name"], label, record["started"])
    title = "Adverse impact: alternatives"
    return Report(title, facts, (section, about), ADVICE, record=record)


def annex_pack(store: Store, run_id: str, model: str | None = None) -> Report:
    """Return Annex IV of the EU AI Act: the points a run fills, and the missing ones.

    A point is filled only where the run says all that it asks for. Raises ValueError
    as `fairdash.reports.report`.
    """
    run_report = report(store, run_id, model=model)
    titles = {section.name: section.title for section in run_report.sections}
    rows = []
    for number_of_point, point in _ANNEX["points"].items():
        sections = [titles[name] for name in point["in"] if name in titles]
        if not sections:
            status = MISSING
            lacks = point["asks"]
        else:
            lacks = point["missing"]
            status = "in part" if lacks else "filled"
        places = "; ".join(sections)
        rows.append((number_of_point, point["asks"], status, places, lacks))
    names = ["Point", "It asks for", "Status", "Where", "Missing"]
    table = pd.DataFrame(rows, columns=names)
    counts = table["Status"].value_counts()
    words = (
        f"Of {len(rows)} points this run fills {counts.get('filled', 0)} whole and "
        f"{counts.get('in part', 0)} in part; of {counts.get(MISSING, 0)} it says "
        "nothing. Add what the last column names."
    )
    blocks: list[Block] = [Words(words, finding=True)]
    blocks.append(Table("Technical documentation", table))
    first = Section("annex", "Annex IV, point by point", blocks)
    facts = Facts(run_words(run_report.record))
    about = Section("source", "What was documented", [facts])
    note = f"{ADVICE} {_ANNEX['rules']} {run_report.note} fairdash {__version__}."
    return Report(
        f"Technical documentation: {run_report.title}",
        run_report.facts,
        (first, about, *run_report.sections),
        note,
        record={**run_report.record, "points": table.to_dict("records")},
    )


def _ll144_fields(
    audit: Any, source: tables.Source, declared: Mapping[str, str]
) -> dict[str, str]:
    """Return the facts to publish by their titles; the missing ones say so."""
    unknown = [f"{name}: {part.n:,}" for name, part in audit.unknown.items()]
    values = {"computed": source.date, "unknown": "; ".join(unknown)}
    if len(audit.tables) > 1:
        values["rates"] = f"by {listing(audit.tables)}"
    values |= declared
    fields = {}
    for key, field in _LL144["fields"].items():
        value = values.get(key) or f"{MISSING}: {field['missing']}"
        fields[field["title"]] = value
    return fields


def _ll144_parts(audit: Any) -> list[dict[str, Any]]:
    """Return the numbers of each table of a bias audit for its record."""
    parts = []
    for name, facts in audit.facts.items():
        part = facts.to_dict()
        part["unknown"] = audit.unknown[name]._asdict()
        part["only_here"] = audit.only_here(name)
        part["largest"] = audit.largest(name)
        parts.append(part)
    return parts


def _rows_of(by_name: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return tables as rows of plain values for a record."""
    return {name: tables.plain_rows(table) for name, table in by_name.items()}


def _with_interval(change: Any) -> str:
    ends = interval(float(change.low), float(change.high))
    return f"{number(float(change.value))} ({ends})"


def _whole_people(shortfall: "pd.Series[float]") -> "pd.Series[int]":
    # A group that is selected more often than expected lacks nobody.
    return shortfall.clip(lower=0).round().astype(int)


def _table(
    name: str,
    table: pd.DataFrame,
    titles: Mapping[str, str],
    note: str = "",
    *,
    pairs: int,
) -> Table:
    columns = [column for column in titles if column in table]
    # Of a single pair the interval for all pairs at once is that of the pair.
    if pairs == 1:
        columns = [column for column in columns if column not in ("low", "high")]
    named = {column: titles[column].format(pairs=pairs) for column in columns}
    return Table(f"By {name}", table[columns].rename(columns=named), note)


def _record(
    source: tables.Source, rows: tables.CountedRows | None, *, people: int
) -> dict[str, Any]:
    record: dict[str, Any] = {"source": asdict(source), "rows": people}
    if rows is not None:
        record["excluded"] = [part._asdict() for part in rows.excluded]
        record["values"] = [value._asdict() for value in rows.decision_values]
    return record
