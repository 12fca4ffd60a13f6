"""A backup is made while its home is in use, and opens as a home with equal numbers."""

import json
import shutil
from contextlib import closing
from itertools import count
from threading import Event, Semaphore, Thread

import pytest
import sqlalchemy as sa
from filled_homes import content, fill, train
from toys import ROLES, people
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.datasets import Subgroups
from fairdash.store import StoreError, _backup, back_up, open_store
from fairdash.store._tables import Draft
from fairdash.store.server.users import USERS

USER = "0123456789abcdef"


def names(folder):
    return {
        path.relative_to(folder): path.stat().st_ino
        for path in folder.rglob("*")
        if path.is_file() and len(path.relative_to(folder).parts) > 2
    }


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backups" / "of today"


@pytest.fixture
def reopened(folder, monkeypatch):
    """A function that opens the backup as an operator without a server does."""

    def reopen():
        monkeypatch.delenv("FAIRDASH_DATABASE", raising=False)
        monkeypatch.delenv("FAIRDASH_FILES", raising=False)
        return closing(open_store(folder))

    return reopen


def test_a_backup_opens_as_a_home_with_equal_numbers(store, folder, reopened):
    run = fill(store)
    store.keep_monitor("daily", '{"name": "daily"}')
    data = store.datasets()[0].id
    store.keep_draft(data, Draft(ROLES, Subgroups(columns=("branch",)), 3))
    with closing(open_store(store.home / USERS / USER)) as user:
        fill(user, "theirs")
        expected = content(store), content(user)
        done = back_up(store, folder)
    assert (done.n_homes, done.n_new, done.damaged) == (2, 2 * 6, set())
    with reopened() as copy:
        draft = copy.draft(data)
        assert (content(copy), draft.version) == (expected[0], 3)
        assert content(copy)["models"][run, "first"][2][-1] == 1
        with closing(open_store(folder / USERS / USER)) as theirs:
            assert content(theirs) == expected[1]
            assert theirs.root == folder
    modes = {path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    assert modes == {0o600, 0o700}


class Worker(Thread):
    """A thread that adds tables, trains on them and deletes some of them."""

    def __init__(self, store):
        super().__init__()
        self.store = store
        self.over = Event()
        self.trouble = None
        self.rounds = Semaphore(0)

    def run(self):
        before = None
        try:
            for number in count():
                if self.over.is_set():
                    break
                table = self.store.add_frame(people(100, seed=number), f"{number}.csv")
                data = self.store.add_dataset(table, ROLES, f"{number}")
                train(self.store, data, f"{number} a", f"{number} b")
                if number % 4 == 3:
                    self.store.delete_dataset(before)
                before = data
                self.rounds.release()
        except Exception as error:
            self.trouble = error
            raise

    def wait(self):
        """Wait until a whole round has gone by from now on."""
        while self.rounds.acquire(blocking=False):
            pass
        for _ in range(2):  # the first had begun
            assert self.rounds.acquire(timeout=100)


def test_a_backup_beside_training_uploads_and_deletions_is_whole(
    store, folder, reopened, monkeypatch
):
    """No row of a backup lacks its file, whatever another thread does meanwhile.

    It trains between the first copy of the files and that of the database, and again
    before the files that came meanwhile are copied.
    """
    run = fill(store)
    worker = Worker(store)
    copy_database = _backup._copy_database

    def copy_in_the_midst(database, path):
        monkeypatch.setattr(_backup, "_copy_database", copy_database)  # but once
        worker.wait()
        copy_database(database, path)
        worker.wait()

    monkeypatch.setattr(_backup, "_copy_database", copy_in_the_midst)
    worker.start()
    try:
        backup = back_up(store, folder)
    finally:
        worker.over.set()
        worker.join()
    assert worker.trouble is None
    assert backup.damaged == set()
    with reopened() as copy:
        saved = content(copy)  # every file is read, and compared with its digest
        assert run in {record.id for record in saved["runs"]}
        assert len(saved["runs"]) >= 2
        assert {trial.status for trial, *_ in saved["models"].values()} >= {"finished"}


def test_what_is_deleted_during_a_backup_is_not_in_it(
    store, folder, reopened, monkeypatch
):
    """A deletion after the copy of the database makes it be copied again."""
    fill(store)
    copy_database = _backup._copy_database
    rounds = []

    def delete_after(database, path):
        copy_database(database, path)
        if not rounds:  # the first copies of files are gone as well
            store.remove(store.datasets()[0].id)
            shutil.rmtree(folder / "tables")
            shutil.rmtree(folder / "artifacts")
        rounds.append(path)

    monkeypatch.setattr(_backup, "_copy_database", delete_after)
    assert back_up(store, folder).damaged == set()
    assert len(rounds) == 2
    with reopened() as copy:
        assert copy.kept() == copy.runs() == []


def test_a_second_backup_copies_only_what_is_new(store, folder, reopened):
    fill(store)
    data = store.datasets()[0].id
    back_up(store, folder)
    before = names(folder)
    assert back_up(store, folder).n_new == 0
    assert names(folder) == before
    second = train(store, data, "second")
    store.delete_run(store.run_of("first").id)
    assert back_up(store, folder).n_new == 1
    after = names(folder)
    assert not {path for path in after if "first" in path.parts}  # deleted there, too
    common = before.keys() & after.keys()
    assert {path: before[path] for path in common} == {
        path: after[path] for path in common
    }
    with reopened() as copy:
        assert [run.id for run in copy.runs()] == [second]
        assert content(copy) == content(store)


@pytest.mark.parametrize("stage", ["_copy_database", "_mirror"])
def test_a_killed_backup_is_half_at_first_and_later_the_one_before(
    store, folder, reopened, monkeypatch, stage
):
    fill(store)
    with monkeypatch.context() as patch:
        patch.setattr(_backup, stage, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            back_up(store, folder)
    with pytest.raises(StoreError, match="half a backup"):
        open_store(folder)
    with pytest.raises(StoreError, match="half a backup"):
        open_store(folder / USERS / USER)
    assert not (folder / "store.db").exists()
    expected = content(store)
    back_up(store, folder)
    train(store, store.datasets()[0].id, "second")
    with monkeypatch.context() as patch:
        patch.setattr(_backup, stage, lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            back_up(store, folder)
    with reopened() as copy:
        assert content(copy) == expected
    (folder / "artifacts" / ".writing-killed").mkdir()
    back_up(store, folder)
    assert not list(folder.rglob(".writing-*"))
    with reopened() as copy:
        assert content(copy) == content(store)


def test_a_backup_that_dies_between_two_renames_goes_on(store, folder, monkeypatch):
    fill(store)
    back_up(store, folder)
    train(store, store.datasets()[0].id, "second")
    with monkeypatch.context() as patch:
        patch.setattr(_backup, "_delete_others", lambda *_: 1 / 0)  # database replaced
        with pytest.raises(ZeroDivisionError):
            back_up(store, folder)
    back_up(store, folder)
    digests = json.loads((folder / "backup.json").read_text())["databases"]
    assert [len(first) for first in digests.values()] == [1]


def test_damage_in_a_backup_is_found_and_mended_by_the_next(store, folder, reopened):
    fill(store)
    back_up(store, folder)
    (scores,) = folder.glob("artifacts/fi/first/scores.npy")
    whole = scores.read_bytes()
    scores.write_bytes(whole[:-1] + b"\x01")
    with reopened() as copy, pytest.raises(ValueError, match="of first is damaged"):
        copy.artifact("first").scores()
    scores.write_bytes(whole[:-4])
    assert back_up(store, folder).n_new == 1
    assert scores.read_bytes() == whole
    with open(folder / "store.db", "r+b") as database:
        database.truncate(20_000)
    with pytest.raises(ValueError, match="is not what was written"):
        back_up(store, folder)


def test_damage_in_the_home_is_named_and_the_rest_copied(home, store, folder):
    fill(store)
    shutil.rmtree(store.artifact("first again").folder)
    scores = store.artifact("first").folder / "scores.npy"
    scores.write_bytes(scores.read_bytes()[:-1] + b"\x01")
    done = CliRunner().invoke(app, ["store", "backup", str(folder)])
    assert done.exit_code == 1
    lines = done.stderr.splitlines()
    assert lines == [
        f"{home}/artifacts/fi/first is damaged or missing",
        f"{home}/artifacts/fi/first again is damaged or missing",
    ]
    assert (folder / "store.db").exists()


def test_what_is_deleted_before_it_is_copied_counts_as_no_copy(store, folder):
    run = fill(store)
    artifact = store.artifact("first").folder
    copy = folder / "artifacts" / "first"
    assert not store.files.is_copied(artifact, copy)
    store.delete_run(run)
    assert not store.files.is_copied(artifact, copy)
    with pytest.raises(FileNotFoundError):
        store.files.copy(artifact, copy)
    assert list(copy.parent.iterdir()) == []


def call(*arguments):
    done = CliRunner().invoke(app, ["store", "backup", *map(str, arguments)])
    assert "Traceback" not in done.output
    return done


def test_folders_that_take_no_backup_are_refused_in_a_sentence(home, store, tmp_path):
    fill(store)
    full = tmp_path / "full"
    full.mkdir()
    (full / "letter.txt").write_text("Dear")
    for folder, words in (
        (full, "holds other files and no backup"),
        (full / "letter.txt", "is a file"),
        (full / "letter.txt" / "below", "cannot be used"),
        (home, "lies in the home folder"),
        (home / "backup", "lies in the home folder"),
        (tmp_path, "holds the home folder"),
    ):
        done = call(folder)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert words in done.stderr
    done = call(tmp_path / "new", "--home", tmp_path / "nobody")
    assert (done.exit_code, "There is no home folder" in done.stderr) == (2, True)
    assert not (tmp_path / "nobody").exists()


def test_a_backup_that_was_used_as_a_home_or_is_of_another_is_left_alone(
    home, store, folder, tmp_path
):
    fill(store)
    assert call(folder).exit_code == 0
    refusal = pytest.raises(ValueError, match="a backup of another home")
    with closing(open_store(tmp_path / "other")) as another, refusal:
        back_up(another, folder)
    with closing(open_store(folder)) as used:
        assert call(folder).exit_code == 0  # it was looked at only
        used.delete_run(used.runs()[0].id)
    refused = call(folder)
    assert refused.exit_code == 2
    assert "was used as a home since" in refused.stderr
    with closing(open_store(folder)) as used:
        assert used.runs() == []


def test_a_full_disk_and_a_second_backup_at_once_are_said(
    store, folder, reopened, monkeypatch
):
    fill(store)
    expected = content(store)
    back_up(store, folder)
    train(store, store.datasets()[0].id, "second")
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(folder)._replace(free=10)
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(ValueError, match=r"backup needs .* has 10 B free"):
            back_up(store, folder)
    with monkeypatch.context() as patch:
        full = OSError(28, "No space left on device")
        patch.setattr(shutil, "copyfile", lambda *_: (_ for _ in ()).throw(full))
        with pytest.raises(ValueError, match=r"is full.*was there stands"):
            back_up(store, folder)
    with _backup._alone(folder), pytest.raises(ValueError, match="Another backup"):
        back_up(store, folder)
    with reopened() as copy:
        assert content(copy) == expected


def test_a_damaged_database_replaces_no_backup(home, store, folder, reopened):
    fill(store)
    back_up(store, folder)
    expected = content(store)
    with store.database.writing() as connection:
        connection.execute(sa.text("DELETE FROM alembic_version"))
    store.close()
    database = home / "store.db"
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"x" * (len(whole) - 4096))
    with pytest.raises(StoreError, match="damaged"):
        back_up(store, folder)
    with reopened() as copy:
        assert content(copy) == expected


def test_an_object_store_is_copied_into_the_folder(home, folder, reopened, tmp_path):
    address = f"file://{tmp_path}/objects"
    with closing(open_store(home, files=address)) as store:
        fill(store)
        expected = content(store)
        shutil.rmtree(home / "artifacts")  # copies of another machine's
        assert back_up(store, folder).damaged == set()
        assert back_up(store, folder).n_new == 0
    with reopened() as copy:
        assert content(copy) == expected
