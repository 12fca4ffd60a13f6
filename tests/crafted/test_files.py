"""A file made to stop a server is read, or refused by a sentence, and costs it little.

A process like the one that serves pages takes them the whole way: it keeps them, loads
them, guesses roles and shows them on Data. Its processor time and memory count, above
those of a plain table of as many rows and columns; what reads a file for it has limits
of its own.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from select import select

import pytest
from cases import sampled
from conftest import FUZZ

from crafted import TABLES
from crafted.plain import REFUSED, plain
from fairdash.datasets import reading

pytestmark = pytest.mark.timeout(1_200 if FUZZ == 1 else 0)
FILES = [name for name, case in TABLES.items() if FUZZ > 1 or not case.heavy]
PATIENCE = 300 if FUZZ == 1 else 1_000  # seconds for a file, beside other tests
MOST_SECONDS, MOST_BYTES = 0.3, 60 << 20  # above a plain table
ROUNDED = 1_000  # rows: of fewer the plain table has a hundred
LONGEST, MOST_CHOICES = 1_000, 1_000  # letters, tables to choose from


class Serving:
    """A process that opens files, one after the other; another one once it hangs."""

    def __init__(self, folder):
        self.folder, self._process = folder, None
        self._plain = {}

    def costs_above_plain(self, outcome):
        """Return seconds and bytes above those of a plain file of the shape."""
        shape = outcome["shape"] and tuple(outcome["shape"])
        if shape and shape[0] < ROUNDED:
            shape = 100, shape[1]
        if shape not in self._plain:
            content = plain(*shape) if shape else REFUSED
            self._plain[shape] = self.open("plain.csv", content)
        usual = self._plain[shape]
        return tuple(outcome[cost] - usual[cost] for cost in ("seconds", "grown"))

    def open(self, name, content, patience=PATIENCE):
        """Return what `crafted.serving.opened` says of a file; None if it hangs."""
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
            [sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"FAIRDASH_HOME": str(self.folder / "home")},
        )
        for n_rows in (101, 102):  # what is loaded once
            self.open("first.csv", plain(n_rows, 3), patience=200)


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """A process to open files in."""
    process = Serving(tmp_path_factory.mktemp("crafted"))
    yield process
    process.end()


@pytest.fixture(scope="module")
def outcomes(serving, request):
    """What became of every file that this session asks for, by name."""
    of_this_file = [item for item in request.session.items if item.path == request.path]
    cases = [item.callspec for item in of_this_file if hasattr(item, "callspec")]
    names = {case.params.get("name") for case in cases}
    return {
        name: serving.open(name, TABLES[name].make()) for name in FILES if name in names
    }


@pytest.mark.parametrize("name", sampled(FILES, 6))
def test_a_crafted_file_is_read_or_refused_by_a_sentence(outcomes, name):
    outcome = outcomes[name]
    assert outcome is not None, "the process hung, or was ended"
    assert outcome["fault"] == ""
    assert re.search(TABLES[name].outcome, outcome["words"]), outcome["words"]
    assert len(outcome["words"]) <= LONGEST
    assert outcome["choices"] <= MOST_CHOICES


def test_a_crafted_file_costs_the_serving_process_little(serving, outcomes):
    costly = {}
    for name, outcome in outcomes.items():
        if outcome is None:  # the test above says so
            continue
        seconds, grown = serving.costs_above_plain(outcome)
        if seconds > MOST_SECONDS or grown > MOST_BYTES:
            costly[name] = seconds, grown
    assert costly == {}


def test_there_are_crafted_files_of_every_kind():
    kinds = {Path(name).suffix for name in TABLES}
    assert kinds >= {".xlsx", ".ods", ".gz", ".zip", ".zst", ".feather", ".arrow"}
    untested = [
        reader.kind
        for reader in reading.all_readers()
        if kinds.isdisjoint(reader.suffixes)
    ]
    assert untested == [], "write crafted files of these kinds in tests/crafted"
