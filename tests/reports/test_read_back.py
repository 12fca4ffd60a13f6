"""What is read back from every export is what was in the table."""

import csv
import html
import io
import json
import re
from contextlib import closing
from html.parser import HTMLParser

import numpy as np
import pytest
from hostile_texts import marked_in, marked_texts, read_back, without_spaces
from markdown_it import MarkdownIt
from toys import people, train_sweep
from typer.testing import CliRunner

from fairdash._escaping import as_csv, visible
from fairdash.audits import portable, tables
from fairdash.cli import app
from fairdash.datasets import Roles
from fairdash.reports import adverse_pack, ll144_pack, report
from fairdash.store import open_store

AGE, SKILL, BRANCH, ORIGIN, HIRED, YES, NO, *VALUES = marked_texts()
GROUPS = VALUES[:4]
BRANCHES = VALUES[4:]
LARGE = BRANCHES[::5]  # so few that figures draw the gaps inside of them
COLUMNS = {
    "age": AGE,
    "skill": SKILL,
    "branch": BRANCH,
    "origin": ORIGIN,
    "hired": HIRED,
}
KNOWN = {*marked_texts()}
OURS = re.compile(r"<br>|</?b>|<span style=\"color:#\w+\">|</span>|<extra></extra>")


def marked_table(n=2400, seed=0, branches=BRANCHES):
    frame = people(n, seed)
    rng = np.random.default_rng(seed + 1)
    half = rng.integers(0, 2, n)
    frame["origin"] = np.array(GROUPS)[2 * (frame["origin"] == "there") + half]
    frame["branch"] = rng.choice(branches, n)
    frame["hired"] = frame["hired"].map({"yes": YES, "no": NO})
    return frame.rename(columns=COLUMNS)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("marked") / "home"


@pytest.fixture(scope="module")
def run(home):
    roles = Roles(
        target=HIRED,
        positive=YES,
        sensitive_feature=ORIGIN,
        features=(AGE, SKILL, BRANCH),
        subgroup_columns=(BRANCH,),
    )
    with closing(open_store(home)) as store:
        frame = marked_table(branches=LARGE)
        return train_sweep(store, frame, "People", roles, [BRANCH])


@pytest.fixture
def store(home, run):
    with closing(open_store(home)) as opened:
        yield opened


class Page(HTMLParser):
    """What a browser shows of a page: texts, what attributes say, and figures."""

    def __init__(self, text):
        super().__init__()
        self.words, self.figures, self._tag = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self._tag = tag if tag != "script" else dict(attributes).get("data-figure")
        self.words += [value for _, value in attributes if value]

    def handle_endtag(self, tag):
        self._tag = ""

    def handle_data(self, text):
        if self._tag in (None, "style", "pre"):  # a script, or code to be run
            return
        if str(self._tag).startswith("figure-"):
            self.figures.append(json.loads(text))
        else:
            self.words.append(text)

    def read(self):
        """Return the texts of the table that somebody reads."""
        spaced = (re.sub(r"[ \t\n\f\r]+", " ", words) for words in self.words)
        texts = {without_spaces(text) for words in spaced for text in marked_in(words)}
        drawn = {
            without_spaces(text)
            for part in strings(self.figures)
            for text in marked_in(html.unescape(OURS.sub(" ", part)))
        }
        return texts, drawn


def strings(part):
    match part:
        case str():
            yield part
        case dict():
            yield from strings(list(part.values()))
        case list():
            for value in part:
                yield from strings(value)


def joined(texts):
    return {without_spaces(visible(text)) for text in texts}


def read_of_markdown(card):
    """Return the texts of the table that a reader of Markdown shows."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    texts = set()
    for token in parser.parse(card):
        parts = [part.content for part in token.children or () if part.content]
        words = re.sub(r"[ \n]+", " ", "".join(parts)).replace("\u2060", "")
        texts |= {read_back(text) for text in marked_in(words)}
    return texts


def test_every_text_of_a_report_is_one_of_the_table(store, run):
    texts, drawn = Page(report(store, run).to_html()).read()
    assert texts <= joined(KNOWN)
    assert drawn <= joined(KNOWN)
    assert texts >= joined({ORIGIN, BRANCH, *GROUPS, *LARGE})
    assert drawn >= joined({*GROUPS, *LARGE})


def test_every_text_of_a_model_card_is_one_of_the_table(store, run):
    texts = read_of_markdown(report(store, run).to_markdown())
    assert {ORIGIN, BRANCH, *GROUPS} <= texts <= KNOWN


@pytest.mark.parametrize("write", [ll144_pack, adverse_pack])
def test_every_text_of_a_pack_is_one_of_the_table(write):
    frame = marked_table()
    question = tables.TableQuestion(groups=(ORIGIN,), decision=f"{HIRED}={YES}")
    source = tables.Source("people.csv", "0", len(frame), "")
    document = write(frame, question, source)
    texts, _ = Page(document.to_html()).read()
    assert joined(GROUPS) <= texts <= joined(KNOWN)
    assert {*GROUPS} <= read_of_markdown(document.to_markdown()) <= KNOWN


def test_every_text_of_a_csv_file_is_one_of_the_table(store, run):
    (data,) = store.datasets()
    for table in (
        portable.predictions(store, run),
        store.table(data.table_sha256),
    ):
        rows = csv.reader(io.StringIO(as_csv(table)))
        wanted = [list(table), *table.itertuples(index=False, name=None)]
        for cells, row in zip(rows, wanted, strict=True):
            for cell, value in zip(cells, row, strict=True):
                if isinstance(value, str):
                    # an apostrophe marks a part as text, and not as a formula
                    assert re.sub(r"(^|[;\t\n])'", r"\1", cell) == value


@pytest.fixture
def printed(tmp_path):
    """What `fairdash audit` prints of the table, and writes as JSON and as a page."""
    file = tmp_path / "people.csv"
    marked_table().to_csv(file, index=False)
    out = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    command = ["audit", str(file), "--decision", f"{HIRED}={YES}", "--group", ORIGIN]
    command += ["--subgroup", BRANCH, "--out", str(out), "--report", str(page)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    return done.output, json.loads(out.read_text()), page.read_text()


def test_every_text_that_a_command_prints_is_one_of_the_table(printed):
    output, _, page = printed
    content = {read_back(text) for text in marked_in(output)}
    assert {*GROUPS} <= content <= KNOWN
    assert all(mark == "\n" or mark.isprintable() for mark in output)
    texts, drawn = Page(page).read()
    assert joined(GROUPS) <= texts <= joined(KNOWN)
    assert drawn <= joined(KNOWN)


def test_every_text_of_json_is_one_of_the_table(printed):
    _, numbers, _ = printed
    texts = {text for part in strings(numbers) for text in marked_in(part)}
    assert {*GROUPS, *BRANCHES} <= texts <= KNOWN
