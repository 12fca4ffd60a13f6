"""The schemas under docs are those of the types that the command line uses."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCHEMAS = runpy.run_path(str(DOCS / "deploy/schemas/write.py"))["schemas"]()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_what_its_script_writes(name):
    assert (DOCS / "deploy/schemas" / f"{name}.json").read_text() == SCHEMAS[name]
