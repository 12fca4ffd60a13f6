"""A backup becomes a home again: whole, or not at all, and in place of nothing."""

import shutil
from contextlib import closing

import pytest
from filled_homes import content, fill
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.store import StoreError, _backup, back_up, open_store, restore
from fairdash.store.server.users import USERS

USER = "0123456789abcdef"


@pytest.fixture
def backup(store, tmp_path, monkeypatch):
    """A backup of a home with a user, and what both answer with."""
    fill(store)
    store.keep_monitor("daily", '{"name": "daily"}')
    folder = tmp_path / "backup"
    with closing(open_store(store.home / USERS / USER)) as user:
        fill(user, "theirs")
        expected = content(store), content(user)
        back_up(store, folder)
    monkeypatch.delenv("FAIRDASH_DATABASE", raising=False)
    monkeypatch.delenv("FAIRDASH_FILES", raising=False)
    return folder, expected


def call(folder, home):
    done = CliRunner().invoke(app, ["store", "restore", str(folder), "--home", home])
    assert "Traceback" not in done.output
    return done


def opened(home):
    """Return everything that a home and its user answer with."""
    with (
        closing(open_store(home)) as server,
        closing(open_store(home / USERS / USER)) as user,
    ):
        return content(server), content(user)


def test_a_restored_home_answers_as_the_one_that_was_backed_up(backup, tmp_path):
    folder, expected = backup
    home = tmp_path / "new" / "home"
    done = call(folder, home)
    assert done.exit_code == 0, done.stderr
    assert "2 homes, 12 new items" in done.stdout
    assert opened(home) == expected
    assert not {"backup.json", "backup.lock"} & {path.name for path in home.iterdir()}
    modes = {path.stat().st_mode & 0o777 for path in home.rglob("*")}
    assert modes == {0o600, 0o700}
    # It is a home as any: used, backed up, and the backup is as it was.
    with closing(open_store(home)) as store:
        store.delete_run(store.runs()[0].id)
        back_up(store, tmp_path / "next")
    assert opened(folder) == expected


def test_a_restore_that_was_killed_is_no_home_and_goes_on(
    backup, tmp_path, monkeypatch
):
    folder, expected = backup
    home = tmp_path / "home again"
    with monkeypatch.context() as patch:
        patch.setattr(_backup, "_copy_database", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            restore(folder, home)
    with pytest.raises(StoreError, match="half a backup"):
        open_store(home)
    assert restore(folder, home).damaged == set()
    assert opened(home) == expected


def test_nothing_is_restored_over_a_home_or_from_what_is_no_backup(
    backup, home, tmp_path, monkeypatch
):
    folder, _ = backup
    new = tmp_path / "new home"
    for source, target, words in (
        (folder, home, "is not empty"),
        (home, new, "holds no backup"),
        (tmp_path / "nothing", new, "holds no backup"),
        (folder, folder / "inside", "lies in"),
    ):
        done = call(source, target)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), words
        assert words in done.stderr
        assert not new.exists()
    monkeypatch.setenv("FAIRDASH_DATABASE", "postgresql+psycopg://nobody/none")
    with pytest.raises(ValueError, match="FAIRDASH_DATABASE is set"):
        restore(folder, new)
    monkeypatch.delenv("FAIRDASH_DATABASE")
    with closing(open_store(folder)) as used:
        used.delete_run(used.runs()[0].id)
    with pytest.raises(ValueError, match="was used as a home since"):
        restore(folder, new)
    assert not new.exists()


def test_damage_in_a_backup_is_named_and_the_rest_restored(backup, tmp_path):
    folder, _ = backup
    (scores,) = folder.glob("artifacts/fi/first/scores.npy")
    scores.write_bytes(scores.read_bytes()[:-1] + b"\x01")
    home = tmp_path / "new home"
    done = call(folder, home)
    assert done.exit_code == 1
    assert done.stderr == f"{folder}/artifacts/fi/first is damaged or missing\n"
    with closing(open_store(home)) as store:
        assert len(store.runs()) == 1
        with pytest.raises(ValueError, match="of first is damaged"):
            store.artifact("first").scores()


def test_a_full_disk_leaves_no_home(backup, tmp_path, monkeypatch):
    folder, _ = backup
    home = tmp_path / "new home"
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(shutil, "copyfile", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(ValueError, match="is full"):
        restore(folder, home)
    with pytest.raises(StoreError, match="half a backup"):
        open_store(home)
