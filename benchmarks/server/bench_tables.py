"""What a table costs the process that serves pages: its first visit, and one more.

Serves an empty store, uploads each table on Data in Chromium and waits until the page
stands still, then opens the page again. Processor seconds are those of the app's own
process, in which all sessions take turns; what it starts to read or to describe a table
is beside it.

    OMP_NUM_THREADS=1 python benchmarks/server/bench_tables.py [wide mixed ordinary ...]
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from bench_sliders import serve
from playwright.sync_api import sync_playwright
from processor_time import processor_seconds

PATIENCE = 600_000  # ms


def columns(n_rows, n_columns, seed=0):
    """Return columns of six kinds in turn, a group and an outcome by chance."""
    rng = np.random.default_rng(seed)
    towns = [f"town {i}" for i in range(200)]
    kinds = {
        "number": lambda: rng.normal(size=n_rows).round(4),
        "category": lambda: rng.choice(["a", "b", "c", "d"], n_rows),
        "flag": lambda: rng.integers(0, 2, n_rows),
        "level": lambda: rng.integers(0, 5, n_rows),
        "town": lambda: rng.choice(towns, n_rows),
        "gap": lambda: np.where(
            rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows).round(2)
        ),
    }
    result = {"sex": rng.choice(["male", "female"], n_rows)}
    result["age"] = rng.integers(18, 80, n_rows)
    for i in range(n_columns - 3):
        kind = list(kinds)[i % len(kinds)]
        result[f"{kind} of {i}"] = kinds[kind]()
    result["outcome"] = rng.choice(["yes", "no"], n_rows)
    return pd.DataFrame(result)


def constant(n_columns):
    return pd.DataFrame([["1"] * n_columns], columns=["x"] * n_columns)


TABLES = {
    "constant": ("2,000 columns of one row", lambda: constant(2_000)),
    "wide": ("2,000 columns of 100 rows", lambda: columns(100, 2_000)),
    "mixed": ("303 columns of 20,000 rows", lambda: columns(20_000, 303)),
    "ordinary": ("15 columns of 50,000 rows", lambda: columns(50_000, 15)),
}


def rest(page):
    """Wait until the page's script has ended for half a second."""
    page.get_by_role("tab", name="Scores").wait_for(timeout=PATIENCE)
    done = page.locator("[data-test-script-state=notRunning]")
    still = 0
    while still < 5:
        done.wait_for(timeout=PATIENCE)
        page.wait_for_timeout(100)
        still = still + 1 if done.count() else 0


def visit(page, url, content, name, app):
    """Upload a table and open it again; return seconds of processor and of the hand."""
    page.goto(f"{url}/Data")
    field = page.locator("input[type=file]").first
    field.wait_for(state="attached")
    problems = []
    for again in (False, True):
        before = processor_seconds(app.pid)
        began = time.perf_counter()
        if again:
            page.reload()
        else:
            file = {"name": name, "mimeType": "text/csv", "buffer": content}
            field.set_input_files(file)
        rest(page)
        spent = processor_seconds(app.pid) - before
        problems.append((spent, time.perf_counter() - began))
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES), choices=TABLES)
    options = parser.parse_args()
    home = tempfile.mkdtemp()
    command = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
    app, url = serve(home, command)
    try:
        with sync_playwright() as drive:
            browser = drive.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            small = columns(500, 9).to_csv(index=False).encode()
            visit(browser.new_page(), url, small, "small.csv", app)
            print("seconds: processor of the app, by the clock")
            for name in options.tables:
                words, make = TABLES[name]
                content = make().to_csv(index=False).encode()
                page = browser.new_page()
                first, again = visit(page, url, content, f"{name}.csv", app)
                page.close()
                print(
                    f"{words:30s} first {first[0]:6.2f} {first[1]:6.1f}"
                    f"   again {again[0]:5.2f} {again[1]:5.1f}",
                    flush=True,
                )
            browser.close()
        memory = psutil.Process(app.pid).memory_info().rss
        print(f"memory at the end: {memory / 2**20:.0f} MB")
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        shutil.rmtree(Path(home), ignore_errors=True)


if __name__ == "__main__":
    main()
