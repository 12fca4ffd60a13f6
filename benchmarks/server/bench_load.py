"""Sessions that let go of sliders at the same time: waiting and processor time.

Builds the store of `bench_sliders` (a finished sweep of 200 settings of ROAD), serves
it and opens sessions by websocket, as a browser does, without drawing anything. Half of
them move λ and τ on Sweep, half choose measures on Local fairness, each every few
seconds; they say what they have kept of long messages, as a browser does. With
--training a worker a core trains a sweep of ROAD meanwhile, with --crafted one more
session loads a file that was made to take long, again and again, one of `bench_tables`.

With ``--crafted files`` every crafted file of the tests is uploaded, one after the
other, beside a session, to say how long that waited; `crafted_uploads` says what each
costs. --only NAME keeps to files of that name.

With --shares every second release is run under a profiler, and it is said whose the
processor's time is: Streamlit's, of the libraries or fairdash's, by page.

    python benchmarks/server/bench_load.py [--sessions 20] [--seconds 60] [--every 2]
        [--training] [--shares] [--crafted [constant]]
    python benchmarks/server/bench_load.py --crafted files [--only NAME] [--every 0.25]
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import psutil
import websockets
from bench_sliders import build, serve
from bench_tables import TABLES
from crafted_uploads import COMMAND, SERVE, upload_all
from playwright.sync_api import sync_playwright
from processor_time import processor_seconds
from rerun_shares import report
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from fairdash.jobs import engine, queue
from fairdash.jobs.engine import engine_lives
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

PAGES = ("Sweep", "Local_fairness")
FILES = "files"  # all that are crafted
MOST_WAIT = 0.3  # seconds of another session
PATIENCE = 120  # seconds for a whole page
N_MEASURES = 5  # of Local fairness, the first of the list


class Session:
    """One reader: a websocket, and what moves the slider of the page."""

    def __init__(self, socket, page, run):
        self.socket, self.page, self.query = socket, page, f"run={run}"
        self.widget = self.fragment = None
        self.options = []  # of the widget
        self.kept = set()  # digests of long messages
        self.received = Counter()  # bytes, by kind of message or element

    async def ask(self, *, change=None):
        """Run the page, or after a change its fragment; return the seconds it took."""
        message = BackMsg()
        script = message.rerun_script
        script.query_string, script.page_name = self.query, self.page
        script.cached_message_hashes.extend(self.kept)
        if change is not None:
            script.fragment_id = self.fragment
            state = script.widget_states.widgets.add(id=self.widget)
            if self.page == "Sweep":
                state.json_value = json.dumps({"place": change})
            else:
                state.string_value = self.options[change]
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            data = await self.socket.recv()
            answer = ForwardMsg.FromString(data)
            kind = answer.WhichOneof("type")
            element = answer.delta.new_element.WhichOneof("type")
            self.received[element or kind] += len(data)
            if answer.metadata.cacheable:
                self.kept.add(answer.hash)
            if kind == "delta":
                self._look(answer.delta)
            elif kind == "page_info_changed":
                self.query = answer.page_info_changed.query_string
            elif kind == "script_finished":
                return time.perf_counter() - began

    def _look(self, delta):
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(element.exception.message)
        wanted = {
            "bidi_component": lambda one: one.component_name == "fairdash.linked",
            "selectbox": lambda one: one.label == "Measure",
        }
        if kind in wanted and wanted[kind](getattr(element, kind)):
            widget = getattr(element, kind)
            self.widget, self.fragment = widget.id, delta.fragment_id
            self.options = list(getattr(widget, "options", ()))


async def read(url, page, run, options, start, waits):
    """Open a page, then let go of its slider until the time is over."""
    address = url.replace("http", "ws") + "/_stcore/stream"
    rng = np.random.default_rng(start)
    async with websockets.connect(
        address, subprotocols=["streamlit"], max_size=None, open_timeout=PATIENCE
    ) as socket:
        session = Session(socket, page, run)
        await asyncio.wait_for(session.ask(), PATIENCE)
        await options.ready.wait()
        await asyncio.sleep(options.every * rng.random())
        before = session.received.copy()
        end = time.perf_counter() + options.seconds
        while time.perf_counter() < end:
            change = int(rng.integers(N_MEASURES))
            if page == "Sweep":
                change = str(1 + int(rng.integers(200)))  # after the plain model
            waits[page].append(await session.ask(change=change))
            await asyncio.sleep(max(0.0, options.every - waits[page][-1]))
        options.received[page] += session.received - before  # all counts grow


def upload(url, seconds, frame, loaded):
    """Load new tables that differ in a cell, in Chromium, until the end."""
    end = time.perf_counter() + seconds
    with sync_playwright() as drive:
        browser = drive.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        while time.perf_counter() < end:
            page = browser.new_page()
            page.goto(f"{url}/Data")
            name = f"crafted{len(loaded)}"
            frame.iloc[0, 0] = str(len(loaded))
            lines = frame.to_csv(index=False).encode()
            file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": lines}
            page.locator("input[type=file]").first.set_input_files(file)
            last = page.get_by_role("tab", name="Scores")
            last.wait_for(timeout=1000 * PATIENCE)
            loaded.append(name)
            page.close()
        browser.close()


def loop_seconds(pid):
    """Return the processor time of a process's first thread, which reads and sends."""
    threads = psutil.Process(pid).threads()
    return next(t.user_time + t.system_time for t in threads if t.id == pid)


async def load(url, run, options, pids):
    waits = {page: [] for page in PAGES}
    options.ready = asyncio.Event()
    options.received = {page: Counter() for page in PAGES}
    sessions = [
        asyncio.create_task(read(url, PAGES[i % 2], run, options, i, waits))
        for i in range(options.sessions)
    ]
    await asyncio.sleep(options.warm)
    spent = sum(map(processor_seconds, pids))
    loop = loop_seconds(pids[0])
    options.ready.set()
    loaded = []
    if options.crafted:
        frame = TABLES[options.crafted][1]()
        crafting = asyncio.to_thread(upload, url, options.seconds, frame, loaded)
        sessions.append(asyncio.create_task(crafting))
    await asyncio.gather(*sessions)
    if options.crafted:
        print(f"{len(loaded)} crafted tables loaded meanwhile")
    loop = loop_seconds(pids[0]) - loop
    return waits, sum(map(processor_seconds, pids)) - spent, loop


async def release(url, run, every, over, log):
    """Let go of a slider of Sweep until ``over``; log when, and the seconds it took."""
    address = url.replace("http", "ws") + "/_stcore/stream"
    async with websockets.connect(
        address, subprotocols=["streamlit"], max_size=None, open_timeout=PATIENCE
    ) as socket:
        session = Session(socket, "Sweep", run)
        await asyncio.wait_for(session.ask(), PATIENCE)
        while not over.is_set():
            began = time.perf_counter()
            place = str(1 + len(log) % 200)  # after the plain model
            log.append((began, await session.ask(change=place)))
            await asyncio.sleep(max(0.0, every - log[-1][1]))


async def wait_for_files(url, run, options, pid):
    """Upload crafted files beside a session; print how long that waited at each."""
    log = []
    over = asyncio.Event()
    session = asyncio.create_task(release(url, run, options.every, over, log))
    await asyncio.sleep(options.warm)
    print(f"{'beside a session':44s} waits: n   max, ms")
    waits = {"without any upload": [seconds for _, seconds in log[len(log) // 2 :]]}

    def upload():
        for cost in upload_all(url, pid, options.only):
            while log[-1][0] < cost.ended:
                time.sleep(0.05)
            waits[cost.name] = during = [
                seconds
                for began, seconds in log.copy()
                if began < cost.ended and began + seconds > cost.began
            ]
            most = 1000 * max(during, default=0.0)
            print(f"{cost.name[:44]:44s} {len(during):8d} {most:9.0f}", flush=True)

    await asyncio.to_thread(upload)
    over.set()
    await session
    quiet, *during = waits.values()
    uploads = [seconds for waited in during for seconds in waited]
    for words, seconds in (("quiet", quiet), ("uploads", uploads)):
        median, high = 1000 * np.quantile(seconds, [0.5, 0.95])
        most = 1000 * max(seconds)
        print(f"{words:8s} ms: p50 {median:.0f}, p95 {high:.0f}, max {most:.0f}")
    beyond = sum(max(seconds, default=0) > MOST_WAIT for seconds in during)
    print(f"files at which it waited more than {1000 * MOST_WAIT:.0f} ms: {beyond}")


@contextmanager
def training(home):
    """Train a sweep that outlasts what is measured, in a worker for every core."""
    weights = np.linspace(0.1, 5, 100).round(3).tolist()
    spec = SweepSpec(
        data=DataSource(sample="loans"),
        methods=(MethodGrid(method="road", params={"fairness_weight": weights}),),
        seeds=tuple(range(20)),
    )
    with closing(open_store(home)) as store, engine.attach(home):
        run = queue(store, spec)
        engine.ensure_engine(home)
        yield
        assert store.run(run).status == "running"
        store.ask_cancel(run)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=2)
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--shares", action="store_true")
    crafted = [*TABLES, FILES]
    parser.add_argument("--crafted", nargs="?", const="constant", choices=crafted)
    parser.add_argument(
        "--only", default="", help="crafted files with this in the name"
    )
    parser.add_argument("--warm", type=float, default=60, help="seconds to open pages")
    options = parser.parse_args()
    if options.crafted == FILES:
        measure_files(options)
        return
    home = tempfile.mkdtemp()
    try:
        run = build(home, options.rows)
        measure(home, run, options)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure_files(options):
    """Upload crafted files to an app beside a session that releases a slider."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        run = build(home, options.rows)
        app, url = serve(home, COMMAND)
        try:
            asyncio.run(wait_for_files(url, run, options, app.pid))
        finally:
            app.send_signal(signal.SIGINT)
            app.wait(20)


def measure(home, run, options):
    """Serve the store, load the app, and print what came of it."""
    shares = Path(home) / "shares"
    folder = str(Path(__file__).parent)
    watch = f"import sys; sys.path.append({folder!r}); from rerun_shares import watch; "
    watched = [sys.executable, "-c", f"{watch}watch({str(shares)!r}); {SERVE}", "app"]
    app, url = serve(home, watched if options.shares else COMMAND)
    try:
        pids = [app.pid]
        with training(Path(home)) if options.training else nullcontext():
            waits, spent, loop = asyncio.run(load(url, run, options, pids))
        memory = sum(psutil.Process(pid).memory_info().rss for pid in pids)
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        while engine_lives(Path(home)):
            time.sleep(0.1)
    n = sum(map(len, waits.values()))
    print(
        f"{options.rows:,} rows, 201 models, {options.sessions} sessions, a release "
        f"every {options.every:g} s{', training' * options.training}"
        f"{f', {options.crafted} tables' if options.crafted else ''}, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print(f"releases a second: {n / options.seconds:.1f}")
    print("ms from release to the end of the script   n   p50   p95  kB received")
    for page, seconds in waits.items():
        median, most = 1000 * np.quantile(seconds, [0.5, 0.95])
        later = 1000 * np.quantile(seconds[len(seconds) // 2 :], [0.5, 0.95])
        sizes = options.received[page]
        size = sizes.total() / len(seconds) / 1000
        print(f"{page:40s} {len(seconds):4d} {median:5.0f} {most:5.0f} {size:8.1f}")
        print(
            f"  the later half {later[0]:.0f}, {later[1]:.0f}: first answers are made"
        )
        for kind, n_bytes in sizes.most_common(3):
            print(f"  of it {kind} {n_bytes / sizes.total():.0%}")
    print(f"server's processor time a release: {1000 * spent / n:.0f} ms")
    print(f"of it reading and sending: {1000 * loop / n:.1f} ms")
    print(f"memory at the end: {memory / 2**20:.0f} MB")
    if options.shares:
        report(shares)


if __name__ == "__main__":
    main()
