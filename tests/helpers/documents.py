"""Scripts of the folder ``docs``, as modules."""

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def tables() -> ModuleType:
    """Return ``docs/tables.py``, which writes tables from the code."""
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script
