"""What the documents say is checked against the code and the tree."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
DOCS = ROOT / "docs"
TEXTS = sorted(
    {
        *ROOT.glob("*.md"),
        *(path for path in DOCS.glob("*.md") if path.name != "glossary.md"),
        *(ROOT / "sample_data").glob("*.md"),
        ROOT / "app.py",
        *(ROOT / "pages").glob("*.py"),
        *(ROOT / "fairdash").rglob("*.py"),
        *(ROOT / "fairdash").rglob("*.js"),
    }
)
# words of docs/glossary.md that are not used, as patterns, and what to write
AVOIDED = {
    r"(?i)\bmend(s|ed|ing)?\b": "fix",
    r"(?i)\bleft out\b|\bleav(e|es|ing) (\w+ )?out\b": "excluded",
    r"(?i)\bby lot\b": "at random",
    r"(?i)\bdecid(e|es|ed) (a|the|your|this) (new )?file\b": "apply thresholds",
    r"(?i)\bdecided file\b|\bfile decided\b": "apply thresholds",
    r"(?<![Dd]emographic )(?<! rate )\b[Pp]arity\b": "demographic parity",
    r"(?i)\bwhat does not count\b": "sensitive directions",
    r"(?i)\bat their word\b": "treats as true",
}
LINK = re.compile(r"!?\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")


@pytest.mark.parametrize(
    "name, page", [("method_table", "README.md"), ("public_table", "docs/data.md")]
)
def test_a_table_is_that_of_the_code(name, page):
    path = ROOT / "docs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / page).read_text()
    assert script.filled(text) == text, f"run `python docs/{name}.py`"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    targets = LINK.findall(path.read_text())
    missing = [t for t in targets if not (path.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("page", ["reliability.md", "security.md"])
def test_every_promise_names_a_test_that_exists(page):
    rows = re.findall(r"^\| (.+?) \| (`tests/.*?`) \|", (DOCS / page).read_text(), re.M)
    assert len(rows) > 12
    for promise, test in rows:
        path, name = test.strip("`").split("::")
        assert f"def {name}(" in (ROOT / path).read_text(), promise


def test_every_step_from_slider_to_formula_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    steps = re.findall(r"`(fairdash/[\w/.]+)::(\w+)`", text)
    assert len(steps) > 15
    for path, name in steps:
        source = (ROOT / path).read_text()
        assert re.search(rf"(def|class|function) {name}\b", source), f"{path}::{name}"


def test_the_code_that_the_glossary_names_is_there():
    code = "".join(path.read_text() for path in (ROOT / "fairdash").rglob("*.py"))
    rows = re.findall(
        r"^\|.*\|.*\| `([^`]+)` \|$", (DOCS / "glossary.md").read_text(), re.M
    )
    assert len(rows) > 25
    for name in rows:
        known = re.search(rf"\b{re.split(r'[. ]', name)[-1]}\b", code)
        assert known or (ROOT / "fairdash" / name).exists(), name


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_keep_to_the_glossary(path):
    text = " ".join(path.read_text().split())
    for words, instead in AVOIDED.items():
        found = re.search(words, text)
        near = text[max(0, found.start() - 40) : found.end() + 40] if found else ""
        assert found is None, f"write {instead} in: {near}"


def test_the_example_of_the_readme_runs(capsys):
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    exec(compile(example, "README.md", "exec"), {})
    worst, chance = map(float, capsys.readouterr().out.split())
    assert 0 < worst < 1
    assert 0 < chance < 1
