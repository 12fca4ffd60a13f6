"""A wheel built from the checkout is the whole product, wherever it is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_SOURCES = shutil.ignore_patterns(".*_cache", ".venv", ".git", "build", "*.egg-info")
PYTHON = [sys.executable, "-m"]
# Reads a sample and runs every page as a browser's first visit does.
VISIT = """
import sys
from streamlit.testing.v1 import AppTest
import fairdash
from fairdash.datasets import SAMPLES, load_sample
assert fairdash.__file__.startswith(sys.argv[1]), fairdash.__file__
assert all(len(load_sample(name).frame) == SAMPLES[name].n_rows for name in SAMPLES)
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
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An empty folder into which the wheel was installed, built by way of an sdist."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = folder / "checkout"
    shutil.copytree(ROOT, checkout, ignore=NOT_SOURCES)
    run(*PYTHON, "build", "--no-isolation", "--outdir", str(folder), str(checkout))
    shutil.rmtree(checkout)
    (wheel,) = folder.glob("*.whl")
    where = ["--no-deps", "--no-index", "--target", str(folder / "installed")]
    run(*PYTHON, "pip", "install", "--quiet", *where, str(wheel))
    return folder / "installed"


@pytest.fixture
def elsewhere(installed, home, tmp_path):
    """How to run a process that finds nothing of the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return {"cwd": tmp_path, "env": environment}


def test_all_pages_and_samples_are_in_the_wheel(installed, elsewhere):
    visited = run(sys.executable, "-c", VISIT, str(installed), **elsewhere)
    pages = ["app.py", *sorted(page.name for page in ROOT.glob("pages/*.py"))]
    assert visited.splitlines() == pages
