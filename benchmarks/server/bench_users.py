"""Many users of a server with two replicas and a Postgres of 100 connections.

Starts a Postgres on this machine, a provider of a login, and two processes
`fairdash app`, as behind a proxy that turns from one to the other. Each user logs in by
HTTP, opens pages by websocket as a browser does, and has one run that both replicas are
asked about until it is over; users are spread over the replicas in turn. The runs are
queued by the call that the page Train makes, in this process, and woken by the pages.

Printed: connections of the Postgres at most, whatever was refused (requests, pages,
`/ready`), engines at a time, processes of engine and replicas, their memory (shared
pages shared out), runs that finished, and how long users waited. Connections of this
process, which only plays the users, are counted apart.

The replicas share a home folder, as on one volume. With --apart each has its own, as on
two machines, and the files lie in a third.

    python benchmarks/server/bench_users.py [--users 100] [--at-once 20] [--apart]
"""

import argparse
import asyncio
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import psutil
import requests
import sqlalchemy as sa
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from users_provider import SECRETS, provider

from fairdash.datasets import load_sample
from fairdash.jobs import queue
from fairdash.jobs.engine import engine_lives
from fairdash.store import Homes, User, open_store
from fairdash.sweep import SweepSpec

sys.path.insert(0, str(Path(__file__).parents[1]))
from process_memory import family, memory

APP = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
HOST = "fairdash.jobs.host"
MOST = 100  # connections of the Postgres
LOOK_SECONDS = 0.1
PATIENCE = 180  # seconds for a page, and between two looks at a run
PAGES = ("", "Data", "Runs")  # that each user opens before the run
PLAYER = "bench"  # name of this process at the Postgres
ACTIVE = (
    "SELECT count(*) FILTER (WHERE application_name <> 'bench') AS connections,"
    " count(*) FILTER (WHERE application_name = 'bench') - 1 AS players"
    " FROM pg_stat_activity WHERE datname = 'postgres'"
    " AND backend_type = 'client backend'"  # Postgres has processes of its own
)


@contextmanager
def postgres():
    """Yield the address of a Postgres of our own, reached by a socket file."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    run = []
    if os.getuid() == 0:  # which Postgres refuses
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        run = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}"]
        run += ["--clear-groups"]
    options = f"-c listen_addresses= -k {folder} -c max_connections={MOST}"
    control = [*run, str(programs / "pg_ctl"), "-s", "-w", "-D", f"{folder}/data"]

    def go(*words):
        quiet = subprocess.DEVNULL
        subprocess.run([*control, *words], check=True, cwd=folder, stdout=quiet)

    go("init", "-o", "-A trust -U fair --no-sync")
    go("start", "-l", str(folder / "log"), "-o", options)
    try:
        yield f"postgresql+psycopg://fair@/postgres?host={folder}"
    finally:
        go("stop", "-m", "fast")
        shutil.rmtree(folder)


@contextmanager
def replica(folder, home, where):
    """Serve the app behind the login; yield its port and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / ".streamlit").mkdir(parents=True)
    secrets = SECRETS.format(port=port, provider=where)
    (folder / ".streamlit" / "secrets.toml").write_text(secrets)
    with open(folder / "log", "wb") as log:
        command = [*APP, "--port", str(port), "--home", str(home)]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        while not is_ready(port):
            time.sleep(0.2)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def wait_until_no_engine(homes):
    """Wait until the engines, which outlive the apps, have ended."""
    while any(map(engine_lives, homes)):
        time.sleep(0.2)


def is_ready(port):
    try:
        return requests.get(f"http://localhost:{port}/ready", timeout=10).ok
    except requests.ConnectionError:
        return False


class Watch:
    """What the server takes at most, looked at all the time."""

    def __init__(self, address, homes, ports, pids):
        self.homes, self.ports, self.pids = homes, ports, pids
        self.most, self.not_ready = Counter(), 0
        self._server = sa.create_engine(address, poolclass=sa.NullPool)
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=look, daemon=True)
            for look in (self._connections, self._processes, self._ready)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _note(self, **counts):
        for name, count in counts.items():
            self.most[name] = max(self.most[name], count)

    def _connections(self):
        with self._server.connect() as link:
            link = link.execution_options(isolation_level="AUTOCOMMIT")
            while not self._over.wait(LOOK_SECONDS):
                self._note(**link.execute(sa.text(ACTIVE)).mappings().one())

    def _processes(self):
        while not self._over.wait(1.0):
            hosts = engines(self.homes)
            self._note(
                engines=len(hosts),
                engine_processes=len(family(*hosts)),
                replica_processes=len(family(*self.pids)),
                engine_bytes=memory(family(*hosts)),
                replica_bytes=memory(family(*self.pids)),
            )

    def _ready(self):
        while not self._over.wait(1.0):
            self.not_ready += not all(map(is_ready, self.ports))


def engines(homes):
    """Return the processes that are engines of a home in one of these folders."""
    within = tuple(str(home.resolve()) for home in homes)
    problems = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if HOST in command and any(word.startswith(within) for word in command):
            problems.append(process.pid)
    return problems


class Browser:
    """One user: a login by HTTP, pages by websocket, from each replica in turn."""

    def __init__(self, number, ports):
        self.number, self.refusals, self.waits = number, [], []
        self._ports = itertools.cycle(ports)
        self._web = requests.Session()
        self._origin = origin = f"http://localhost:{next(self._ports)}"
        for path in ("/auth/login", "/_stcore/health"):  # which gives the second cookie
            answer = self._web.get(origin + path, timeout=PATIENCE)
            if not answer.ok:
                self.refusals.append(f"{path} {answer.status_code}: {answer.text[:80]}")

    async def open(self, page, query=""):
        """Open a page as a browser does; note how long it took, and what it refused."""
        cookies = "; ".join(f"{c.name}={c.value}" for c in self._web.cookies)
        token = self._web.cookies["_streamlit_xsrf"]
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        began = time.perf_counter()
        try:
            async with websockets.connect(
                self._origin.replace("http", "ws") + "/_stcore/stream",
                origin=self._origin,  # as a proxy says it to either replica
                port=next(self._ports),
                subprotocols=["streamlit", token],
                additional_headers={"Cookie": cookies},
                max_size=None,
                open_timeout=PATIENCE,
            ) as link:
                await link.send(message.SerializeToString())
                await asyncio.wait_for(self._read(link), PATIENCE)
        except (OSError, TimeoutError, websockets.WebSocketException) as error:
            self.refusals.append(f"{page or 'Home'}: {error!r}")
        self.waits.append(time.perf_counter() - began)

    async def _read(self, link):
        while True:
            answer = ForwardMsg.FromString(await link.recv())
            kind = answer.WhichOneof("type")
            if kind == "script_finished":
                return
            element = answer.delta.new_element
            kind_shown = element.WhichOneof("type") if kind == "delta" else None
            if kind_shown == "exception":
                self.refusals.append(element.exception.message)
            if kind_shown == "heading" and element.heading.body == "Log in":
                self.refusals.append("the login was not known")
            if kind_shown == "alert" and "database" in element.alert.body:
                self.refusals.append(element.alert.body)


def small_run(number):
    """Return a run of two small models, other than those of other users."""
    sample = {"sample": "loans", "roles": load_sample("loans").roles, "name": "Loans"}
    grid = {"n_epochs": 1, "batch_size": 2048, "tau": [0.1, 1.0]}
    methods = [{"method": "road", "params": grid}]
    spec = {"data": sample, "methods": methods, "seeds": [number]}
    return SweepSpec.model_validate(spec)


async def live(browser, store, options, gate):
    """Look around, train, look at the run until it is over; return its record."""
    async with gate:
        for page in PAGES:
            await browser.open(page)
        run = await asyncio.to_thread(queue, store, small_run(browser.number))
        await asyncio.to_thread(Homes.mark, store)  # as the page does
        await browser.open("Train", f"run={run}")
    while not (record := await asyncio.to_thread(store.run, run)).over:
        await asyncio.sleep(options.every)
        async with gate:
            await browser.open("Train", f"run={run}")
    return record


async def use(options, home, where, ports):
    """Let all users live; return their browsers and the records of their runs."""
    gate = asyncio.Semaphore(options.at_once)
    # one after the other, as the provider counts them
    numbers = range(options.users)
    browsers = [Browser(n, ports[n % 2 :] + ports[: n % 2]) for n in numbers]
    users = [User.of({"iss": where, "sub": str(n)}) for n in numbers]
    with ExitStack() as ends:
        stores = [ends.enter_context(closing(open_store(u.home(home)))) for u in users]
        pairs = zip(browsers, stores, strict=True)
        lives = (live(browser, store, options, gate) for browser, store in pairs)
        return browsers, await asyncio.gather(*lives)


def print_result(browsers, records, watch):
    """Print what the users got, and what the server took for it."""
    refusals = Counter(text for browser in browsers for text in browser.refusals)
    waits = [wait for browser in browsers for wait in browser.waits]
    turns = [record.finished - record.created for record in records]
    most = watch.most
    print(f"{len(browsers)} users, {len(waits)} pages")
    print(f"refused: {sum(refusals.values())}, not ready: {watch.not_ready} times")
    for text, n in refusals.most_common(5):
        print(f"  {n} times: {text}")
    print(
        f"connections: {most['connections']} of {MOST} at most, and "
        f"{most['players']} of this process"
    )
    print(f"engines at a time: {most['engines']}")
    for name in ("engine", "replica"):
        n = most[f"{name}_processes"]
        size = most[f"{name}_bytes"] / 1e6
        print(f"{name}: {n} processes, {size:.0f} MB at most")
    print(f"runs: {dict(Counter(record.status for record in records))}")
    print("page, half within and 95 %: {:.2f}, {:.2f} s".format(*quantiles(waits)))
    print("run, half within and 95 %: {:.1f}, {:.1f} s".format(*quantiles(turns)))


def quantiles(values):
    return np.quantile(values, (0.5, 0.95))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--apart", action="store_true")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", FAIRDASH_LINGER="2")
    os.environ.setdefault("FAIRDASH_WORKERS", "2")
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        address = ends.enter_context(postgres())  # which ends after the engines
        place = ends.enter_context(provider())
        os.environ["FAIRDASH_DATABASE"] = address
        homes = [folder / "home"] * 2
        if options.apart:
            homes = [folder / "home1", folder / "home2"]
            (folder / "files").mkdir()
            os.environ["FAIRDASH_FILES"] = f"file://{folder}/files"
        ends.callback(wait_until_no_engine, homes)  # once the apps have ended
        replicas = [
            ends.enter_context(replica(folder / f"app{n}", home, place))
            for n, home in enumerate(homes)
        ]
        ports, pids = zip(*replicas, strict=True)
        address += f"&application_name={PLAYER}"
        os.environ["FAIRDASH_DATABASE"] = address
        with Watch(address, homes, ports, pids) as watch:
            browsers, records = asyncio.run(use(options, homes[0], place, ports))
        print_result(browsers, records, watch)


if __name__ == "__main__":
    main()
