"""A report of a run or a sweep, as a page that needs nothing else and as a card."""

import base64
import gzip
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from fairdash import __version__, plots
from fairdash._validation import check_whole
from fairdash._wording import Kpi, count, listing, number, plain, plural, utc
from fairdash.audits import Audit
from fairdash.metrics import MEASURE_NAMES
from fairdash.plots import Picture, as_json, palette, plotly_script
from fairdash.reports import _facts, _sections
from fairdash.reports._blocks import (
    Block,
    Cards,
    Code,
    Facts,
    Figure,
    Section,
    Table,
    Words,
)
from fairdash.reports._paper import to_pdf
from fairdash.results import gap_names, own_scores
from fairdash.store import Store
from fairdash.sweep import Thresholds

HERE = Path(__file__).parent
# of base 85, none of which means anything to HTML
_IN_HTML = bytes.maketrans(b"<&>", b",.:")
_HEIGHT = 640  # pixels of the frame; what is taller scrolls inside
_FIRST = """\
from pathlib import Path
from tempfile import mkdtemp

import fairdash
from fairdash.jobs import unpack_runs
from fairdash.reports import report
from fairdash.store import open_store

store = open_store(mkdtemp())  # an empty home folder; name your own to keep it
run = unpack_runs(store, Path({bundle!r})).runs[0]
found = report(store, run)
found.title, found.facts"""
_LAST = """\
rows = store.snapshot(run).table()
store.close()
rows"""


def to_html(
    title: str, facts: Sequence[str], sections: Sequence[Section], note: str
) -> str:
    """Return the page; whatever names hold, they stay text."""
    template = _environment().get_template("report.html")
    script = (HERE / "report.js").read_text()
    figures = any(
        isinstance(block, Figure) for section in sections for block in section.blocks
    )
    themes = {"light": palette("light"), "dark": palette("dark")}
    return template.render(
        title=title,
        facts=[fact for fact in facts if fact],
        sections=sections,
        note=note,
        version=__version__,
        style=Markup((HERE / "report.css").read_text()),
        script=Markup(script),
        themes=_as_json(themes),
        plotly=Markup(_packed_plotly()) if figures else "",
        hashes=[_hash(script), _hash(plotly_script())],
    )


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters["figure_json"] = _figure_json
    made.filters["paragraphs"] = lambda text: [p for p in text.split("\n\n") if p]
    return made


def _figure_json(figure: Any) -> Markup:
    """Return a figure as JSON with colour tokens, for the script to swap."""
    return _as_json(json.loads(as_json(figure)))


def _as_json(content: Any) -> Markup:
    """Return JSON that stays inside its script element, whatever texts it holds."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


@cache
def _packed_plotly() -> str:
    """Return plotly.js, compressed, as text: 1.8 MB instead of 4.8."""
    packed = gzip.compress(plotly_script().encode(), 9, mtime=0)
    return base64.b85encode(packed).translate(_IN_HTML).decode()


def _hash(script: str) -> str:
    """Return what the page's policy allows this script, and no other, by."""
    return f"sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}"


def to_markdown(
    title: str,
    facts: Sequence[str],
    sections: Sequence[Section],
    note: str,
    results: Mapping[str, Any],
) -> str:
    """Return a model card in the Markdown and YAML of Hugging Face's hub.

    Title, facts, sections and note are as of a page; figures are left to their tables.
    ``results`` has ``model``, its ``metrics`` by name, and ``dataset``: the
    ``model-index``; a datasheet, which says nothing of a model, has the metadata of a
    data set instead. Whatever names hold, they stay text.
    """
    measured = [
        {"type": name, "name": name, "value": round(float(value), 4)}
        for name, value in results["metrics"].items()
    ]
    data = {"type": "tabular", "name": results["dataset"], "split": "test"}
    evaluated = {
        "task": {"type": "tabular-classification"},
        "dataset": data,
        "metrics": measured,
    }
    metadata: dict[str, Any] = {
        "library_name": "fairdash",
        "pipeline_tag": "tabular-classification",
        "tags": ["tabular-classification", "fairness"],
        "model-index": [{"name": results["model"], "results": [evaluated]}],
    }
    if _only_data(section.name for section in sections):
        metadata = {
            "pretty_name": results["dataset"],
            "task_categories": ["tabular-classification"],
            "tags": ["tabular", "fairness"],
        }
    head = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)
    parts = [f"---\n{head}---", f"# {plain(title)}"]
    parts += [" · ".join(plain(fact) for fact in facts if fact)]
    for section in sections:
        parts += [f"## {section.title}", plain(section.comment)]
        parts += [_written(block) for block in section.blocks]
    parts.append(plain(f"{note} Written by fairdash {__version__}."))
    return "\n\n".join(filter(None, parts)) + "\n"


def _only_data(sections: Iterable[str]) -> bool:
    """Tell whether sections are those of a datasheet."""
    return "data" in (names := set(sections)) and names <= {"data", "definitions"}


def _written(block: Block) -> str:
    match block:
        case Words():
            return f"**{plain(block.text)}**" if block.finding else plain(block.text)
        case Cards():
            return "\n".join(map(_card, block.items))
        case Facts():
            lines = [f"- **{plain(k)}**: {plain(v)}" for k, v in block.items.items()]
            title = f"### {plain(block.title)}\n\n" if block.title else ""
            return title + "\n".join(lines)
        case Code():
            longest = max(map(len, re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"### {plain(block.title)}\n\n{fence}\n{block.text.strip()}\n{fence}"
        case Figure():
            words = " ".join(filter(None, [block.picture.headline, block.caption]))
            table = _written(block.table) if block.table else ""
            return "\n\n".join(filter(None, [plain(words), table]))
        case Table():
            return _table(block)


def _card(item: Kpi) -> str:
    note = f" ({plain(item.note)})" if item.note else ""
    return f"- **{plain(item.label)}**: {plain(item.value)}{note}"


def _table(table: Table) -> str:
    lines = [
        f"| {' | '.join(plain(' '.join(cell.split())) for cell in row)} |"
        for row in [table.header, *table.rows]
    ]
    rule = "|".join("---:" if number else "---" for number in table.numeric)
    body = "\n".join([lines[0], f"|{rule}|", *lines[1:]])
    parts = [f"### {plain(table.title)}", body, plain(table.caption)]
    return "\n\n".join(filter(None, parts))


_TITLES: dict[str, tuple[str, Callable[[_sections.Found], Sequence[Block]]]] = {
    "summary": ("What was found", _sections.summary),
    "local": ("Where the model is unfair", _sections.local),
    "tried": ("What was tried, and how the model was chosen", _sections.tried),
    "guaranteed": ("What is guaranteed", _sections.guaranteed),
    "corrected": ("What thresholds by group would change", _facts.corrected),
    "audited": ("Scores that were brought along", _facts.audited),
    "data": ("The data, without rows", _facts.data),
    "definitions": ("What the words mean", _facts.definitions),
    "reproduce": ("How to reproduce it", _facts.reproduce),
}


SECTION_TITLES = {name: title for name, (title, _) in _TITLES.items()}


SECTIONS = tuple(_TITLES)


SMALLEST_GROUP = 10


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report."""

    title: str
    facts: tuple[str, ...]  # data set, model, when the run was made
    sections: tuple[Section, ...]  # in the order asked for
    least: int  # fewest rows of a group that are shown
    # The model, the data set, and the model's metrics on test rows by name.
    results: Mapping[str, Any]

    @property
    def note(self) -> str:
        """What is not in it."""
        return (
            f"Groups of fewer than {self.least} rows are suppressed. No row of the "
            "data is in this file."
        )

    def to_html(self) -> str:
        """Return the report as one HTML page that loads nothing from elsewhere."""
        return to_html(self.title, self.facts, self.sections, self.note)

    def to_pdf(self) -> bytes:
        """Return the report as a PDF.

        Raises ValueError where no Chromium is installed that prints it.
        """
        return to_pdf(self.to_html())

    def to_markdown(self) -> str:
        """Return the report as a model card: Markdown with metadata, no figures."""
        return to_markdown(
            self.title, self.facts, self.sections, self.note, self.results
        )


def report(
    store: Store,
    run_id: str,
    *,
    sections: Sequence[str] = SECTIONS,
    comments: Mapping[str, str] | None = None,
    model: str | None = None,
    least: int = SMALLEST_GROUP,
    title: str | None = None,
    limits: Mapping[str, float] | None = None,
    thresholds: Thresholds = "fixed",
    inside: Collection[str] | None = None,
) -> Report:
    """Return the report of a run or a sweep.

    Its numbers, figures and sentences are those of the pages, from the same functions.
    Raises ValueError when there is no such run, model or section, or no model has
    finished.

    Parameters
    ----------
    run_id : str
        Of a run with at least one finished model.
    sections : sequence of str
        Which of `SECTIONS`, in the order they stand.
    comments : mapping of str to str, optional
        What to say under the title of a section, as plain text.
    model : str, optional
        Id or beginning of the label; by default the model that a sweep opens on, else
        the first that is not the plain one.
    least : int, default=10
        Subgroups in which a group has fewer rows are suppressed.
    title : str, optional
        By default the name of the run; of a datasheet, sections of data alone, that of
        the data set.
    limits : mapping of str to float, optional
        What a guarantee is asked for, as `fairdash.sweep.choose_certified` has it, of a
        sweep; without any there is no such section.
    thresholds, inside : optional
        Which thresholds are tried, and in which found subgroups a gap is limited, as
        `fairdash.audits.guarantee` has them.
    """
    comments = comments or {}
    check_whole("least", least, at_least=1)
    for name in [*sections, *comments]:
        if name not in _TITLES:
            message = f"There is no section {name!r} in a report"
            raise ValueError(f"{message}; there are {listing(SECTIONS)}.")
    silent = [name for name in comments if name not in sections]
    if silent:
        raise ValueError(f"The section {silent[0]!r} has a comment, and is not shown.")
    snapshot = store.snapshot(run_id, curves=False)
    found = _sections.Found(
        store,
        snapshot.run.dataset_id,
        least,
        snapshot,
        model,
        limits or {},
        thresholds,
        inside,
    )
    run, label = found.snapshot.run, found.model.label
    made = tuple(
        Section(name, words, blocks, comments.get(name, ""))
        for name, (words, make) in ((name, _TITLES[name]) for name in sections)
        if (blocks := make(found)) or name in comments
    )
    facts = (*found.local.facts(found.dataset.name, found.subgroups), label)
    when = utc(run.finished or run.created)
    if _only_data(sections):
        title, facts = title or found.dataset.name, (found.dataset.name,)
    results = {
        "model": label,
        "dataset": found.dataset.name,
        "metrics": found.local.row[list(_sections.MEASURED)].rename(_sections.MEASURED),
    }
    return Report(title or run.name, (*facts, when), made, least, results)


def score_report(
    store: Store, dataset_id: str, *, least: int = SMALLEST_GROUP
) -> Report:
    """Return the report of the scores that were brought along with a data set.

    It needs no run. Raises ValueError when there is no such data set, or it has none.
    """
    check_whole("least", least, at_least=1)
    found = _sections.FoundData(store, dataset_id, least)
    names = [score.words() for score in own_scores(store, dataset_id)]
    if not names:
        raise ValueError(
            f"{found.dataset.name} has no scores to report on. Give a column of scores "
            "its role on Data, or train a model."
        )
    sections = (
        Section("audited", SECTION_TITLES["audited"], _facts.audited(found)),
        Section("data", SECTION_TITLES["data"], _facts.data(found)),
    )
    facts = found.dataset.name, plural(found.dataset.n_rows, "row"), *names
    return Report(found.dataset.name, facts, sections, least, {})


@dataclass(frozen=True)
class Shown:
    """What `show` returns: a notebook draws it, `page` is its whole HTML page."""

    page: str

    def _repr_html_(self) -> str:
        """Return a frame with the page, which loads nothing from elsewhere."""
        return (
            f'<iframe title="fairdash" srcdoc="{escape(self.page)}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )


def show(found: Audit | Report | Picture, section: str | None = None) -> Shown:
    """Show an audit, a report or a figure in a notebook, as pages do.

    Parameters
    ----------
    section : str, optional
        Of a report, one of `fairdash.reports.SECTIONS`; by default all.

    Returns
    -------
    Shown
        With which a cell ends. It brings plotly.js along, 1.8 MB, and needs no network.

    Raises
    ------
    ValueError
        When the report has no such section.

    Examples
    --------
    >>> import fairdash
    >>> audit = fairdash.audit(
    ...     [0, 1, 0, 1] * 50, [0, 1, 1, 0] * 50, sensitive_features=["a", "b"] * 100
    ... )
    >>> audit.verdict in fairdash.show(audit).page
    True
    """
    if isinstance(found, Picture):
        sections = [Section("figure", "Figure", [Figure(found, "")])]
        return Shown(to_html(found.headline, [], sections, ""))
    if isinstance(found, Audit):
        rows = f"{count(found.n)} rows, 95% intervals"
        sections = [Section("audit", "Every measure by group", _blocks(found))]
        return Shown(to_html("Audit", [rows], sections, ""))
    sections = [one for one in found.sections if section in (None, one.name)]
    if not sections:
        raise ValueError(f"The report has no section {section!r}.")
    return Shown(to_html(found.title, found.facts, sections, found.note))


def notebook(made: Report, bundle: str = "fairdash-bundle.zip") -> str:
    """Return a Jupyter notebook that shows a report from a bundle beside it.

    It makes the report anew, in an empty home folder, from ``bundle``, the path of a
    file of `fairdash store export`; the comments of ``made`` stand above its sections.
    """
    cells = [_cell("markdown", f"# {made.title}\n\n{made.note}")]
    cells.append(_cell("code", _FIRST.format(bundle=bundle)))
    for section in made.sections:
        words = "\n\n".join(filter(None, [f"## {section.title}", section.comment]))
        cells.append(_cell("markdown", words))
        cells.append(_cell("code", f"fairdash.show(found, {section.name!r})"))
    cells += [_cell("markdown", "## Every model"), _cell("code", _LAST)]
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _cell(kind: str, text: str) -> dict[str, object]:
    cell: dict[str, object] = {"cell_type": kind, "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.splitlines(keepends=True)}


def _blocks(found: Audit) -> list[Block]:
    """Return the verdict of an audit, its table, and its figures."""
    table = found.table.rename(index=MEASURE_NAMES)
    shown = table.rename_axis("Measure").reset_index()
    shown = shown.rename(columns={"gap": "Gap", "ci_low": "Low", "ci_high": "High"})
    blocks: list[Block] = [
        Words(found.verdict, finding=True),
        Table("Every measure by group", shown),
    ]
    groups = tuple(dict.fromkeys(found.by_group["group"].astype(str)))
    if found.calibration is not None:
        blocks.append(
            Figure(plots.plot_calibration(found.calibration, groups=groups), "")
        )
    if found.local is not None:
        blocks.append(_local(found, found.local, groups))
    return blocks


def _local(found: Audit, local: pd.DataFrame, groups: tuple[str, ...]) -> Figure:
    """Return the gaps of the first measure inside subgroups."""
    measure = str(local["measure"].iloc[0])
    names = gap_names(measure)
    cells = local[local["measure"] == measure].rename(columns={"gap": names.gap})
    if measure == "selection_rate":
        cells.columns = cells.columns.str.replace("value_", names.value)
    overall = found.gaps.loc[found.gaps["measure"] == measure, "difference"].abs()
    model = {"label": "decisions", "colour_role": "own scores"}
    chance = float(cells["chance"].iloc[0])
    picture = plots.plot_local_di(
        cells.assign(label="decisions"),
        pd.DataFrame([{**model, names.overall: overall.max()}]),
        groups=groups,
        chance=chance,
        names=names,
    )
    words = f"{MEASURE_NAMES[measure]} by subgroup. Grey: up to {number(chance)}, what "
    return Figure(picture, f"{words}chance alone shows.")
