"""Scripts of the folder ``docs``, as modules."""

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def tables() -> ModuleType:
    """Return ``docs/tables.py``, which writes tables from the code."""
    return _script("tables")


def planes() -> ModuleType:
    """Return ``docs/make_planes.py``, which draws methods in the plane."""
    return _script("make_planes")


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script
