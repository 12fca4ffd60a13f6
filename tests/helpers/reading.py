"""What a page says and offers, as plain text."""

import json
import zlib
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd

MINUS = "−"


def check_schema(content, name):
    """Raise an error unless JSON fits a schema that the docs publish."""
    schemas = Path(__file__).parents[2] / "docs/deploy/schemas"
    jsonschema.validate(content, json.loads((schemas / f"{name}.json").read_text()))


def button(page, label):
    """Return the one button called ``label``."""
    (match,) = [button for button in page.button if button.label == label]
    return match


def widget(page, kind, label):
    """Return the first widget of a kind that is called ``label``."""
    return next(item for item in page.get(kind) if item.label == label)


def labels(page):
    """Return the labels of all buttons."""
    return [button.label for button in page.button]


def numbers(page):
    """Return the value of every KPI by its label."""
    return {metric.label: metric.value for metric in page.metric}


def words(page):
    """Return everything the page says."""
    texts = [*page.title, *page.header, *page.markdown, *page.caption]
    boxes = [*page.error, *page.warning, *page.info]
    sentences = [str(text.value) for text in [*texts, *boxes]]
    return "\n".join([*sentences, *(box.proto.title for box in boxes)])


def figures(page):
    """Return the number of figures."""
    return len(page.get("plotly_chart"))


def sent(page, component):
    """Return what a component of the browser was sent, None where it is not."""
    for element in page.get("bidi_component"):
        if element.proto.component_name == f"fairdash.{component}":
            content = element.proto.json or element.proto.bytes
            packed = isinstance(content, bytes) and content[:1] == b"\x78"
            return json.loads(zlib.decompress(content) if packed else content)
    return None


def place_of(page):
    """Return the place of the setting that the linked pictures start at."""
    bodies = [element.proto.body for element in page.get("html")]
    (words,) = [body for body in bodies if body.startswith("<i ")]
    return int(words.split(">")[1].removesuffix("</i"))


def setting_of(page):
    """Return the setting where the sliders of a sweep start, by their titles."""
    summary = sent(page, "linked")["summary"]
    setting = summary["settings"][place_of(page)]
    axes = summary["methods"][setting["method"]]["axes"]
    pairs = zip(axes, setting["at"], strict=True)
    return {axis["title"]: axis["values"][at] for axis, at in pairs}


def drawn(page, place=0):
    """Return a figure as Plotly reads it: its ``data`` and ``layout``."""
    return json.loads(page.get("plotly_chart")[place].proto.spec)


class ReportPage(HTMLParser):
    """The parts of a report: tables by name, texts of elements, figures, tags."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.headings, self.tags, self.figures = {}, [], [], []
        self.texts = {}
        self._open, self._table = [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in ("meta", "link", "br"):
            self._open.append((tag, attributes))
        if tag == "table":
            self._table = self.tables[attributes["aria-label"]] = []
        if tag == "tr":
            self._table.append([])
        if tag in ("td", "th"):
            self._table[-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag, f"</{tag}> closes another element"

    def handle_data(self, text):
        tag, attributes = self._open[-1] if self._open else ("", {})
        self.texts[tag] = self.texts.get(tag, "") + text
        if tag in ("td", "th"):
            self._table[-1][-1] += text
        if tag in ("h1", "h2", "h3"):
            self.headings[-1] = (tag, text)
        if tag == "script" and "data-figure" in attributes:
            self.figures.append(json.loads(text))

    def table(self, name):
        header, *rows = self.tables[name]
        return pd.DataFrame(rows, columns=header).set_index(header[0])


def value(cell):
    """Return the number that a cell begins with."""
    first = cell.split()[0].replace(MINUS, "-").replace(",", "")
    return np.nan if first == "–" else float(first)
