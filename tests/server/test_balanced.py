"""Replicas behind the balancer that docs/deploy ships, as on machines of their own.

They share a Postgres and a folder of objects. Any of them may be lost with its engine.
"""

import signal
from contextlib import ExitStack, closing

import psutil
import pytest
import websockets
from conftest import wait_until, wait_until_no_engine
from toys import people_csv, specification

pytest.importorskip("authlib", reason="a login needs streamlit[auth]")
from openid import Provider
from replicas import balanced
from visitor import Visitor

from fairdash.jobs import engine, queue
from fairdash.store import Homes, User, open_store

PARAMS = {"n_epochs": 60, "batch_size": 32, "tau": [0.2, 0.4, 0.6]}
SLOW = [{"method": "road", "params": PARAMS}]


@pytest.fixture
def fleet(postgres, tmp_path, monkeypatch):
    """A provider of logins, the address of the balancer, and three replicas."""
    monkeypatch.setenv("FAIRDASH_FILES", f"file://{tmp_path}/files")
    homes = [tmp_path / f"home{number}" for number in range(3)]
    with Provider().open() as provider, ExitStack() as ends:
        for home in homes:
            ends.callback(wait_until_no_engine, home)
        served = balanced(tmp_path, provider.address, homes)
        yield provider, *ends.enter_context(served)


def test_a_replica_is_lost_with_its_engine_and_nobody_loses_a_run_or_a_login(
    fleet, tmp_path
):
    provider, address, replicas = fleet
    with ExitStack() as ends:
        visitors = log_in_everywhere(provider, address, len(replicas))
        (tmp_path / "people.csv").write_bytes(people_csv(400))
        spec = specification(tmp_path / "people.csv", methods=SLOW)
        home_of = {}
        for visitor, user in visitors.items():
            home = open_store(user.home(replicas[0].home))
            home_of[visitor] = ends.enter_context(closing(home))
        run_of = {visitor: queue(home, spec) for visitor, home in home_of.items()}
        for home in home_of.values():
            Homes.mark(home)  # as a page does, which would wake an engine here
        window_of = {
            visitor: ends.enter_context(visitor.window("Runs")) for visitor in visitors
        }
        wait_until(lambda: any(has_begun(home_of[v], run) for v, run in run_of.items()))
        for visitor, window in window_of.items():
            assert "What has been tried?" in window.texts
            assert window.upload(people_csv(50)).ok, visitor.place

        (lost,) = [each for each in replicas if engine.engine_lives(each.home)]
        kill_machine(lost)
        moved = {visitor for visitor, window in window_of.items() if is_closed(window)}
        assert len(moved) == 1
        for visitor in moved:
            place = visitor.place
            window_of[visitor] = ends.enter_context(visitor.window("Runs"))
            assert visitor.place != place
        for window in window_of.values():
            window.open("Runs")
            assert "What has been tried?" in window.texts
            assert window.upload(people_csv(50)).ok

        lost.start()
        wait_until(lost.is_ready)
        for visitor, run in run_of.items():
            home = home_of[visitor]
            wait_until(lambda home=home, run=run: home.run(run).over)
            assert home.run(run).status == "finished"
            assert home.snapshot(run).count("finished") == 3
        # who has moved stays, so that what is uploaded comes to the window
        for visitor, window in window_of.items():
            assert window.upload(people_csv(50)).ok
            assert visitor.get("/Runs", Accept="text/html").ok
        (leaving, *staying) = visitors
        leaving.get("/auth/logout")
        wait_until(lambda: leaving.get("/_stcore/host-config").status_code == 401)
        assert all(visitor.get("/_stcore/host-config").ok for visitor in staying)


def log_in_everywhere(provider, address, n_replicas):
    """Return a visitor at each replica, with the user; the balancer deals by chance."""
    visitors = {}
    for number in range(60):
        claims = {"sub": str(number)}
        provider.claims = claims
        visitor = Visitor(address)
        visitor.log_in()
        if visitor.place not in {other.place for other in visitors}:
            visitors[visitor] = User.of({"iss": provider.address, **claims})
        if len(visitors) == n_replicas:
            return visitors
    raise AssertionError("the balancer leaves a replica out")


def has_begun(home, run):
    return home.snapshot(run).count("running") > 0


def kill_machine(replica):
    """Kill a replica with its engine and all workers, as a lost machine does."""
    process = psutil.Process(replica.process.pid)
    family = [process, *process.children(recursive=True)]
    for each in family:
        each.send_signal(signal.SIGKILL)
    replica.process.wait()


def is_closed(window):
    try:
        window.open("Runs")
    except websockets.ConnectionClosed:
        return True
    return False
