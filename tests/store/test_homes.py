"""Which users of a server have open runs, whatever the database is."""

import shutil
from contextlib import closing
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from toys import ROLES, Question, people_csv

from fairdash.store import Homes, User, open_store

ANN = User("a" * 16, "ann@example.org")
BOB = User("b" * 16, "bob@example.org")


@pytest.fixture
def server(either):
    with closing(open_store()) as opened:
        yield opened


@pytest.fixture
def stores(server):
    with (
        closing(open_store(ANN.home(server.home))) as ann,
        closing(open_store(BOB.home(server.home))) as bob,
    ):
        yield ann, bob


def add_run(store, name="People"):
    table = store.add_table(people_csv(100), "people.csv")
    data = store.add_dataset(table, ROLES, name)
    return store.add_run({}, [Question(name)], name, data)


def test_users_with_open_runs_are_found_until_these_are_over(server, stores):
    ann = stores[0]
    homes = Homes(server)
    assert homes.with_open_runs() == set()
    runs = {}
    for store in stores:
        runs[store] = add_run(store)
        homes.mark(store)
    assert homes.with_open_runs() == {ANN.id, BOB.id}
    assert not homes.unmark(ann)
    assert homes.with_open_runs() == {ANN.id, BOB.id}
    ann.set_status(runs[ann], "finished")
    assert homes.unmark(ann)
    assert homes.with_open_runs() == {BOB.id}


def test_an_engine_that_begins_looks_into_all_homes(server, stores):
    """Of an earlier version no mark is there."""
    add_run(stores[1])
    homes = Homes(server)
    homes.mark_all()
    assert homes.with_open_runs() == {BOB.id}


def test_a_run_of_the_server_itself_is_of_no_user(server, stores):
    add_run(server)
    homes = Homes(server)
    homes.mark(server)
    homes.mark_all()
    assert homes.with_open_runs() == set()


def test_a_home_that_was_deleted_is_not_made_again(home):
    with closing(open_store()) as server:
        with closing(open_store(ANN.home(home))) as ann:
            Homes.mark(ann)
        assert Homes(server).with_open_runs() == {ANN.id}
        shutil.rmtree(ann.home)
        assert Homes(server).with_open_runs() == set()


def test_without_a_mark_no_schema_is_asked_but_once_a_minute(postgres, monkeypatch):
    """Of 300 users a look takes .2 s, and an idle engine looks twice a second."""
    with (
        closing(open_store()) as server,
        closing(open_store(ANN.home(postgres))) as ann,
    ):
        run = add_run(ann)
        homes = Homes(server)
        with monkeypatch.context() as patch:
            asked = Mock(side_effect=AssertionError("all schemas are asked"))
            patch.setattr("fairdash.store.server.postgres.schemas", asked)
            assert homes.with_open_runs() == set()
        monkeypatch.setattr("fairdash.store._homes.ALL_SECONDS", 0.0)
        assert homes.with_open_runs() == {ANN.id}
        ann.set_status(run, "finished")
        assert homes.with_open_runs() == set()


def test_a_schema_that_was_dropped_is_not_made_again(postgres):
    with closing(open_store()) as server:
        with closing(open_store(ANN.home(postgres))) as ann:
            add_run(ann)
            Homes.mark(ann)
        assert Homes(server).with_open_runs() == {ANN.id}
        with server.database.writing() as connection:
            connection.execute(sa.text(f'DROP SCHEMA "{ANN.id}" CASCADE'))
        assert Homes(server).with_open_runs() == set()


def test_schemas_of_other_programs_are_left_alone(postgres):
    """One has tables of these names, and a name that is a path."""
    with closing(open_store()) as server:
        for name in ("mlflow", "../../etc", "c" * 16):
            schema = f'"{name}"'
            with server.database.writing() as connection:
                for statement in (
                    f"CREATE SCHEMA {schema}",
                    f"CREATE TABLE {schema}.runs (status text)",
                    f"INSERT INTO {schema}.runs VALUES ('RUNNING')",
                ):
                    connection.execute(sa.text(statement))
                if name != "c" * 16:
                    trials = f"CREATE TABLE {schema}.run_trials ()"
                    connection.execute(sa.text(trials))
        homes = Homes(server)
        homes.mark_all()
        assert homes.with_open_runs() == set()


def test_a_folder_that_somebody_called_users_is_no_server(tmp_path):
    with closing(open_store(tmp_path / "users" / "ann")) as store:
        assert (store.user, store.root) == ("", store.home)
    with closing(open_store(ANN.home(tmp_path))) as store:
        assert (store.user, store.root) == (ANN.id, tmp_path)
