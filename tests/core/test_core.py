"""The core: four libraries, little to load, and errors that name an extra."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import fairdash
from fairdash.datasets.reading import read

HERE = Path(__file__).parent
pytestmark = pytest.mark.core


def run(*arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_audits_measures_thresholds_and_searches_need_the_core_only():
    run("-W", "error::ResourceWarning", str(HERE / "only_core.py"))


def test_looking_up_audit_loads_neither_scikit_learn_nor_an_extra():
    code = "import sys, fairdash; fairdash.audit; print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run("-c", code).split()}
    heavy = {"sklearn", "pydantic", "yaml", "sqlalchemy", "streamlit", "torch", "typer"}
    assert not loaded & heavy


def test_the_package_offers_twenty_five_names():
    assert len(fairdash.__all__) == 25
    assert set(fairdash.__all__) <= set(dir(fairdash))


CELLS = (
    'whole,number,flag,text,gap\n1,1.5,True,a,1\n-2,2,False,"b, c",\n3,1e3,True,?,NA\n'
)


@pytest.mark.parametrize("content", [CELLS, "a;b\n1,5;2\n2,25;3\n", "a\tb\nx\t1\n"])
def test_a_csv_file_reads_the_same_without_pyarrow(content, monkeypatch):
    pytest.importorskip("pyarrow")
    usual = fairdash.read_table(content.encode(), name="table.csv")
    monkeypatch.setattr(read, "is_installed", lambda library: False)
    plain = fairdash.read_table(content.encode(), name="table.csv")
    pd.testing.assert_frame_equal(plain, usual)
