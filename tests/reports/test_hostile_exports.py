"""Names that try to be markup, formulas or code are text in all that leaves."""

import ast
import csv
import io
import os
import re
import shutil
import subprocess
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from markdown_it import MarkdownIt
from reading import ReportPage
from toys import people, train_sweep

from fairdash._escaping import as_csv
from fairdash.audits import portable
from fairdash.datasets import Roles
from fairdash.reports import portable_spec, report
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, python_script

EVIL = "evil.invalid"
LINK = f'<a href="http://{EVIL}/">x</a> <span style="position:fixed">y</span>'
IMAGE = f"<img src=x onerror=alert(1)> ![x](http://{EVIL}/i.png)"
TICKS = "`` ``` ` </script><script>alert(1)</script> ]]> --> */ ''' \"\"\" {{7*7}} %{x}"
LINES = (
    f"a\r- b\n===\n\n    code\n\n# head\n> quote\n1. one\n<b onclick=x>\n[l]: {EVIL}"
)
FORMULA = "=cmd|' /C calc'!A0"
HIDDEN = "\ufeff@SUM(1)\x1b[31m\x07\x0b\u2028import os\u202e\u2066&lt;img src=x&gt;"
LONG = f"-2+3+{'x' * 300}\\"
GROUPS = [LINK, f"{FORMULA} {IMAGE}", f"{TICKS} {LINES}", f"{HIDDEN} {LONG}"]
BRANCHES = [f"{IMAGE} {LINK}", f"+{LONG} {TICKS}", f"{FORMULA} {HIDDEN} {LINES}"]
COLUMNS = {
    "age": f"age {HIDDEN}",
    "skill": f"@skill {TICKS}",
    "branch": f"={LINK} {IMAGE}",
    "origin": f"-origin {LINK} {LINES}",
    "hired": f"+hired {TICKS} {FORMULA}",
}
NAME = f"{FORMULA} {IMAGE} {LINK} {TICKS} {HIDDEN} {LINES} {LONG}"
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def hostile(n=1500, seed=0):
    frame = people(n, seed)
    rng = np.random.default_rng(seed + 1)
    half = rng.integers(0, 2, n)
    frame["origin"] = np.array(GROUPS)[2 * (frame["origin"] == "there") + half]
    frame["branch"] = rng.choice(BRANCHES, n)
    return frame.rename(columns=COLUMNS)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "home"


@pytest.fixture(scope="module")
def run(home):
    """The run of a sweep, none of whose names is harmless."""
    roles = Roles(
        target=COLUMNS["hired"],
        positive="yes",
        sensitive_feature=COLUMNS["origin"],
        features=(COLUMNS["age"], COLUMNS["skill"], COLUMNS["branch"]),
        subgroup_columns=(COLUMNS["branch"],),
    )
    with closing(open_store(home)) as store:
        return train_sweep(store, hostile(), NAME, roles, [COLUMNS["branch"]])


@pytest.fixture
def store(home, run):
    with closing(open_store(home)) as opened:
        yield opened


def assert_page_is_text(page):
    """No link, image, script or handler of a name; in figures no link and no style."""
    document = ReportPage(page)
    for tag, attributes in document.tags:
        assert tag not in ("img", "iframe", "object", "form", "base", "link")
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#")[0] == "#"
        assert {"src", "srcdoc"} & attributes.keys() == set()
    kinds = [expected.get("type") for tag, expected in document.tags if tag == "script"]
    assert kinds.count(None) <= 1  # the one that draws
    assert len(document.figures) > 0
    house = r'</?(?:br|b|i|extra|span)>|<span style="color:#\w+">'
    for text in texts(document.figures):
        assert "<" not in re.sub(house, "", text), text
        assert TURNS.search(text) is None
    shown = "".join(text for tag, text in document.texts.items() if tag != "pre")
    assert EVIL in shown
    assert TURNS.search(shown.replace("\n", "")) is None


def texts(part):
    match part:
        case str():
            yield part
        case dict():
            yield from texts(list(part.values()))
        case list():
            for value in part:
                yield from texts(value)


def assert_markdown_is_text(card):
    _, _, body = card.split("---\n", 2)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    drawn = {"link_open", "image", "html_inline", "html_block", "code_block", "hr"}
    assert not kinds & {*drawn, "blockquote_open", "ordered_list_open"}
    heads = {t.content for t in tokens if t.type == "inline"} & {"head", "a"}
    assert heads == set()
    words = "".join(t.content for t in tokens if t.type == "inline")
    assert EVIL in words
    assert TURNS.search(words.replace("\n", "")) is None


def assert_no_formula(text, delimiter=","):
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    for cell in [cell for row in rows for cell in row]:
        bare = re.sub("^[\\s\x00-\x1f\u200b-\u200f\u2060\ufeff]+", "", cell)
        if bare[:1] in tuple("=+-@") and bare:
            float(cell)  # else a formula
    return rows


def test_a_report_is_text(store, run):
    assert_page_is_text(report(store, run).to_html())


def test_a_model_card_is_text(store, run):
    assert_markdown_is_text(report(store, run).to_markdown())


def test_tables_of_a_run_hold_no_formula(store, run):
    (data,) = store.datasets()
    for table in (
        store.snapshot(run).table(),
        portable.predictions(store, run),
        store.table(data.table_sha256),
    ):
        rows = assert_no_formula(as_csv(table))
        assert len(rows) == len(table) + 1  # no text begins a row


SEPARATORS = {"comma": "44", "tab": "9", "semicolon": "59", "all": "44/59/9"}
ATTACKS = [
    "=1+1", "x;=1+1", "x\t=1+1", "x\n=1+1", 'x;"=1+1', "\u200b=1+1", ";\ufeff=1+1",
    "\t=1+1", ' "=1+1', "x,=1+1", '"";=1+1', "x;\n=1+1", "＝1+1", "x;﹦1+1", "@SUM(1)",
    "=HYPERLINK(\"http://evil.invalid\")", 'x;=HYPERLINK("http://evil.invalid")',
]  # fmt: skip


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A function that opens CSV text in LibreOffice; it returns formulas and sheet."""
    program = shutil.which("soffice")
    if program is None and os.environ.get("CI") != "true":
        pytest.skip("LibreOffice is not installed")
    folder = tmp_path_factory.mktemp("office")
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"

    def read(text, separators):
        (folder / "table.csv").write_bytes(text.encode())
        read_as = f"--infilter=CSV:{separators},34,76,1"
        command = [program, profile, "--headless", "--convert-to", "fods", read_as]
        command += ["--outdir", str(folder), str(folder / "table.csv")]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        sheet = (folder / "table.fods").read_text()
        return re.findall('table:formula="([^"]*)"', sheet), sheet

    return read


@pytest.mark.parametrize(
    "separators",
    sampled([pytest.param(value, id=name) for name, value in SEPARATORS.items()], 2),
)
def test_a_spreadsheet_opens_the_tables_without_a_formula(
    store, run, office, separators
):
    (data,) = store.datasets()
    attacks = pd.DataFrame({"n": -1.5, "first": ATTACKS, "=1+1": ATTACKS[::-1]})
    tables = [
        attacks,
        attacks[["first", "n"]],
        store.snapshot(run).table(),
        portable.predictions(store, run).head(60),
        store.table(data.table_sha256).head(60),
    ]
    formulas, sheet = office("".join(map(as_csv, tables)), separators)
    assert formulas == []
    assert "HYPERLINK" in sheet
    if separators == SEPARATORS["comma"]:
        assert 'office:value="-1.5"' in sheet  # a number is still one
    if separators == SEPARATORS["semicolon"]:
        formulas, _ = office(attacks.to_csv(index=False), separators)
        assert formulas != []  # as pandas writes it


def test_the_configuration_and_the_script_say_what_they_are_for(store, run):
    spec = portable_spec(store, run)
    assert SweepSpec.from_yaml(spec.to_yaml()) == spec
    script = python_script(spec)
    plain = spec.model_copy(
        update={"data": spec.data.model_copy(update={"name": "People"})}
    )
    ours, theirs = (ast.parse(text).body for text in (script, python_script(plain)))
    assert [type(node) for node in ours] == [type(node) for node in theirs]
    assert TURNS.search(script.replace("\n", "")) is None
    assert all(line.isprintable() for line in script.split("\n"))
    assigned = {
        node.targets[0].id: node.value for node in ours if isinstance(node, ast.Assign)
    }
    content = ast.literal_eval(assigned["spec"].args[0])
    assert SweepSpec.model_validate(content) == spec
