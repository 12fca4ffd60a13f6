"""A file made to stop a server is read, or refused by a sentence, and costs it little.

They are kept by a process like the one that serves pages, whose processor time and
memory count; what reads them for it has limits of its own.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from select import select

import pytest
from conftest import FUZZ

from crafted import TABLES

pytestmark = pytest.mark.timeout(300 if FUZZ == 1 else 0)
FILES = [name for name, case in TABLES.items() if FUZZ > 1 or not case.heavy]
PLAIN = b"age,sex\n31,w\n32,m\n"
PATIENCE = 90 if FUZZ == 1 else 1_000  # seconds for a file, beside other tests
MOST_SECONDS, MOST_BYTES = 0.2, 50 << 20  # of the process that serves pages
LONGEST, MOST_CHOICES = 1_000, 1_000  # letters, tables to choose from


class Serving:
    """A process that keeps files, one after the other; another one once it hangs."""

    def __init__(self, folder):
        self.folder, self._process = folder, None

    def keep(self, name, content, patience=PATIENCE):
        """Return what `crafted.serving.kept` says of a file; None if it hangs."""
        if self._process is None:
            self._begin()
        path = self.folder / name
        path.write_bytes(content)
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        ready, _, _ = select([self._process.stdout], [], [], patience)
        answer = self._process.stdout.readline() if ready else ""
        path.unlink()
        if not answer:
            self.end()
            return None
        return json.loads(answer)

    def end(self):
        self._process.kill()
        self._process.communicate()
        self._process = None

    def _begin(self):
        script = str(Path(__file__).with_name("serving.py"))
        self._process = subprocess.Popen(
            [sys.executable, script, str(self.folder / "home")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.keep("plain.csv", PLAIN, patience=200)  # what is loaded once


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of every file, by name."""
    serving = Serving(tmp_path_factory.mktemp("crafted"))
    yield {name: serving.keep(name, TABLES[name].make()) for name in FILES}
    serving.end()


@pytest.mark.parametrize("name", FILES)
def test_a_crafted_file_is_read_or_refused_by_a_sentence(outcomes, name):
    outcome = outcomes[name]
    assert outcome is not None, "the process hung, or was ended"
    assert outcome["fault"] == ""
    assert re.search(TABLES[name].outcome, outcome["words"]), outcome["words"]
    assert len(outcome["words"]) <= LONGEST
    assert outcome["choices"] <= MOST_CHOICES


def test_a_crafted_file_costs_the_serving_process_little(outcomes):
    costly = {
        name: (outcome["seconds"], outcome["grown"])
        for name, outcome in outcomes.items()
        if outcome  # of one that hung the test above says so
        and (outcome["seconds"] > MOST_SECONDS or outcome["grown"] > MOST_BYTES)
    }
    assert costly == {}


def test_there_are_crafted_files_of_every_kind():
    kinds = {Path(name).suffix for name in TABLES}
    assert kinds == {".xlsx", ".gz", ".zip", ".csv", ".parquet"}
