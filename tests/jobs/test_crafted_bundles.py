"""A crafted bundle is refused by a sentence: nothing of it is kept, nothing read.

Whoever imports is a user of a server that has other users, and files of its own.
"""

import io
import re
import sqlite3
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest
from cases import sampled
from conftest import FUZZ
from crafted.bundles import opened, packed_run, written
from crafted.facts import FILES
from crafted.fields import VALUES, Field, changed, may_be_imported, places
from crafted.members import MEMBERS

from fairdash.jobs import unpack_runs
from fairdash.store import User, open_store

pytestmark = pytest.mark.timeout(120 if FUZZ == 1 else 0)
OTHER_RUN = "0123456789ab"
SECRET = "gilded-otter-8841"
AT_EACH = 8 if FUZZ > 1 else 1  # values at each field; the next has another one
LONGEST = 1_000  # characters of a refusal


class Server:
    """A home folder of two users; one of them imports what the tests give."""

    def __init__(self, root):
        self.root, self._numbers = root, count()
        self.other = open_store(User.of({"sub": "other"}).home(root))
        self.store = None
        self.begin()

    def begin(self):
        """Let another user import from now on."""
        if self.store is not None:
            self.store.close()
        user = User.of({"sub": f"importer {next(self._numbers)}"})
        self.store = open_store(user.home(self.root))
        self._before = self._kept()

    def import_(self, content):
        file = io.BytesIO(content)
        file.name = "bundle.zip"
        return unpack_runs(self.store, file).runs

    def fault(self, content):
        """Return what is wrong with how a bundle is refused, or ""."""
        try:
            self.import_(content)
            faults = ["imported"]
        except ValueError as error:
            faults = [*unfit(str(error)), *self._leaks(str(error))]
        except Exception as error:
            faults = [f"{type(error).__name__}: {error}"[:100]]
        if self._kept() != self._before:
            faults.append("something was kept")
            self.begin()
        return ", ".join(faults)

    def _leaks(self, words):
        """Return what a refusal says of files that the bundle does not hold."""
        texts = Path("/etc/passwd").read_text() + SECRET + str(self.root)
        return [text for text in re.findall(r"[^\s:]{12,}", texts) if text in words]

    def _kept(self):
        """Return all files by their digests, and all rows of the databases.

        Empty files that processes lock are none.
        """
        files = {}
        for path in sorted(path for path in self.root.rglob("*") if path.is_file()):
            if path.name == "store.db":
                with closing(sqlite3.connect(path)) as database:
                    files[path] = list(database.iterdump())
            elif not path.name.startswith("store.db") and path.suffix != ".lock":
                files[path] = sha256(path.read_bytes()).digest()
        return files


def unfit(words):
    """Return why a refusal is no sentence for a page."""
    if not 10 < len(words) <= LONGEST:
        return [f"{len(words)} characters"]
    return [mark for mark in ("http", "\n", "Traceback") if mark in words]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The members and the facts of a bundle that is as it should be."""
    folder = tmp_path_factory.mktemp("bundle")
    with closing(open_store(folder / "home")) as store:
        packed_run(store, folder / "bundle.zip")
    return opened(folder / "bundle.zip")


@pytest.fixture(scope="module")
def server(tmp_path_factory, bundle):
    """A server whose other user has the same run, and that has secrets."""
    folder = tmp_path_factory.mktemp("server")
    secrets = folder / ".streamlit" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text(f"cookie_secret,{SECRET}\n{SECRET},1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        server = Server(folder / "home")
        members, facts = bundle
        theirs = {**facts, "runs": [{**facts["runs"][0], "id": OTHER_RUN}]}
        file = folder / "theirs.zip"
        file.write_bytes(written(members, theirs))
        unpack_runs(server.other, file)
        server.begin()
        yield server
        server.store.close()
        server.other.close()


@pytest.fixture(scope="module")
def variations(bundle, server):
    """Every field of the facts with some of the values: what is changed, and whether.

    All of them by ``make fuzz``.
    """
    _, facts = bundle
    user = server.other.home.name
    replacements = {"": user, "id": OTHER_RUN, "table": f"../users/{user}"}
    calls = []
    for i, place in enumerate(places(facts)):
        for j in range(AT_EACH):
            field = Field(place, VALUES[(i + j * 3) % len(VALUES)])
            new = changed(facts, field, replacements)
            if new is not None:
                calls.append((field, new, may_be_imported(facts, field, new)))
    return calls


def test_the_bundle_is_imported_as_it_is(bundle, server):
    (run,) = server.import_(written(*bundle))
    trials = server.store.snapshot(run).trials
    assert [trial.status for trial in trials] == ["failed", "finished"]
    server.begin()


def test_a_bundle_with_one_field_changed_is_refused_whole(bundle, server, variations):
    members, _ = bundle
    refused = [(field, facts) for field, facts, fits in variations if fits is False]
    assert len(refused) >= 100
    faults = {
        str(field): fault
        for field, facts in refused
        if (fault := server.fault(written(members, facts)))
    }
    assert faults == {}


def test_a_change_that_decides_nothing_is_imported(bundle, server, variations):
    members, _ = bundle
    fitting = [(field, facts) for field, facts, fits in variations if fits]
    assert len(fitting) >= 8
    for field, facts in fitting[: None if FUZZ > 1 else 3]:
        (run,) = server.import_(written(members, facts))
        assert server.store.run(run).status == "failed", field  # as one of its models
        server.begin()  # as another user, whose store is empty


@pytest.mark.parametrize("name", sampled(MEMBERS | FILES, 3))
def test_a_bundle_with_a_crafted_member_is_refused_whole(bundle, server, name):
    assert server.fault((MEMBERS | FILES)[name](*bundle)) == ""
