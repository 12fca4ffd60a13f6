"""A wheel built from the checkout is the whole product, wherever it is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from toys import people_csv

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).parents[2]
NOT_SOURCES = shutil.ignore_patterns(
    ".*_cache", "__pycache__", ".venv", ".git", "build", "*.egg-info"
)
PYTHON = [sys.executable, "-m"]
# Reads a sample and runs every page as a browser's first visit does.
VISIT = """
import sys
from streamlit.testing.v1 import AppTest
import fairdash
from fairdash.datasets import SAMPLES, load_sample
assert fairdash.__file__.startswith(sys.argv[1]), fairdash.__file__
assert all(len(load_sample(name).frame) == SAMPLES[name].n_rows for name in SAMPLES)
from fairdash.audits import playground
scenes = playground.SCENES.values()
assert all(playground.shipped(scene.people(), "road") for scene in scenes)
from fairdash.reports._written import HERE
assert all((HERE / f"report.{kind}").is_file() for kind in ("html", "css", "js"))
app = AppTest.from_file(str(fairdash.APP_FOLDER / "app.py"), default_timeout=60).run()
for page in [None, *sorted(fairdash.APP_FOLDER.glob("pages/*.py"))]:
    if page:
        app.switch_page(f"pages/{page.name}").run()
    assert not app.exception, (page, app.exception)
    assert app.title or app.header, page
    print(page.name if page else "app.py")
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def install(what, folder):
    """Install a wheel, or what becomes one, with nothing from elsewhere."""
    offline = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    run(*PYTHON, "pip", "install", *offline, "--target", str(folder), str(what))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An empty folder into which the wheel was installed, built by way of an sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = folder / "checkout"
    shutil.copytree(ROOT, checkout, ignore=NOT_SOURCES)
    run(*PYTHON, "build", "--no-isolation", "--outdir", str(folder), str(checkout))
    shutil.rmtree(checkout)
    (wheel,) = folder.glob("*.whl")
    install(wheel, folder / "installed")
    return folder / "installed"


@pytest.fixture
def elsewhere(installed, home, tmp_path):
    """How to run a process that finds nothing of the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return {"cwd": tmp_path, "env": environment}


def test_all_pages_and_samples_are_in_the_wheel(installed, elsewhere):
    visited = run(sys.executable, "-c", VISIT, str(installed), **elsewhere).stdout
    pages = ["app.py", *sorted(page.name for page in ROOT.glob("pages/*.py"))]
    assert visited.splitlines() == pages


@pytest.fixture
def typed(installed, tmp_path):
    """A folder with the README's code and a file of planted mistakes."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (tmp_path / "readme.py").write_text("\n".join(blocks))
    shutil.copy(ROOT / "tests" / "core" / "typed.py", tmp_path)
    settings = {
        "extraPaths": [str(installed)],
        "typeCheckingMode": "standard",
        "enableTypeIgnoreComments": False,
        "reportMissingModuleSource": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    return tmp_path


def test_mypy_accepts_the_readme_and_finds_each_planted_mistake(installed, typed):
    environment = {**os.environ, "MYPYPATH": str(installed)}
    strict = ["mypy", "--strict", "--follow-imports", "silent", "readme.py", "typed.py"]
    run(*PYTHON, *strict, cwd=typed, env=environment)


def test_pyright_accepts_the_readme_and_finds_each_planted_mistake(typed):
    command = [*PYTHON, "basedpyright", "--level", "error", "--outputjson"]
    python = ["--pythonpath", sys.executable]
    done = subprocess.run([*command, *python], cwd=typed, capture_output=True)
    faults = json.loads(done.stdout)["generalDiagnostics"]
    result = {
        (Path(fault["file"]).name, fault["range"]["start"]["line"]) for fault in faults
    }
    lines = (typed / "typed.py").read_text().splitlines()
    planted = [i for i, line in enumerate(lines) if "  # type: ignore[" in line]
    assert len(planted) > 35
    assert result == {("typed.py", line) for line in planted}


OWN = (ROOT / "docs" / "methods.md").read_text().partition("## A method of your own")[2]
METHOD, MEASURE = re.findall(r"```python\n(.*?)```", OWN, re.S)
ENTRIES = "\n".join(re.findall(r"```toml\n(.*?)```", OWN, re.S))
PROJECT = f"""
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "fair-massaging"
version = "1.0"
{ENTRIES}
[project.entry-points."fairdash.estimators"]
bayes = "sklearn.naive_bayes:GaussianNB"
[tool.setuptools]
py-modules = ["fair_massaging", "wrong_yes"]
"""
SPEC = """
data:
  path: people.csv
  roles:
    target: hired
    positive: "yes"
    sensitive_feature: origin
    features: [age, skill, branch]
    subgroup_columns: [age]
methods:
  - {method: massaging, params: {amount: [0.0, 1.0]}}
  - {method: hardt, params: {estimator: bayes}}
"""
# Of models that fairdash can score again a run has arrays, of others the scores.
LOOK = """
import sys
import numpy as np
from streamlit.testing.v1 import AppTest
import fairdash
from fairdash.methods import CATALOG
from fairdash.metrics import measure_by_group
from fairdash.store import open_store
from fairdash.testing import check_method
assert fairdash.__file__.startswith(sys.argv[1])
assert CATALOG["massaging"].trade_off().name == "amount"
assert "bayes" in {p.name: p for p in CATALOG["hardt"].params}["estimator"].options
check_method(CATALOG["massaging"])
sys.path.append(sys.argv[2])
import tables
names = [cell for row in tables.methods() for cell in row if "massaging" in cell]
assert any("**Massaging** `massaging`" in name for name in names), names
rng = np.random.default_rng(0)
group, y, decided = (rng.integers(2, size=400) for _ in range(3))
table = measure_by_group("wrong_yes", y, decided, sensitive_features=group)
wrong = (decided == 1) & (y == 0)
expected = [wrong[group == k].mean() for k in (0, 1)]
np.testing.assert_allclose(table["value"], expected)
store = open_store()
(run,) = store.runs()
trials = store.snapshot(run.id).trials
for trial in trials:
    assert trial.status == "finished", trial
    arrays = store.artifact(trial.key).network()
    assert bool(arrays) == (trial.method == "massaging")
assert len(trials) == 3
store.close()
app = AppTest.from_file(str(fairdash.APP_FOLDER / "app.py"), default_timeout=60)
for page in ("2_Train", "5_Sweep"):
    app.query_params["run"] = run.id
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    words = " ".join(str(one.value) for one in [*app.markdown, *app.selectbox])
    assert "assaging" in words, words
"""


@pytest.fixture
def plugged(installed, elsewhere, tmp_path):
    """The same with a second wheel, of the example in the docs, and a broken one."""
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "fair_massaging.py").write_text(METHOD)
    (folder / "wrong_yes.py").write_text(MEASURE)
    install(folder, folder / "plugins")
    broken = folder / "plugins" / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\n")
    entry = "[fairdash.methods]\nno = nowhere:METHOD\n"
    (broken / "entry_points.txt").write_text(entry)
    path = os.pathsep.join([str(folder / "plugins"), str(installed)])
    return {**elsewhere, "env": elsewhere["env"] | {"PYTHONPATH": path}}


def test_a_method_and_a_measure_of_another_wheel_are_like_ours(
    installed, plugged, tmp_path
):
    assert len([line for line in METHOD.splitlines() if line.strip()]) < 40
    (tmp_path / "people.csv").write_bytes(people_csv())
    (tmp_path / "spec.yaml").write_text(SPEC)
    shell = "from fairdash.cli import main; main()"
    assert run(sys.executable, "-c", shell, "run", "spec.yaml", **plugged).stdout
    look = sys.executable, "-c", LOOK, str(installed), str(ROOT / "docs")
    text = run(*look, **plugged).stderr
    assert "'no' of nowhere:METHOD is excluded" in text
