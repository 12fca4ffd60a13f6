"""What the documents say is checked against the code and the tree."""

import doctest
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import documents
import numpy as np
import pandas as pd
import pytest
import typer
import yaml
from markdown_it import MarkdownIt
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from toys import people_csv, specification, train_sweep

import fairdash
from fairdash.cli import app
from fairdash.datasets import Cut, Roles, encode, split
from fairdash.store import open_store
from fairdash.sweep import SweepSpec, benchmark_specs

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
DOCS = ROOT / "docs"
MAKEFILE = (ROOT / "Makefile").read_text()
EXAMPLES = [p for p in (ROOT / "fairdash").rglob("*.py") if ">>> " in p.read_text()]
LINK = re.compile(r"!?\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")


def test_a_table_is_that_of_the_code():
    script = documents.tables()
    for page in script.PAGES:
        text = (DOCS / page).read_text()
        assert script.filled(page) == text, "run `python docs/tables.py`"


def test_the_readme_quotes_only_what_was_measured():
    parsed = MarkdownIt().parse((ROOT / "README.md").read_text())
    prose = " ".join(token.content for token in parsed if token.type == "inline")
    quoted = set(
        re.findall(r"(?<!Python )(?<![\w.-])(\d*\.\d+|\d+ ?(?:%|times))", prose)
    )
    folders = (DOCS / "results", DOCS / "measured")
    pages = [page.read_text() for folder in folders for page in folder.glob("*.md")]
    assert [figure for figure in quoted if figure not in " ".join(pages)] == []


def test_links_lead_somewhere_and_scripts_are_there():
    for path in DOCUMENTS:
        text = path.read_text()
        links = LINK.findall(text)
        assert [t for t in links if not (path.parent / t).exists()] == [], path
        scripts = set(re.findall(r"\bpython ([\w/]+\.py)", text)) - {"script.py"}
        assert [name for name in scripts if not (ROOT / name).exists()] == [], path


@pytest.mark.parametrize("page", ["reliability.md", "security.md"])
def test_every_promise_names_a_test_that_exists(page):
    rows = re.findall(r"^\|(.+?)\|(`tests/.*?`)\|", (DOCS / page).read_text(), re.M)
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


def test_every_recipe_names_files_and_tests_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipes = text.partition("## How to add")[2].partition("## Rules")[0]
    kinds = re.findall(r"^\*\*(A[n]? [^*]+)\*\*", recipes, re.M)
    assert {
        "A method",
        "A page",
        "A question",
        "A measure",
        "A post-processing method",
        "A format",
        "A check of a table",
    } <= set(kinds)
    named = re.findall(r"`((?:fairdash|tests|docs|pages)/[\w/.]+)`", recipes)
    assert len(named) > 20
    pages = set(named) - {"pages/14_Coin.py"}  # written by who follows the recipe
    assert [name for name in pages if not (ROOT / name).exists()] == []


def test_the_code_that_the_glossary_names_is_there():
    code = "".join(path.read_text() for path in (ROOT / "fairdash").rglob("*.py"))
    rows = re.findall(
        r"^\|.*\|.*\| `([^`]+)` \|$", (DOCS / "glossary.md").read_text(), re.M
    )
    assert len(rows) > 25
    for name in rows:
        defined = re.search(rf"\b{re.split(r'[. ]', name)[-1]}\b", code)
        assert defined or (ROOT / "fairdash" / name).exists(), name


def blocks(path, *kinds):
    """Return the fenced blocks of a page whose language is one of these."""
    parsed = MarkdownIt().parse(path.read_text())
    fences = [token for token in parsed if token.type == "fence"]
    return [fence.content for fence in fences if fence.info.strip() in kinds]


def test_every_configuration_is_read(tmp_path):
    for path in DOCUMENTS:
        for code in blocks(path, "yaml"):
            content = yaml.safe_load(code)
            assert content
            if "tables" in content:
                (tmp_path / "benchmark.yaml").write_text(code)
                assert len(benchmark_specs(tmp_path / "benchmark.yaml")) == 2
            elif "methods" in content:  # of a table that may be the reader's
                whole = {"data": {"sample": "loans"}, **content}
                SweepSpec.from_yaml(yaml.safe_dump(whole))


def test_every_command_and_its_options_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        line
        for path in DOCUMENTS
        for code in blocks(path, "sh")
        for line in code.replace("\\\n", " ").splitlines()
    ]
    files = r"(?<=[ =])[\w/.]+\.(?:csv|json|onnx|parquet|yaml|zip)\b"
    for name in re.findall(files, "\n".join(lines)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for line in lines:
        program, *words = shlex.split(line, comments=True) or [""]
        if program == "make":
            assert re.search(rf"(?m)^{words[0]}:", MAKEFILE), line
        command = typer.main.get_command(app)
        while program == "fairdash" and hasattr(command, "get_command"):
            name, *words = words
            command = command.get_command(None, name)
            assert command is not None, f"there is no command {name}"
        if program == "fairdash":
            command.make_context("it", list(words))


@pytest.fixture(scope="module")
def documented(tmp_path_factory):
    """What the pages speak of and do not make themselves, by the names they use."""
    rng = np.random.default_rng(0)
    n = 400
    names = ["sex", "race", "relationship"]
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(20, 60, n),
            "education": rng.integers(1, 17, n),
            "hours_per_week": rng.integers(10, 60, n),
            "sex": rng.choice(["Female", "Male"], n),
            "race": rng.choice(["Black", "White", "white", "Other"], n),
            "relationship": rng.choice(["Husband", "Wife", "Unmarried"], n),
            "origin": rng.choice(["here", "there"], n),
            "decile": rng.integers(1, 11, n),
        }
    )
    years = table["age"] + 8 * table["education"]
    table["income"] = (200 * years + 4_000 * rng.normal(size=n)).round()
    table["income"] += 50_000 - table["income"].median()
    roles = Roles(
        target="income",
        positive=Cut(sign=">", value=50_000),
        sensitive_feature="origin",
        features=("age", "education", "hours_per_week", *names),
    )
    home = tmp_path_factory.mktemp("docs")
    (home / "people.csv").write_bytes(people_csv())
    text = specification(home / "people.csv").to_yaml()
    store = open_store(home)
    run = train_sweep(store, table, "Census", roles, ("sex",))
    dataset_id = store.snapshot(run).run.dataset_id
    dataset = store.dataset(dataset_id)
    frame = dataset.frame[list(roles.features)]
    y = dataset.y
    words = make_column_transformer((OneHotEncoder(), names), remainder="passthrough")
    pipeline = make_pipeline(words, LogisticRegression(max_iter=2_000)).fit(frame, y)
    train, calibration, test = split(dataset, 0)
    encoded = encode(dataset, train)
    X = encoded.X
    groups = dataset.sensitive_features
    guessed = np.where(rng.random(n) < 0.9, groups, "here")
    embedded = rng.normal(size=(n, 4))
    p = pipeline.predict_proba(frame)[:, 1]
    yield {
        "fairdash": fairdash,
        **{"store": store, "run": run, "text": text},
        **{"table": table, "roles": roles, "dataset": dataset},
        **{"dataset_id": dataset_id, "X": X, "y": y, "groups": groups},
        **{"calibration": calibration, "test": test, "p": p, "margins": 2 * p - 1},
        **{"pipeline": pipeline, "classifier": LogisticRegression().fit(X, y)},
        **{"feature_names": encoded.feature_names, "pair_id": np.arange(n) // 2},
        **{"X_other": X[::-1], "comparable": groups == groups[::-1]},
        **{"embedded": embedded, "embedded_counterfactual": embedded + 0.1},
        "names": list("abcd"),
        "sample": pd.DataFrame({"race": groups, "guessed_race": guessed}),
        **{"decisions": p > 0.5, "guessed": guessed},
    }
    store.close()


ALONE = {"README.md", "data_scientist.md"}  # have a test of their own
ALONE |= {"CONTRIBUTING.md"}  # outlines
PAGES = [path for path in DOCUMENTS if path.name not in ALONE]
PAGES = [path for path in PAGES if blocks(path, "python")]


@pytest.mark.filterwarnings("ignore:Setting an? (value|item)")  # within fairlearn
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_block_of_python_runs(
    path, documented, monkeypatch, tmp_path, finished_sweep
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRDASH_HOME", str(documented["store"].home))
    names = dict(documented)
    for code in blocks(path, "python"):
        code = code.replace("RUN_ID", documented["run"])
        # fewer draws and models than a reader wants: the calls are the same
        code = code.replace("n_boot=100", "n_boot=2").replace("size=20", "size=2")
        if 'finished_file("loans")' in code:  # its home is there already: no unpacking
            home = tmp_path / "finished"
            finished_sweep("loans", home)
            code = code.replace("mkdtemp()", repr(str(home)))
        exec(compile(code, path.name, "exec"), names)


def test_the_tutorial_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAIRDASH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = {}
    for code in blocks(DOCS / "start" / "data_scientist.md", "python"):
        exec(compile(code, "data_scientist.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert "hired" in lines[0]
    assert "North depot" in lines[0]
    accuracy, gap = map(float, lines[1].split())
    assert 0.5 < accuracy < 1
    assert 0 <= gap < 0.5
    assert lines[2] == "True"
    assert not (tmp_path / "home").exists()


def test_the_api_page_names_what_can_be_imported():
    names = re.findall(r"^::: (\S+)$", (DOCS / "start" / "api.md").read_text(), re.M)
    assert len(names) > 40
    for name in names:
        room, _, what = name.rpartition(".")
        assert getattr(importlib.import_module(room), what).__doc__, name


@pytest.mark.packaging
def test_the_website_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocstrings_handlers.python")
    config = str(DOCS / "deploy" / "mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--config-file", config, "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    page = (tmp_path / "start" / "api" / "index.html").read_text()
    assert 'id="fairdash.metrics.local_di"' in page
    assert 'id="fairdash.store.Store"' in page  # as every public name
    assert "min_size" in page  # of its docstring
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_of_docstrings_give_what_they_say(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed


def test_the_example_of_the_readme_runs(capsys):
    (example,) = blocks(ROOT / "README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    numbers, verdict = capsys.readouterr().out.split("\n", 1)
    worst, chance = map(float, numbers.split())
    assert verdict.startswith("Female is approved")
    assert 0 < worst < 1
    assert 0 < chance < 1


def test_the_citation_names_the_version_its_date_and_its_authors():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == fairdash.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", cited["date-released"])
    assert all(author["name"] for author in cited["authors"])
    assert all(len(work["authors"]) > 1 for work in cited["references"])


@pytest.mark.parametrize("publish", [False, True])
def test_results_are_published_by_a_flag_alone(publish, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location(
        "reproduce", ROOT / "benchmarks" / "reproduce.py"
    )
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    published = tmp_path / "published"
    published.mkdir()
    (published / "ramp.json").write_text("{}")
    calls = []
    table = script.Table((), lambda out: [["head"], ["one"]])
    monkeypatch.setattr(script, "RESULTS", published)
    monkeypatch.setattr(script, "PAPERS", {"ramp": {"table 1": table}})
    monkeypatch.setattr(
        script.subprocess, "run", lambda *words, **_: calls.append(words)
    )
    words = ["ramp", "--data", str(tmp_path), "--out", str(tmp_path / "build")]
    flag = ["--publish"] if publish else []
    monkeypatch.setattr(sys, "argv", ["reproduce.py", *words, "--seeds", "2", *flag])
    script.main()
    assert ((published / "ramp.json").read_text() != "{}") is publish
    assert (len(calls) == 1) is publish  # the pages are written
    assert (tmp_path / "build" / "ramp.md").exists() is not publish
