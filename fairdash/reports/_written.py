"""The two forms of a report: a page that needs nothing else, and a model card."""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from fairdash import __version__
from fairdash._escaping import as_json, as_markdown, visible
from fairdash._wording import Kpi, sentences
from fairdash.linked import script as linked_script
from fairdash.linked import styles as linked_styles
from fairdash.plots import theme
from fairdash.reports import _blocks as blocks

HERE = Path(__file__).parent
# Three letters of base 85 mean something to HTML; base 85 has no use for these.
_IN_HTML = bytes.maketrans(b"<&>", b",.:")


def to_html(
    title: str, facts: Sequence[str], sections: Sequence[blocks.Section], note: str
) -> str:
    """Return the page; whatever names hold, they stay text."""
    template = _environment().get_template("report.html")
    script = (HERE / "report.js").read_text()
    kinds = {type(block) for section in sections for block in section.blocks}
    # Scripts of figures are large: a page without any stays small.
    plotly = _packed_plotly() if blocks.Figure in kinds else ""
    moving = ""
    moving_style = ""
    if blocks.Pictures in kinds:
        moving = _linked_script()
        moving_style = linked_styles()
    # The page allows these scripts by their digests, and no other one.
    hashes = [_hash(text) for text in (script, theme.plotly_script(), moving)]
    themes = {"light": theme.palette("light"), "dark": theme.palette("dark")}
    return template.render(
        title=title,
        facts=[fact for fact in facts if fact],
        sections=sections,
        note=note,
        version=__version__,
        style=Markup((HERE / "report.css").read_text()),
        script=Markup(script),
        themes=Markup(as_json(themes)),
        plotly=Markup(plotly),
        moving=Markup(moving),
        moving_style=Markup(moving_style),
        hashes=hashes,
    )


def _environment() -> Environment:
    """Return the templates, in which every text is escaped and made visible."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible_text,
    )
    environment.filters["figure_json"] = _figure_json
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode()
    return environment


def _visible_text(value: Any) -> Any:
    # Not a subclass of str: Markup is ours, and escaped already.
    if type(value) is str:
        return visible(value)
    return value


def _linked_script() -> str:
    """Return the script of linked pictures and what starts it here: one module."""
    return f"{linked_script()}\n{(HERE / 'report_linked.js').read_text()}"


def _figure_json(figure: Any) -> Markup:
    return Markup(as_json(json.loads(theme.figure_json(figure))))


@cache
def _packed_plotly() -> str:
    # Without a time in it, the same report has the same bytes.
    packed = gzip.compress(theme.plotly_script().encode(), 9, mtime=0)
    return base64.b85encode(packed).translate(_IN_HTML).decode()


def _hash(script: str) -> str:
    """Return the digest of a script as a content security policy writes it."""
    digest = sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def to_markdown(
    title: str, facts: Sequence[str], sections: Sequence[blocks.Section], note: str
) -> str:
    """Return sections as Markdown; whatever names hold, they stay text."""
    parts = [f"# {as_markdown(title)}"]
    parts.append(" · ".join(as_markdown(fact) for fact in facts if fact))
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [_written(block) for block in section.blocks]
    parts.append(as_markdown(f"{note} Written by fairdash {__version__}."))
    return "\n\n".join(filter(None, parts)) + "\n"


def _written(block: blocks.Block) -> str:
    match block:
        case blocks.Words():
            text = as_markdown(block.text)
            return f"**{text}**" if block.finding else text
        case blocks.Cards():
            return "\n".join(map(_card, block.items))
        case blocks.Facts():
            lines = [
                f"- **{as_markdown(term)}**: {as_markdown(meaning)}"
                for term, meaning in block.items.items()
            ]
            title = f"### {as_markdown(block.title)}\n\n" if block.title else ""
            return title + "\n".join(lines)
        case blocks.Code():
            # A fence is longer than any row of backticks inside it.
            longest = max(map(len, re.findall("`+", block.text)), default=0)
            fence = "`" * max(3, longest + 1)
            title = as_markdown(block.title)
            return f"### {title}\n\n{fence}\n{block.text.strip()}\n{fence}"
        case blocks.Figure():
            words = sentences(f"{block.picture.headline}.", block.caption)
            table = _written(block.table) if block.table else ""
            return "\n\n".join(filter(None, [as_markdown(words), table]))
        case blocks.Table():
            return _table(block)
        case blocks.Pictures():
            return ""  # its numbers stand in the table of all settings


def _card(item: Kpi) -> str:
    line = f"- **{as_markdown(item.label)}**: {as_markdown(item.value)}"
    if item.note:
        line += f" ({as_markdown(item.note)})"
    return line


def _table(table: blocks.Table) -> str:
    header, *rows = [
        f"| {' | '.join(as_markdown(cell) for cell in row)} |"
        for row in [table.header, *table.rows]
    ]
    # Numbers are aligned to the right.
    rule = "|".join("---:" if number else "---" for number in table.numeric)
    body = "\n".join([header, f"|{rule}|", *rows])
    parts = [f"### {as_markdown(table.title)}", body, as_markdown(table.caption)]
    return "\n\n".join(filter(None, parts))
