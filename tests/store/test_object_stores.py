"""Two machines, each with a home folder of its own, on one database and one bucket."""

import time
from contextlib import ExitStack, closing
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest
from toys import ROLES, Question, people_csv

from fairdash.store import Homes, User, open_store


@pytest.fixture
def address(bucket):
    return bucket


@pytest.fixture
def machines(home, tmp_path, address):
    url = f"sqlite:///{tmp_path}/store.db"
    first, two = (open_store(home / name, url, address) for name in ("one", "two"))
    with closing(first), closing(two):
        yield first, two


def train(store, key="abc", **options):
    """Keep a model and the run that asked for it; return the run."""
    table = store.add_table(people_csv(100), "people.csv")
    data = store.add_dataset(table, ROLES, "People")
    run = store.add_run({}, [Question(key)], name="First", dataset_id=data)
    store.artifact(key).write(
        row={"key": key},
        scores=np.linspace(0, 1, 100, dtype=np.float32),
        history=pd.DataFrame({"epoch": [1]}),
        network={"weight": np.ones(3, np.float32)},
    )
    store.put_trial(run, key, row={}, seconds=1.0)
    store.set_status(run, "finished")
    return run


def test_what_one_machine_keeps_another_reads_and_deletes(machines, address):
    first, two = machines
    run = train(first)
    assert two.artifact("abc").exists()
    assert abs(two.artifact("abc").written() - time.time()) < 100
    assert two.artifact("abc").scores()[-1] == 1
    assert two.artifact("abc").ratio() is None
    data = first.datasets()[0]
    assert len(two.dataset(data.id).frame) == 100
    two.log_scores(data.id, np.linspace(0, 1, 100), name="theirs")
    assert [s.score.column for s in first.own_scores(data.id)] == ["theirs"]
    assert first.kept()[0].n_bytes > 3000
    first.remove(data.id)
    assert two.runs() == two.tables() == two.kept() == []
    assert not two.artifact("abc").exists()
    files, root = fsspec.url_to_fs(address)
    assert files.find(root) == []
    two.tidy()
    assert list(two.home.glob("*/*/*")) == []  # nor do copies stay
    train(two)  # what was deleted is written anew
    assert first.artifact("abc").scores()[-1] == 1
    assert run not in [r.id for r in first.runs()]


def test_a_deletion_that_fails_leaves_the_run_and_its_models(machines, monkeypatch):
    first, two = machines
    run = train(first)
    with monkeypatch.context() as patch:
        patch.setattr("sqlalchemy.Connection.commit", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            first.delete_run(run)
    assert two.artifact("abc").scores()[0] == 0


def test_a_machine_without_the_engine_keeps_no_copy_of_what_is_deleted(
    postgres, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAIRDASH_FILES", f"file://{tmp_path}/files")
    user = User.of({"sub": "ann"})
    roots = tmp_path / "here", tmp_path / "there"
    with ExitStack() as ends:
        server, here, there = (
            ends.enter_context(closing(open_store(folder)))
            for folder in (roots[0], *map(user.home, roots))
        )
        run = train(there)
        assert here.artifact("abc").scores()[-1] == 1
        assert here.table(here.tables()[0].sha256).size
        kinds = "tables", "artifacts"
        copies = [path for kind in kinds for path in here.home.glob(f"{kind}/*/*")]
        assert len(copies) == 2
        Homes(server).drop_copies()
        assert all(map(Path.exists, copies))
        there.delete_run(run)
        there.remove(there.kept()[0].id)
        Homes(server).drop_copies()
        assert not any(map(Path.exists, copies))
