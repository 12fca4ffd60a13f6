"""One queue for all homes of a server: fair shares, and nobody stops another."""

import gc
import weakref
from collections import Counter
from contextlib import ExitStack, closing
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import people_csv, specification

from fairdash.jobs import _sharing, _workers, engine, queue, run_open
from fairdash.jobs._sharing import Host
from fairdash.jobs._work import begin
from fairdash.store import Homes, Store, StoreError, User, open_store
from fairdash.store import _homes as store_homes

ANN = User("a" * 16, "ann@example.org")
BOB = User("b" * 16, "bob@example.org")


class Workers:
    """A client whose workers end when a test says so."""

    def __init__(self, threads):
        self.threads = threads
        self.tasks = {}  # by key, in the order given out
        self.killed = []
        self.answered = []  # runs whose first answers were asked for

    def nthreads(self):
        return {"worker": self.threads}

    def submit(self, function, home, _place, run_id, stack=None, *, key, **_):
        if function is _workers.answer_first:
            self.answered.append(run_id)
            return Future(home, run_id, stack)
        self.tasks[key] = Future(home, run_id, stack)
        return self.tasks[key]

    def at_work(self):
        return [task for task in self.tasks.values() if not task.done()]

    def processing(self):
        return {"worker": [key for key, task in self.tasks.items() if not task.done()]}

    def cancel(self, futures, force):
        for future in futures:
            future.status = "cancelled"

    def run(self, *_, workers, **__):
        self.killed += workers


class Future:
    def __init__(self, home, run_id, stack):
        self.home, self.run_id, self.stack = home, run_id, stack
        self.status = "pending"

    def done(self):
        return self.status != "pending"

    def result(self):
        return []

    def add_done_callback(self, _):
        pass


@pytest.fixture
def server(home):
    with closing(open_store()) as opened:
        yield opened


@pytest.fixture
def homes(server):
    """Stores of two users."""
    with ExitStack() as ends:
        yield [
            ends.enter_context(closing(open_store(user.home(server.home))))
            for user in (ANN, BOB)
        ]


@pytest.fixture
def make_host(server, monkeypatch):
    monkeypatch.setattr(_sharing, "SCAN_SECONDS", 0)
    with ExitStack() as ends:
        claim = ends.enter_context(server.database.claim())

        def make(threads):
            workers = Workers(threads)
            host = Host(server, claim, workers, elsewhere=False)
            ends.callback(host.close)
            return host, workers

        yield make


def ask(store, path, n=1, run_id=None):
    """Queue a run of ``n`` models that are a stack each; mark its home."""
    path.write_bytes(people_csv(100))
    params = {"n_epochs": 2, "batch_size": 64}
    methods = [{"method": "unconstrained", "params": params}]
    spec = specification(path, methods=methods, seeds=list(range(n)))
    run = queue(store, spec, run_id=run_id)
    Homes.mark(store)
    return run


def test_a_user_alone_has_all_workers_and_two_have_half_each(
    make_host, homes, tmp_path
):
    ann, bob = homes
    ask(ann, tmp_path / "people.csv", 9)
    host, workers = make_host(4)
    assert host.turn()
    assert Counter(task.home for task in workers.at_work()) == {str(ann.home): 4}
    ask(bob, tmp_path / "people.csv", 9)
    host.turn()
    assert len(workers.at_work()) == 4  # nobody is interrupted
    for _ in range(2):
        workers.at_work()[0].status = "finished"
        host.turn()
    shares = Counter(task.home for task in workers.at_work())
    assert shares == {str(ann.home): 2, str(bob.home): 2}


def test_a_worker_computes_the_first_answers_of_a_run_that_has_finished(
    make_host, homes, tmp_path
):
    finished, cancelled = homes
    run = ask(finished, tmp_path / "people.csv")
    other = ask(cancelled, tmp_path / "people.csv")
    host, workers = make_host(2)
    host.turn()
    assert workers.answered == []
    cancelled.ask_cancel(other)
    for task in workers.at_work():
        task.status = "finished"
    for _ in range(3):
        host.turn()
    assert workers.answered == [run]


@given(
    stacks=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    threads=st.integers(1, 4),
    ends=st.lists(st.integers(0, 3), max_size=30),
)
def test_nobody_with_work_waiting_has_less_than_another_gets(stacks, threads, ends):
    """Whoever is given a stack has the fewest of all who wait, and nobody idles."""
    workers = Workers(threads)
    host = Host.__new__(Host)
    host.client, host._server = workers, SimpleNamespace(home="/")
    host._homes = {
        str(number): _sharing.Home(Toy(str(number), n, workers), ExitStack())
        for number, n in enumerate(stacks)
    }
    host._count = iter(range(1, 10_000))
    for end in [*ends, *[0] * sum(stacks)]:
        host._give_out()
        waiting = [home.driver for home in host._homes.values() if home.driver.left]
        at_work = workers.at_work()
        assert len(at_work) == threads or not waiting
        if at_work:
            at_work[end % len(at_work)].status = "finished"
    assert all(not home.driver.left for home in host._homes.values())
    for home in host._homes.values():
        assert home.driver.unfair == []


class Toy:
    """A driver of stacks without a store, which sees whether its turn was fair."""

    def __init__(self, user, n, workers):
        self.store = SimpleNamespace(user=user)
        self.left, self.workers = n, workers
        self.unfair = []
        workers.toys = [*getattr(workers, "toys", []), self]

    @property
    def n_at_work(self):
        return sum(task.home == self.store.user for task in self.workers.at_work())

    def next_run(self):
        return "run" if self.left else None

    def give_out(self, _run):
        peers = [toy for toy in self.workers.toys if toy.left]
        if self.n_at_work > min(toy.n_at_work for toy in peers):
            self.unfair.append([toy.n_at_work for toy in peers])
        self.left -= 1
        key = f"{self.store.user}-{self.left}"
        self.workers.submit(None, self.store.user, None, "", None, key=key)


def test_with_one_worker_users_take_turns(make_host, homes, tmp_path):
    for store in homes:
        ask(store, tmp_path / "people.csv", 3)
    host, workers = make_host(1)
    for _ in range(6):
        host.turn()
        (task,) = workers.at_work()
        task.status = "finished"
    ann, bob = (str(store.home) for store in homes)
    turns = [task.home for task in workers.tasks.values()]
    assert turns in ([ann, bob] * 3, [bob, ann] * 3)


def test_two_homes_may_have_a_run_of_one_id(make_host, homes, tmp_path):
    """It came to both in a bundle; each home has its own models."""
    for store in homes:
        ask(store, tmp_path / "people.csv", run_id="0" * 12)
    host, workers = make_host(2)
    host.turn()
    assert {task.home for task in workers.at_work()} == {
        str(store.home) for store in homes
    }
    assert sorted(host.training) == [f"{ANN.id}/{'0' * 12}", f"{BOB.id}/{'0' * 12}"]


def test_a_home_that_fails_rests_and_stops_no_other(
    make_host, homes, tmp_path, monkeypatch, caplog
):
    """Its stacks are stopped, and it is tried again after a while."""
    anns, bobs = (ask(store, tmp_path / "people.csv", 2) for store in homes)
    host, workers = make_host(2)
    host.turn()
    works = Store.open_runs

    def open_runs(store):
        if store.user == ANN.id:
            raise StoreError("The database of this store is damaged.")
        return works(store)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "open_runs", open_runs)
        for _ in range(3):
            host.turn()
            host._resting.clear()  # the time is over
    assert workers.killed == ["worker"]
    assert caplog.text.count("is damaged") == 1
    assert [task.run_id for task in workers.at_work()] == [bobs, bobs]
    workers.at_work()[0].status = "finished"
    host.turn()
    assert {task.run_id for task in workers.at_work()} == {anns, bobs}


def test_a_home_is_held_while_it_is_driven_and_let_go_at_the_end(
    make_host, homes, server, tmp_path
):
    ann = homes[0]
    run = ask(ann, tmp_path / "people.csv")
    lock = ann.home / engine.ENGINE
    host, workers = make_host(1)
    with engine.take(lock):  # another process trains inline
        assert not host.turn()
        assert workers.tasks == {}
    assert host.turn()
    assert engine.take(lock) is None
    run_open(ann)  # which leaves it to the host
    assert ann.run(run).status == "running"
    ann.set_status(run, "cancelled")
    host.turn()
    assert not host.turn()
    assert list((server.home / store_homes.MARKS).iterdir()) == []
    engine.take(lock).close()


def test_a_run_waits_behind_the_models_of_other_users(
    make_host, homes, server, tmp_path, monkeypatch
):
    """Nothing but their number is said; one that is at a worker waits for nothing."""
    ann, bob = homes
    first = ask(ann, tmp_path / "people.csv", 3)
    host, _ = make_host(2)
    host.turn()
    second = ask(bob, tmp_path / "people.csv")
    host.turn()
    card = {"scheduler": "tls://127.0.0.1:1", "threads": 2, "training": host.training}
    monkeypatch.setattr(engine, "engine_card", lambda home: card)
    assert engine.why_waits(bob, bob.snapshot(second)) == "Waits behind 2 other models"
    assert engine.why_waits(ann, ann.snapshot(first)) == ""


def test_a_worker_keeps_the_data_of_few_users_in_memory(server, tmp_path, monkeypatch):
    """What it had of others is gone with them."""
    monkeypatch.setattr(_workers, "MOST_HOMES", 2)
    monkeypatch.setattr(_workers, "_stores", {})
    seen = []
    for number in range(4):
        home = User.of({"sub": str(number)}).home(server.home)
        with closing(open_store(home)) as store:
            run = ask(store, tmp_path / "people.csv")
            (stack,) = begin(store, store.run(run))
        _workers.run_stack(str(home), None, run, stack, polite=False)
        seen.append(weakref.ref(_workers._stores[home]))
    del store
    gc.collect()
    assert [store() is not None for store in seen] == [False, False, True, True]
    for store in _workers._stores.values():
        store.close()
