"""Sections as one HTML page, with Plotly inside and nothing loaded from elsewhere."""

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from fairdash import __version__
from fairdash.plots import as_json, palette, plotly_script
from fairdash.reports._blocks import Figure, Section

HERE = Path(__file__).parent
# of base 85, none of which means anything to HTML
_IN_HTML = bytes.maketrans(b"<&>", b",.:")


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
