"""How soon exact figures stand after a slider of the ramp is let go, in Chromium.

A table of a million rows with a column of probabilities: 800,000 calibration rows,
200,000 test rows. The width of the ramp is released at values not seen before; a
mutation observer in the page notes when the cards (accuracy, gap, changed decisions)
last changed. Beside it, what a step of the drag costs in the browser alone, and the
first visit. With --training a worker a core trains a sweep of ROAD meanwhile.

    OMP_NUM_THREADS=1 python benchmarks/server/bench_release.py [--releases 20]
        [--training]
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
from bench_load import training
from playwright.sync_api import sync_playwright
from processor_time import processor_seconds

from fairdash.datasets import Roles, ScoreColumn, Subgroups
from fairdash.store import open_store

ROOT = Path(__file__).parents[2]
SLIDER = "Ramp width (γ)"
WATCH = """
() => {
  window.seen = {}
  const note = (name) => { window.seen[name] = performance.now() }
  const within = (node, id) => node.parentElement?.closest(`[data-testid="${id}"]`)
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const node = target.nodeType === 3 ? target : (addedNodes[0] ?? target)
      if (within(node, "stMetric")) note("cards")
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}
"""
RELEASE = """
(slider, value) => {
  window.seen = {}
  slider.value = value
  slider.dispatchEvent(new Event("input"))
  window.begun = performance.now()
  slider.dispatchEvent(new Event("change"))
}
"""
STEPS = """
async slider => {
  const times = []
  for (let i = 0; i < 60; i++) {
    slider.value = 0.05 + 0.02 * i
    const start = performance.now()
    slider.dispatchEvent(new Event("input"))
    await new Promise(done => requestAnimationFrame(done))
    times.push(performance.now() - start)
  }
  return times
}
"""


def make_table(home, n):
    """Keep a table of people whose probabilities are true, and return its data set."""
    rng = np.random.default_rng(0)
    male = rng.integers(0, 2, n)
    age = rng.integers(18, 80, n)
    margin = rng.normal(-0.35 + 0.35 * male + 0.004 * (age - 45), 0.45, n)
    margin = np.clip(margin, -0.999, 0.999)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": np.where(male == 1, "Male", "Female"),
            "risk": ((margin + 1) / 2).round(6),
            "outcome": np.where(rng.uniform(-1, 1, n) < margin, "yes", "no"),
        }
    )
    store = open_store(home)
    table = store.add_table(frame.to_parquet(index=False), "people.parquet")
    roles = Roles(
        target="outcome",
        positive="yes",
        sensitive_feature="sex",
        features=("age",),
        scores=(ScoreColumn(column="risk", kind="probability"),),
    )
    return store.add_dataset(table, roles, "People", Subgroups(columns=("age",)))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(address):
    for _ in range(300):
        try:
            socket.create_connection(address, 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("The app did not start.")


def settled(page):
    """Wait until nothing has changed for a while and return when each part last did."""
    page.wait_for_function(
        "() => window.seen.cards"
        " && performance.now() - Math.max(...Object.values(window.seen)) > 700"
    )
    return page.evaluate("() => window.seen"), page.evaluate("() => window.begun")


def drive(page, url, releases, pid):
    began = time.perf_counter()
    page.goto(url)
    slider = page.get_by_role("slider", name=SLIDER)
    slider.wait_for(timeout=120_000)
    first = time.perf_counter() - began
    page.get_by_test_id("stMetric").nth(2).wait_for(timeout=120_000)
    whole = time.perf_counter() - began
    page.wait_for_timeout(2000)
    page.evaluate(WATCH)
    rows = []
    spent = processor_seconds(pid)
    for i in range(releases + 1):
        slider.evaluate(RELEASE, round(0.07 + 0.03 * i, 2))
        seen, begun = settled(page)
        rows.append({name: when - begun for name, when in seen.items()})
    spent = (processor_seconds(pid) - spent) / (releases + 1)
    steps = slider.evaluate(STEPS)
    return first, whole, pd.DataFrame(rows[1:]), steps, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--training", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        dataset = make_table(Path(home), options.rows)
        port = free_port()
        command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
        command += ["--server.port", str(port), "--server.headless", "true"]
        command += ["--server.fileWatcherType", "none"]
        environment = os.environ | {"FAIRDASH_HOME": home}
        quiet = subprocess.DEVNULL
        app = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        try:
            wait_for(("127.0.0.1", port))
            browser = playwright.chromium.launch(
                executable_path=options.chromium, args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            url = f"http://127.0.0.1:{port}/Post-process?data={dataset}"
            with training(Path(home)) if options.training else nullcontext():
                first, whole, table, steps, spent = drive(
                    page, url, options.releases, app.pid
                )
            browser.close()
        finally:
            app.terminate()
            app.wait()
    print(
        f"{options.rows:,} rows; first visit: sliders {first:.1f} s, all {whole:.1f} s"
    )
    meanwhile = ", training beside" * options.training
    print(f"{len(table)} releases of γ{meanwhile}, ms to the last change\n")
    print("| part | median | 90 % |\n|---|---|---|")
    ms = table["cards"]
    print(f"| cards | {ms.median():.0f} | {ms.quantile(0.9):.0f} |")
    median, most = np.quantile(steps, [0.5, 0.9])
    print(f"| a step of the drag | {median:.1f} | {most:.1f} |")
    print(f"\nServer's processor time a release: {1000 * spent:.0f} ms;")
    print(
        f"load average of the machine, {os.cpu_count()} cores: {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
