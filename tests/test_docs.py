"""What the documents say is checked against the code and the tree."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
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


def test_the_example_of_the_readme_runs(capsys):
    (example,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    exec(compile(example, "README.md", "exec"), {})
    worst, chance = map(float, capsys.readouterr().out.split())
    assert 0 < worst < 1
    assert 0 < chance < 1
