"""Drafts and monitors, on one machine and on two that share a Postgres."""

from contextlib import closing
from shutil import copytree

import pytest
from toys import ROLES

from fairdash.datasets import Subgroups
from fairdash.store import Draft, User, back_up, open_store
from fairdash.store._documents import DocumentFiles

ANN = User.of({"sub": "ann"})
FILE = "sqlite://"  # a home whose database is a file
DRAFT = Draft(ROLES, Subgroups(columns=("branch",)), 3)


@pytest.fixture(params=["server", "user"])
def machines(request, postgres, tmp_path, monkeypatch):
    """Stores of one home on two machines, which share nothing but a Postgres."""
    folders = [tmp_path / "here", tmp_path / "there"]
    if request.param == "user":
        folders = [ANN.home(folder) for folder in folders]
    here, there = (open_store(folder) for folder in folders)
    with closing(here), closing(there):
        yield here, there


def test_machines_of_one_database_share_drafts_and_monitors(machines):
    here, there = machines
    assert there.draft("abc") is None
    assert there.monitors() == []
    there.drop_draft("abc")
    here.keep_draft("abc", Draft(ROLES, Subgroups(), 2))
    here.keep_draft("abc", DRAFT)
    here.keep_monitor("Wörk/../1", "first")
    here.keep_monitor("Wörk/../1", "second")
    here.keep_monitor("b", "other")
    assert there.draft("abc") == DRAFT
    assert there.monitor("Wörk/../1") == "second"
    assert sorted(there.monitors()) == ["other", "second"]
    there.delete_monitor("b")
    there.drop_draft("abc")
    assert here.draft("abc") is None
    assert here.monitors() == ["second"]
    with pytest.raises(ValueError, match="There is no monitor 'b'"):
        here.delete_monitor("b")


def test_files_of_an_earlier_version_move_into_the_database_once(machines, tmp_path):
    here, there = machines
    there.keep_monitor("daily", "newer")
    kept = DocumentFiles(here.home)
    with closing(open_store(tmp_path / "earlier", FILE)) as earlier:
        earlier.keep_monitor("daily", "older")
        earlier.keep_monitor("weekly", "week")
        earlier.keep_draft("abc", DRAFT)
    for kind in ("monitors", "drafts"):
        copytree(tmp_path / "earlier" / kind, here.home / kind)
    assert sorted(here.monitors()) == ["newer", "week"]
    assert there.draft("abc") == DRAFT
    assert kept.all("monitors") == kept.all("drafts") == {}
    here.delete_monitor("weekly")
    assert there.monitors() == ["newer"]


def test_a_backup_of_a_database_has_its_drafts_and_monitors(
    machines, tmp_path, monkeypatch
):
    here, there = machines
    there.keep_monitor("daily", "seen")
    there.keep_draft("abc", DRAFT)
    back_up(here, tmp_path / "backup")
    monkeypatch.delenv("FAIRDASH_DATABASE")
    with closing(open_store(tmp_path / "backup")) as copy:
        assert copy.monitors() == ["seen"]
        assert copy.draft("abc") == DRAFT
    there.delete_monitor("daily")
    back_up(here, tmp_path / "backup")
    with closing(open_store(tmp_path / "backup")) as copy:
        assert copy.monitors() == []
