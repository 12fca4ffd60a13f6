"""Kills in the midst, damaged files, odd paths: nothing is lost, nothing made up."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, Question, people_csv

from fairdash.store import StoreError, open_store

# Deletes a run in a process that dies before it has told the database.
DYING = """
import os, sys
from pathlib import Path
import sqlalchemy
from fairdash.store import open_store
store = open_store(Path(sys.argv[1]))
sqlalchemy.Connection.commit = lambda _: os._exit(9)
store.delete_run(sys.argv[2])
"""


@pytest.fixture
def artifact(store):
    result = store.artifact("abc")
    result.write(
        row={"key": "abc"},
        scores=np.linspace(0, 1, 5, dtype=np.float32),
        history=pd.DataFrame({"epoch": [1]}),
        network={"weight": np.ones(3, np.float32)},
        ratio_history={"epoch": np.array([1]), "ratio": np.ones((1, 3))},
    )
    return result


@pytest.fixture
def run(store, table, artifact):
    dataset_id = store.add_dataset(table, ROLES, "People")
    run_id = store.add_run({}, [Question("abc")], name="First", dataset_id=dataset_id)
    store.set_status(run_id, "finished")
    return run_id


def test_a_run_whose_deletion_was_killed_keeps_its_models(home, store, artifact, run):
    command = [sys.executable, "-c", DYING, str(home), run]
    assert subprocess.run(command).returncode == 9
    assert [record.id for record in store.runs()] == [run]
    assert artifact.scores()[-1] == 1


def test_what_a_killed_deletion_left_is_swept(store, artifact, run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store.files, "delete", lambda folders: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.delete_run(run)
    store.tidy()
    assert artifact.exists()  # as long as somebody may be writing it
    for folder in (artifact.folder, *store.home.glob("tables/*/*")):
        os.utime(folder, (0, 0))
    store.tidy()
    assert not artifact.exists()
    assert len(store.kept()) == 1  # its data set, whose table stays


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("row.json", "row"),
        ("scores.npy", "scores"),
        ("history.parquet", "history"),
        ("network.safetensors", "network"),
        ("ratio_history.npy", "ratio_history"),
    ],
)
def test_a_flipped_bit_of_a_model_is_not_served(artifact, name, read):
    flip_last_bit(artifact.folder / name)
    with pytest.raises(ValueError, match=rf"{name} of abc is damaged.*train that"):
        getattr(artifact, read)()


def flip_last_bit(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_a_home_folder_may_have_any_name(tmp_path):
    home = tmp_path / "50 %41 #done? mode=ro&cache"
    store = open_store(home)
    store.add_table(people_csv(100), "people.csv")
    store.close()
    assert (home / "store.db").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [home.name]


def test_a_home_folder_that_others_could_read_becomes_private(home):
    home.mkdir(mode=0o755)
    for name in ("store.db", "store.db-wal"):
        (home / name).touch(mode=0o644)
    store = open_store()
    modes = {path.name: path.stat().st_mode & 0o777 for path in home.iterdir()}
    assert home.stat().st_mode & 0o777 == 0o700
    assert set(modes) >= {"store.db", "store.db-wal"}
    assert set(modes.values()) == {0o600}
    store.close()


@pytest.mark.parametrize("part", ["name", "created"])
def test_a_database_with_text_that_is_none_is_said_to_be_damaged(
    home, store, table, part
):
    store.add_dataset(table, ROLES, "People")
    with closing(sqlite3.connect(home / "store.db")) as link:
        link.execute(f"UPDATE datasets SET {part} = CAST(x'ff41' AS TEXT)")
        link.commit()
    with pytest.raises(StoreError, match="is damaged"):
        store.datasets()
