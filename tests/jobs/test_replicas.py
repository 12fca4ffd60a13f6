"""Two replicas of a server: one Postgres, one engine, users in both."""

from contextlib import ExitStack, closing

import psutil
import pytest
import sqlalchemy as sa
from conftest import wait_until, wait_until_no_engine
from toys import people_csv, specification

from fairdash.jobs import cancel, engine, submit, wake
from fairdash.store import User, open_store
from fairdash.store.server import postgres as server

USERS = [User.of({"sub": str(number)}) for number in range(6)]
QUICK = {"n_epochs": 3, "batch_size": 128, "tau": 0.4}
ACTIVE = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


@pytest.fixture
def replicas(postgres, tmp_path, monkeypatch):
    """Home folders of two machines, whose files lie in a third place."""
    monkeypatch.setenv("FAIRDASH_FILES", f"file://{tmp_path}/files")
    homes = [tmp_path / "here", tmp_path / "there"]
    with ExitStack() as ends:
        for home in homes:
            ends.callback(wait_until_no_engine, home)
        for home in homes:
            ends.enter_context(engine.attach(home))
        yield homes


def hosts(homes):
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "fairdash.jobs.host" in (command := process.info["cmdline"] or [])
        and {str(home) for home in homes} & set(command)
    ]


def test_users_of_two_replicas_share_one_engine_and_few_connections(replicas, tmp_path):
    """Whoever asks at the one may look at the other, and cancel there."""
    (tmp_path / "people.csv").write_bytes(people_csv(200))
    connections = []
    with ExitStack() as ends:
        pairs = [
            [
                ends.enter_context(closing(open_store(user.home(home))))
                for home in (replicas if number % 2 else replicas[::-1])
            ]
            for number, user in enumerate(USERS)
        ]
        params = [QUICK] * 5 + [{**QUICK, "n_epochs": 100_000}]
        runs = [
            submit(
                store,
                specification(
                    tmp_path / "people.csv",
                    methods=[{"method": "road", "params": params[number]}],
                ),
            )
            for number, (store, _) in enumerate(pairs)
        ]

        def over(*, but=0):
            stores = [replica_store for _, replica_store in pairs]
            for store in stores:
                wake(store)
            with stores[0].database.reading() as connection:
                connections.append(connection.scalar(sa.text(ACTIVE)))
            ended = [s.run(run).over for s, run in zip(stores, runs, strict=True)]
            return sum(ended) >= len(ended) - but

        wait_until(lambda: over(but=1), pause=0.5)
        cancel(pairs[-1][1], runs[-1])
        wait_until(over, pause=0.5)
        statuses = [s.run(run).status for (s, _), run in zip(pairs, runs, strict=True)]
        assert statuses == ["finished"] * 5 + ["cancelled"]
        for user, (store, _) in zip(USERS, pairs, strict=True):
            artifacts = list(
                (tmp_path / "files" / "users" / user.id).glob("artifacts/*/*")
            )
            assert len(artifacts) == sum(r.status == "finished" for r in store.runs())
    # of two that begin in one moment, one sees that the other has the claim, and ends
    wait_until(lambda: len(hosts(replicas)) == 1, pause=0.5)
    engine_and_workers = 2 + 2
    assert max(connections) <= server.CONNECTIONS + engine_and_workers
