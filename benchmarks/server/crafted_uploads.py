"""Crafted files uploaded to a served app in Chromium: what each costs, and is told.

The whole way counts: upload, reading, loading, guess, and the first page of Data until
its script has ended. Beside each stands a plain file: one that is refused, or a table
of as many rows and columns.

    python benchmarks/server/crafted_uploads.py [--only NAME]

Printed for each file: kB; processor seconds and MB of the process that serves pages,
then those above the plain file; processor seconds and MB of the box; what the page
said. At the end the dearest again, and how many of how many files stay within .3 s and
60 MB above the plain one. --only NAME keeps to files with this in their name.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psutil
from bench_sliders import serve
from playwright.sync_api import Page, sync_playwright

from fairdash.datasets import reading
from fairdash.store import open_store

TESTS = Path(__file__).parents[2] / "tests"
sys.path += [str(TESTS), str(TESTS / "helpers")]

from crafted import TABLES  # noqa: E402
from crafted.bundles import opened, packed_run, written  # noqa: E402
from crafted.facts import FILES  # noqa: E402
from crafted.members import MEMBERS  # noqa: E402
from crafted.plain import REFUSED, plain  # noqa: E402

SERVE = "from fairdash.cli import app; app()"
COMMAND = [sys.executable, "-c", SERVE, "app"]
MOST_SECONDS, MOST_BYTES = 0.3, 60 << 20  # of the server, above a plain file
N_DEAREST = 10  # files that are printed again
HEAD = f"{'file':44s}     kB server s   MB  above s   MB  box s   MB  words"
PATIENCE = 60  # seconds for a file
LOOK_SECONDS = 0.02
SMALL = 1_000  # rows: of fewer the plain table has a hundred
FINISHED = "[data-testid=stApp][data-test-script-state=notRunning]"
Shape = tuple[int, int] | None  # rows and columns; None of a file that is refused


class Cost(NamedTuple):
    """What a file cost, from the upload until the page said what became of it.

    Seconds of a processor and bytes, of the process that serves pages and of those that
    it started; ``began`` and ``ended`` by the clock.
    """

    name: str
    size: int
    words: str
    seconds: float
    grown: int
    box_seconds: float
    box_bytes: int
    began: float
    ended: float
    usual: "Cost | None" = None  # of the plain file; None of that itself

    @property
    def above(self) -> tuple[float, int]:
        """Seconds and bytes of the server above those of the plain file."""
        if self.usual is None:
            return 0.0, 0
        return self.seconds - self.usual.seconds, self.grown - self.usual.grown

    @property
    def is_within(self) -> bool:
        """Whether it cost the server little more than the plain file."""
        seconds, n_bytes = self.above
        return seconds <= MOST_SECONDS and n_bytes <= MOST_BYTES


class Look:
    """The processes of an app while a file is read: the server ``pid``, and the box."""

    def __init__(self, pid: int) -> None:
        self._server = psutil.Process(pid)
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # its peak begins now
        self._before = self._seconds()
        self._resident = self._server.memory_info().rss
        self._most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> tuple[float, int, float, int]:
        """Return seconds and bytes of the server, seconds and bytes of the box."""
        self._over.set()
        self._thread.join()
        own_times, other_times = (
            after - before
            for after, before in zip(self._seconds(), self._before, strict=True)
        )
        return (
            own_times,
            _peak(self._server.pid) - self._resident,
            other_times,
            self._most,
        )

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            for child in self._server.children(recursive=True):
                with suppress(OSError, IndexError):
                    self._most = max(self._most, _peak(child.pid))

    def _seconds(self) -> tuple[float, float]:
        """Return processor seconds of the server, and of all that it ever started."""
        times = self._server.cpu_times()
        rest = times.children_user + times.children_system
        for child in self._server.children(recursive=True):
            with suppress(psutil.Error):
                rest += sum(child.cpu_times()[:4])
        return times.user + times.system, rest


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def upload_all(url: str, pid: int, only: str = "") -> Iterator[Cost]:
    """Upload each crafted file to the app of ``pid``, in a window of its own.

    A plain file comes before the first one that it is compared with.
    """
    usual: dict[Shape, Cost] = {}
    with sync_playwright() as drive:
        browser = drive.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def upload(name: str, content: bytes, open_page: Callable) -> Cost:
            page = browser.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            send = open_page(page, url)
            look = Look(pid)
            began = time.perf_counter()
            kind = "application/octet-stream"
            send({"name": name, "mimeType": kind, "buffer": content})
            words = _words(page)
            ended = time.perf_counter()
            page.close()
            return Cost(name, len(content), words, *look.end(), began, ended)

        upload("first.csv", plain(101, 3), _to_data)  # what is loaded once
        for name, make, open_page in _files():
            if only not in name:
                continue
            content = make()
            shape = _shape(content, name) if open_page is _to_data else None
            if shape not in usual:
                plain_name = f"plain {shape or 'refused'}.csv"
                plain_content = plain(*shape) if shape else REFUSED
                usual[shape] = upload(plain_name, plain_content, _to_data)
                yield usual[shape]
            yield upload(name, content, open_page)._replace(usual=usual[shape])
        browser.close()


def _shape(content: bytes, name: str) -> Shape:
    """Return the shape of the plain table that a file is compared with."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            table = reading.convert_apart(content, Path(folder) / "table", name=name)
        except ValueError:
            return None
    n_rows = table.n_rows if table.n_rows >= SMALL else 100
    return n_rows, table.n_columns


def _files() -> Iterator[tuple[str, Callable[[], bytes], Callable]]:
    """Yield names, what makes the bytes, and what opens the page that takes them."""
    for name, case in TABLES.items():
        yield name, case.make, _to_data
    with tempfile.TemporaryDirectory() as folder:
        with closing(open_store(Path(folder) / "home")) as store:
            packed_run(store, Path(folder) / "bundle.zip")
        members, facts = opened(Path(folder) / "bundle.zip")
    yield "plain bundle.zip", lambda: written(members, facts), _to_runs
    for name, make in (MEMBERS | FILES).items():
        yield f"{name}.zip", lambda make=make: make(members, facts), _to_runs


def _to_data(page: Page, url: str) -> Callable[[dict], None]:
    page.goto(f"{url}/Data")
    field = page.locator("input[type=file]").first
    field.wait_for(state="attached")
    return field.set_input_files


def _to_runs(page: Page, url: str) -> Callable[[dict], None]:
    page.goto(f"{url}/Runs")
    page.get_by_role("button", name="Import runs").click()
    field = page.locator("input[type=file]").first
    field.wait_for(state="attached")

    def send(file: dict) -> None:
        field.set_input_files(file)
        page.get_by_role("button", name="Import", exact=True).click()

    return send


def _words(page: Page) -> str:
    """Wait until a page says what became of a file and return it."""
    refused = page.get_by_test_id("stAlert")
    question = page.get_by_text("Which one?")
    answer = page.get_by_text("Rows used", exact=True)
    end = time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        for text in (refused, question):
            if text.count():
                return " ".join(text.first.inner_text().split())
        if answer.count() and page.locator(FINISHED).count():
            return "read"
        if urlsplit(page.url).path in ("/Sweep", "/Train"):
            return "imported"
        page.wait_for_timeout(1000 * LOOK_SECONDS)
    return f"nothing within {PATIENCE} s"


def print_cost(cost: Cost) -> None:
    """Print a line of the table."""
    seconds, n_bytes = cost.above
    print(
        f"{cost.name[:44]:44s} {cost.size / 1000:6.0f} {cost.seconds:8.2f} "
        f"{cost.grown / 2**20:4.0f} {seconds:8.2f} {n_bytes / 2**20:4.0f} "
        f"{cost.box_seconds:6.2f} {cost.box_bytes / 2**20:4.0f}  {cost.words[:150]}",
        flush=True,
    )


def print_costs(url: str, pid: int, only: str = "") -> None:
    """Upload crafted files to the app of ``pid``; print what each cost."""
    print(HEAD, flush=True)
    crafted = []
    for cost in upload_all(url, pid, only):
        print_cost(cost)
        if cost.usual is not None:
            crafted.append(cost)
    print(f"the dearest, by seconds above a plain file\n{HEAD}")
    for cost in sorted(crafted, key=lambda cost: -cost.above[0])[:N_DEAREST]:
        print_cost(cost)
    print(f"the dearest, by memory above a plain file\n{HEAD}")
    for cost in sorted(crafted, key=lambda cost: -cost.above[1])[:N_DEAREST]:
        print_cost(cost)
    n_within = sum(cost.is_within for cost in crafted)
    print(
        f"{n_within} of {len(crafted)} files are within {MOST_SECONDS} s and "
        f"{MOST_BYTES >> 20} MB above a plain file"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="files with this in the name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        app, url = serve(home, COMMAND)
        try:
            print_costs(url, app.pid, options.only)
        finally:
            app.send_signal(signal.SIGINT)
            app.wait(20)


if __name__ == "__main__":
    main()
