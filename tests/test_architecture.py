"""The dependency rules of the house, checked by reading every import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENGINE = {"_validation", "datasets", "metrics", "methods", "postprocessing", "sweep"}
MAY_IMPORT = {
    "fairdash/_validation": set(),
    "fairdash/datasets": {"_validation"},
    "fairdash/metrics": {"_validation"},
    "fairdash/methods": {"_validation", "datasets", "metrics"},
    "fairdash/postprocessing": {"_validation", "datasets", "metrics"},
    "fairdash/sweep": ENGINE - {"sweep"},
    "fairdash/store": {"_validation", "datasets"},
    "fairdash/audits": {"_validation", "datasets", "metrics", "methods"}
    | {"sweep", "store"},
    "fairdash/plots": set(),
    "fairdash/jobs": ENGINE | {"store"},
    "fairdash/reports": ENGINE | {"store", "plots"},
    "fairdash/ui": ENGINE | {"store", "audits", "jobs", "plots", "reports"},
    "fairdash/cli": ENGINE | {"store", "audits", "jobs", "plots", "reports"},
    "pages": ENGINE | {"store", "jobs", "plots", "reports", "ui"},
    "app": ENGINE | {"store", "jobs", "plots", "reports", "ui"},
}
ONLY_IN = {
    "streamlit": ("fairdash/ui", "pages", "app", "fairdash/cli"),
    "torch": ("fairdash/methods",),
    "plotly": ("fairdash/plots",),
    "dask": ("fairdash/jobs",),
    "distributed": ("fairdash/jobs",),
    "sqlalchemy": ("fairdash/store",),
    "alembic": ("fairdash/store",),
}
SOURCES = [
    path.relative_to(ROOT)
    for folder in ("fairdash", "pages", "app.py")
    for path in sorted([*(ROOT / folder).rglob("*.py"), ROOT / folder])
    if path.suffix == ".py" and path.exists()
]


def imported_modules(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write absolute imports"
            if node.module == "fairdash":
                yield from (f"fairdash.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_imports_follow_the_house(path):
    here = path.with_suffix("").as_posix()
    folder = next((f for f in MAY_IMPORT if f"{here}/".startswith(f"{f}/")), None)
    for module in imported_modules(path):
        top, *rest = module.split(".")
        if top in ONLY_IN:
            assert here.startswith(ONLY_IN[top]), f"{path} may not import {top}"
        if folder and top == "fairdash" and rest and f"fairdash/{rest[0]}" != folder:
            if rest[0] == "__version__":
                continue
            assert rest[0] in MAY_IMPORT[folder], f"{path} may not import {module}"
            private = rest[0] != "_validation" and any(p[0] == "_" for p in rest)
            assert not private, f"{path}: {module} is private to its folder"


def test_every_source_belongs_to_a_room():
    rooms = (*MAY_IMPORT, "fairdash/__init__")
    strays = [
        str(path)
        for path in SOURCES
        if not f"{path.with_suffix('').as_posix()}/".startswith(
            tuple(f"{r}/" for r in rooms)
        )
    ]
    assert strays == []


def test_a_page_process_never_loads_torch():
    code = """
import sys
import fairdash.ui, fairdash.jobs, fairdash.sweep, fairdash.store, fairdash.plots
from fairdash.methods import CATALOG
assert CATALOG
assert "torch" not in sys.modules, "torch was imported"
assert "distributed" not in sys.modules, "dask.distributed was imported"
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
