"""One pool of a Postgres for all homes of a process: bounded, and users stay apart."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress

import loops
import pytest
import sqlalchemy as sa
from conftest import wait_until
from hypothesis import given
from hypothesis import strategies as st
from toys import ROLES, people_csv

from fairdash.server.serve import Readiness
from fairdash.store import StoreError, Unreachable, User, open_store
from fairdash.store.server import postgres as server

USERS = [User(f"{number:016x}", "") for number in range(24)]
N_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = :database"
N_OF_ROLE = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'"


@pytest.fixture
def narrow(postgres, monkeypatch):
    """A home folder whose process has one connection to its Postgres."""
    monkeypatch.setattr(server, "CONNECTIONS", 1)
    monkeypatch.setattr(server, "SPARE", 0)
    monkeypatch.setattr(server, "BUSY_SECONDS", 1)
    return postgres


@pytest.fixture
def opened():
    """A function that opens the store of a user, or of the server for None."""
    with ExitStack() as ends:

        def go(root, user=None):
            folder = root if user is None else user.home(root)
            return ends.enter_context(closing(open_store(folder)))

        yield go


def ready(store):
    return loops.run(Readiness(store).answer(None))


def n_connections(store):
    database = store.database.engine.url.database
    with store.database.reading() as connection:
        return connection.scalar(sa.text(N_CONNECTIONS), {"database": database})


def test_many_users_share_few_connections(postgres, opened):
    """Also while their schemas are made, and while they write at the same time."""
    peaks = []

    def use(user):
        store = opened(postgres, user)
        store.add_table(people_csv(50), f"{user.id}.csv")
        peaks.append(n_connections(store))
        return [table.name for table in store.tables()]

    with ThreadPoolExecutor(12) as pool:
        names = list(pool.map(use, USERS))
    assert names == [[f"{user.id}.csv"] for user in USERS]
    assert max(peaks) <= server.CONNECTIONS
    assert opened(postgres).database.engine.pool.checkedout() == 0


@given(
    acts=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["write", "fail", "die", "read"])),
        max_size=12,
    )
)
def test_a_connection_carries_nothing_from_one_user_to_the_next(pair, acts):
    """Whatever the one did with it, failed at, or left open when it ended."""
    stores, names = pair
    for index, act in acts:
        store = stores[index]
        if act == "write":
            name = f"{index}-{len(names[index])}"
            store.add_dataset(names["table", index], ROLES, name)
            store.keep_monitor(name, name)
        elif act == "fail":
            with pytest.raises(ValueError, match="no data set"):
                store.add_run({}, [], "orphan", "not there")
        elif act == "die":
            with suppress(ZeroDivisionError), store.database.writing() as connection:
                connection.execute(sa.text("SELECT 1"))
                raise ZeroDivisionError
        for second, own_store in enumerate(stores):
            tables = [table.name for table in own_store.tables()]
            assert tables == [f"{second}.csv"]
            with own_store.database.reading() as connection:
                pid = connection.scalar(sa.text("SELECT pg_backend_pid()"))
                path = connection.scalar(sa.text("SHOW search_path"))
            assert (pid, path) == names["connection"]


@pytest.fixture(scope="module")
def pair(new_database, tmp_path_factory):
    """Stores of a server and of two of its users, on one connection."""
    home = tmp_path_factory.mktemp("pair")
    with ExitStack() as ends:
        folders = [home, *(user.home(home) for user in USERS[:2])]
        with pytest.MonkeyPatch.context() as patch:  # of the pool, when it is made
            patch.setenv("FAIRDASH_DATABASE", new_database())
            patch.setattr(server, "CONNECTIONS", 1)
            patch.setattr(server, "SPARE", 0)
            stores = [ends.enter_context(closing(open_store(path))) for path in folders]
        names = {0: [], 1: [], 2: []}
        for number, store in enumerate(stores):
            # of one content: only the names tell whose a table is
            names["table", number] = store.add_table(people_csv(50), f"{number}.csv")
        with stores[0].database.reading() as connection:
            names["connection"] = (
                connection.scalar(sa.text("SELECT pg_backend_pid()")),
                connection.scalar(sa.text("SHOW search_path")),
            )
        yield stores, names


def test_who_waits_for_a_connection_is_told_that_all_are_busy(narrow, opened):
    ann, bob = (opened(narrow, user) for user in USERS[:2])
    with (
        ann.database.reading(),
        pytest.raises(Unreachable, match="All connections of this process"),
    ):
        bob.runs()
    assert bob.runs() == []


def test_slow_writing_leaves_connections_for_reading(postgres, opened, monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS", 3)
    ann, bob = (opened(postgres, user) for user in USERS[:2])
    began = threading.Event()
    finished = threading.Event()

    def write():
        began.set()
        with bob.database.writing():
            finished.set()

    with ThreadPoolExecutor(1) as pool:
        with ann.database.writing():  # to a store far away
            pool.submit(write)
            began.wait()
            assert not finished.wait(0.2)
            with ann.database.reading(), bob.database.reading():
                assert ann.database.engine.pool.checkedout() == 3
        assert finished.wait(10)


def test_a_server_at_its_limit_is_a_sentence_and_not_ready(
    postgres, opened, postgres_server, monkeypatch, caplog
):
    """A role with one connection stands for a server whose connections are taken."""
    admin = opened(postgres)
    with admin.database.writing() as connection:
        for statement in (
            "DROP ROLE IF EXISTS few",
            "CREATE ROLE few LOGIN CONNECTION LIMIT 1",
            "GRANT ALL ON ALL TABLES IN SCHEMA public TO few",
        ):
            connection.execute(sa.text(statement))
    address = admin.database.engine.url.set(username="few")
    few = sa.create_engine(address, poolclass=sa.NullPool)

    def none_is_left():  # the server ends a connection after its client has gone
        with admin.database.reading() as connection:
            return connection.scalar(sa.text(N_OF_ROLE)) == 0

    monkeypatch.setenv("FAIRDASH_DATABASE", address.render_as_string())
    with few.connect(), pytest.raises(StoreError, match="takes no more connections"):
        opened(postgres)
    wait_until(none_is_left)
    store = opened(postgres)
    assert ready(store).status_code == 200
    store.close()
    wait_until(none_is_left)
    with few.connect():
        assert ready(store).status_code == 503
        assert "takes no more connections" in caplog.text
    wait_until(none_is_left)
    assert ready(store).status_code == 200
    store.close()
    wait_until(none_is_left)
    with admin.database.writing() as connection:
        connection.execute(sa.text("DROP OWNED BY few"))
        connection.execute(sa.text("DROP ROLE few"))


def test_users_never_share_a_database_that_is_a_file(home, monkeypatch):
    monkeypatch.setenv("FAIRDASH_DATABASE", f"sqlite:///{home}.db")
    with pytest.raises(ValueError, match=r"'sqlite' is not supported; .* postgresql"):
        open_store(USERS[0].home(home))
