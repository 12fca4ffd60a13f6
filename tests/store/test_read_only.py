"""A home folder that cannot be written is read, and says so where it is written."""

import os
import shutil
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from toys import people_csv
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.jobs import engine, finished_file
from fairdash.jobs import unpack_runs as unpack
from fairdash.jobs.engine import engine_lives
from fairdash.store import StoreError, open_store

NOBODY = 65534


@contextmanager
def read_only(home):
    """Take the right to write from whoever runs this, root too."""
    for path in [home, *home.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if not os.getuid():
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        if not os.getresuid()[2]:
            os.setresuid(0, 0, 0)
        home.chmod(0o700)


@pytest.fixture
def folder():
    """A folder that everybody may enter, which those of pytest are not."""
    made = Path(tempfile.mkdtemp(prefix="read only %20?"))
    made.chmod(0o777)
    yield made
    for path in made.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(made)


def call(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.mark.parametrize("live", [False, True], ids=["closed", "open elsewhere"])
def test_what_is_kept_can_be_listed_reported_and_shown(folder, live):
    home, page = folder / "home", folder / "report.html"
    store = open_store(home)
    (run,), _ = unpack(store, finished_file("hiring"))
    if not live:
        store.close()
    commands = [
        ("data", "list", "--home", home),
        ("report", run, "--out", page, "--home", home),
    ]
    before = [call(*command).output for command in commands]  # and loads modules
    page.unlink()
    with read_only(home):
        assert [call(*command).output for command in commands] == before
        assert page.exists()
        with engine.attach(home):  # as an app does
            engine.ensure_engine(home)
            assert not engine_lives(home)
        with closing(open_store(home)) as opened:
            assert [one.id for one in opened.runs()] == [run]
            with pytest.raises(StoreError, match="can be read but not written"):
                opened.ask_cancel(run)
            with pytest.raises(OSError):
                opened.add_table(people_csv(60), "people.csv")
    store.close()
