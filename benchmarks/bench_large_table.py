"""What a large table costs in the app: seconds and peak memory, page by page.

Serves the app in an empty home folder and drives it in Chromium as a new user would: a
file is uploaded and its roles are guessed. A logistic regression is trained on 100,000
of its rows from a terminal. Then every page is opened, and a widget used on it.

    python benchmarks/bench_large_table.py [--rows 5000000] [--file parquet]

Seconds go from the click to the end of the last script run. Memory is the largest sum
of the proportional set sizes (shared pages shared out) of the server, the engine's host
and all below them, looked at five times a second; the browser is not counted. "Idle" is
what is held two seconds after.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
from playwright.sync_api import sync_playwright
from process_memory import Watch
from pyarrow import csv, parquet

from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec
from fairdash.ui import pages

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "from fairdash.cli import app; app()"]
WINDOW = {"width": 1440, "height": 900}
QUIET = 0.6  # seconds without a script run after which a page is at rest
MB = 1e6
CHECKED = re.compile(r"^Checks \(")
KINDS = ("csv", "parquet")
NOT_OPENED = pages.DRIFT, pages.LIMITS, pages.MONITOR, pages.PLAYGROUND
PAGES = {page.name: page.url_path for page in pages.pages() if page not in NOT_OPENED}

CHUNK = 250_000
N_CATEGORIES = 8
N_COUNTS = 12
N_SCORES = 4
ETHNICITIES = np.array(["White", "Black", "Asian"])
SHARES = (0.6, 0.25, 0.15)
UNDER = 30
PLANTED = 1.5
PLAIN = csv.WriteOptions(quoting_style="none")


def make_files(folder, n_rows):
    """Write a table as CSV and as Parquet into a folder; return their paths.

    Thirty columns: an id, a date, an outcome, an ethnicity, sex and age for subgroups,
    eight further categories, sixteen numbers. White applicants and others get the same
    decisions, except for women under 30: there, others have odds e^1.5 times lower.
    """
    as_csv = Path(folder) / "table.csv"
    as_parquet = Path(folder) / "table.parquet"
    rng = np.random.default_rng(0)
    schema = _chunk(rng, 0, 1).schema
    with (
        csv.CSVWriter(as_csv, schema, write_options=PLAIN) as plain,
        parquet.ParquetWriter(as_parquet, schema) as packed,
    ):
        for start in range(0, n_rows, CHUNK):
            rows = _chunk(rng, start, min(CHUNK, n_rows - start))
            plain.write_table(rows)
            packed.write_table(rows)
    return as_csv, as_parquet


def _chunk(rng, start, n):
    """Return some rows as a table of Arrow."""
    ethnicity = rng.choice(len(ETHNICITIES), n, p=SHARES)
    female = rng.random(n) < 0.5
    age = rng.integers(18, 80, n)
    counts = rng.integers(0, 10, (N_COUNTS, n))
    scores = rng.normal(size=(N_SCORES, n)).clip(-3, 3).round(1)
    planted = PLANTED * (female & (age < UNDER) & (ethnicity > 0))
    logit = (counts[:4].sum(0) - 18) / 5 + scores[:2].sum(0) - planted
    day = np.datetime64("2024-01-01") + rng.integers(0, 730, n)
    columns = {
        "id": np.arange(start, start + n),
        "applied": day.astype("datetime64[D]").astype(str),
        "ethnicity": ETHNICITIES[ethnicity],
        "sex": np.where(female, "F", "M"),
        "age": age,
    }
    for i in range(N_CATEGORIES):
        columns[f"place{i}"] = np.array([*"abcdefgh"])[rng.integers(0, 8, n)]
    columns |= {f"count{i}": counts[i] for i in range(N_COUNTS)}
    columns |= {f"score{i}": scores[i] for i in range(N_SCORES)}
    columns["approved"] = (logit + rng.logistic(size=n) > 0).astype(np.int64)
    return pa.table(columns)


@contextmanager
def serve(home):
    """Serve the app from a home folder; yield its process and address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(home / "app.log", "wb") as log:
        app = subprocess.Popen(
            [*COMMAND, "app", "--home", str(home), "--port", str(port)],
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        for _ in range(600):
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health")
                break
            time.sleep(0.1)
        yield app, f"http://localhost:{port}"
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=60)


def host(home):
    """Return the process of the engine's host, if there is one."""
    with suppress(OSError, ValueError):
        return [json.loads((home / "engine.json").read_text())["pid"]]
    return []


def rest(page):
    """Wait until no script has run for a while; return when the last one ended."""
    ended = time.perf_counter()
    still = False
    while not still or time.perf_counter() - ended < QUIET:
        app = page.get_by_test_id("stApp")
        still = app.get_attribute("data-test-script-state") == "notRunning"
        waiting = page.get_by_test_id("stSpinner").count()
        if not still or waiting:
            ended = time.perf_counter()
            still = False
        time.sleep(0.02)
    return ended


class Bench:
    """Does one thing after the other on a page and prints what each costs."""

    def __init__(self, page, watch):
        self.page, self.watch = page, watch

    def step(self, name, act, text=None):
        """Do something, wait for ``text`` and for the end of the script."""
        self.watch.begin()
        began = time.perf_counter()
        act()
        if text is not None:
            self.page.get_by_text(text).first.wait_for()
        seconds = rest(self.page) - began
        peak = self.watch.peak()
        time.sleep(2)
        idle = self.watch.now()
        print(
            f"| {name} | {seconds:.1f} | {peak / MB:,.0f} | {idle / MB:,.0f} |",
            flush=True,
        )
        for problem in self.page.get_by_test_id("stException").all():
            raise RuntimeError(problem.inner_text())

    def use(self, name):
        """Move the first slider of the page, or choose anew; pass if it has neither."""
        main = self.page.get_by_test_id("stMain")
        sliders = main.get_by_role("slider").filter(visible=True)
        choices = main.get_by_role("radio", checked=False).filter(visible=True)
        if sliders.count():
            self.step(f"{name}, a slider", lambda: sliders.first.press("ArrowRight"))
        elif choices.count():
            self.step(f"{name}, a choice", lambda: choices.first.click())
        else:
            print(f"| {name}: nothing to use | | | |", flush=True)

    def edit_roles(self):
        """Change subgroups on the Data page, which change no row, then the outcome."""
        page = self.page
        page.get_by_role("button", name="Subgroups", exact=True).click()
        size = page.get_by_role("spinbutton", name="Smallest subgroup (rows)")

        def resize():
            size.fill("60")
            size.press("Enter")

        self.step("Data, the smallest subgroup", resize)
        page.keyboard.press("Escape")
        choice = page.get_by_role("radio", name="0", exact=True)
        self.step("Data, the other value of the outcome", choice.click)


def visit_all(bench, address, query):
    """Open every page as from the menu and use a widget on it."""
    page = bench.page
    for name, path in PAGES.items():
        goal = f"{address}/{path}?{query}"
        bench.step(name, lambda goal=goal: page.goto(goal), re.compile(r"\?$"))
        if name == "Data":
            bench.edit_roles()
        else:
            bench.use(name)


def train(bench, home, roots):
    """Train a logistic regression on 100,000 rows by `fairdash run`; return its run."""
    with closing(open_store(home)) as store:
        (record,) = store.datasets()
    spec = SweepSpec(
        data=DataSource(
            table=record.table_sha256, roles=record.roles, name=record.name
        ),
        methods=(MethodGrid(method="logistic"),),
        subgroups=record.subgroups,
        train_rows=100_000,
    )
    config = home / "logistic.yaml"
    config.write_text(spec.to_yaml())
    options = ["--home", str(home)]

    def run():
        trainer = subprocess.Popen([*COMMAND, "run", str(config), *options])
        roots.append(trainer.pid)
        if trainer.wait():
            raise RuntimeError("the logistic regression was not trained")

    bench.step("`fairdash run` on 100,000 rows", run)
    with closing(open_store(home)) as store:
        return store.runs()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--file", choices=KINDS, default="csv")
    parser.add_argument("--patience", type=int, default=600, help="seconds of a step")
    parser.add_argument("--shot", help="picture of the page where a step failed")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    os.environ["FAIRDASH_LINGER"] = "0.5"
    try:
        files = dict(zip(KINDS, make_files(folder, options.rows), strict=True))
        path = files[options.file]
        size = path.stat().st_size
        print(
            f"{options.rows:,} rows, 30 columns, {options.file} {size / MB:.0f} MB, "
            f"load {os.getloadavg()[0]:.1f}\n\n| | seconds | peak MB | idle MB |\n"
            "|---|---|---|---|",
            flush=True,
        )
        home = folder / "home"
        home.mkdir()
        with serve(home) as (app, address), sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport=WINDOW)
            page.set_default_timeout(options.patience * 1000)
            roots = [app.pid]
            with Watch(lambda: [*roots, *host(home)]) as watch:
                bench = Bench(page, watch)
                try:
                    bench.step(
                        "Start", lambda: page.goto(f"{address}/Data"), "Upload a table"
                    )
                    field = page.locator("input[type=file]")
                    bench.step(
                        "Upload to checked Data page",
                        lambda: field.set_input_files(path),
                        CHECKED,
                    )
                    run = train(bench, home, roots)
                    visit_all(bench, address, f"run={run.id}&data={run.dataset_id}")
                except Exception:
                    if options.shot:
                        page.screenshot(path=options.shot)
                    raise
            chromium.close()
    finally:
        time.sleep(2)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
