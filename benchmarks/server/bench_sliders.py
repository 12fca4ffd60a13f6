"""From the hand on a sweep's slider to new numbers and figures, in Chromium.

Builds a store with a finished sweep of ROAD, 20 x 10 settings on 50,000 rows, opens its
page and presses the λ slider at one place after the other. The scores are made up: a
cheap logistic model per setting whose gap falls with λ, for only time counts here.

    python benchmarks/server/bench_sliders.py [--rows 50000] [--presses 20]

In the browser's own clock. From the moment the mouse goes down: numbers until the cards
say something else, figures until the last change of the pictures (front, curve,
weights). From the moment it is let go, about 100 ms later: address until the server has
answered the release.

Before that τ is dragged to and fro: the time from frame to frame while all pictures
follow, and what the browser sent to the server between press and release.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

from fairdash.audits import sweeps
from fairdash.datasets import Roles, Subgroups, split
from fairdash.linked import linked_data
from fairdash.store import open_store
from fairdash.sweep import (
    DataSource,
    MethodGrid,
    SweepSpec,
    expand,
    score,
)

ROOT = Path(__file__).parents[2]
ROLES = Roles(
    target="y",
    positive="1",
    sensitive_feature="group",
    features=("age", "skill", "branch"),
    subgroup_columns=("branch",),
)
WATCH = """() => {
  const seen = window.seen = { numbers: 0, figures: 0, page: 0 };
  let began = null, released = null, before = {}, address = location.href;
  const roots = [...document.querySelectorAll("*")].map((e) => e.shadowRoot);
  const inside = (name) => roots.map((root) => root?.querySelector(name)).find(Boolean);
  const cards = inside(".cards");
  const state = () => ({
    numbers: cards.textContent,
    figures: [".ring", ".lambda .curve", ".areas path"]
      .map((name) => inside(name)?.outerHTML).join(),
  });
  const look = () => {
    if (began === null) return;
    const now = performance.now() - began, after = state();
    for (const name in after) if (after[name] !== before[name]) seen[name] = now;
    before = after;
  };
  const watcher = new MutationObserver(look);
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  const trees = [document.body, ...roots.filter(Boolean)];
  trees.forEach((root) => watcher.observe(root, all));
  setInterval(() => {
    if (location.href === address) return;
    address = location.href;
    seen.page = performance.now() - released;
  }, 4);
  document.addEventListener("pointerdown", (event) => {
    Object.assign(seen, { numbers: 0, figures: 0, page: 0 });
    before = state();
    began = event.timeStamp;
  }, true);
  document.addEventListener("pointerup", (event) => {
    released = event.timeStamp;
  }, true);
}"""
TIMES = {
    "numbers": "numbers, after the press",
    "figures": "figures, after the press",
    "page": "address, after the release",
}
FRAMES = """() => {
  window.frameTimes = []
  window.sentMeanwhile = 0
  let last = performance.now()
  window.tick = (now) => {
    window.frameTimes.push(now - last)
    last = now
    if (window.count) requestAnimationFrame(window.tick)
  }
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (...what) {
    if (window.count) window.sentMeanwhile += 1
    return send.apply(this, what)
  }
}"""


def applicants(n_rows):
    """Return a table whose groups differ most in one of ten branches."""
    rng = np.random.default_rng(0)
    group = rng.choice(["here", "there"], n_rows)
    branch = rng.choice([f"branch {letter}" for letter in "ABCDEFGHIJ"], n_rows)
    skill = rng.normal(size=n_rows)
    unfair = np.where(branch == "branch A", 1.5, 0.4) * (group == "there")
    y = skill - unfair + rng.logistic(size=n_rows) > 0
    columns = {"age": rng.integers(18, 70, n_rows), "skill": skill.round(4)}
    columns |= {"branch": branch, "group": group, "y": y.astype(int)}
    return pd.DataFrame(columns), skill, unfair


def build(home, n_rows):
    """Write a finished sweep into the store of ``home``; return the run's address."""
    frame, skill, unfair = applicants(n_rows)
    grid = {
        "fairness_weight": np.linspace(0, 5, 20).round(3).tolist(),
        "tau": np.linspace(0.1, 1, 10).round(2).tolist(),
    }
    rng = np.random.default_rng(1)
    with closing(open_store(Path(home))) as store:
        table = store.add_table(frame.to_csv(index=False).encode(), "applicants.csv")
        subgroups = Subgroups(columns=("branch",))
        data = store.add_dataset(table, ROLES, "Applicants", subgroups)
        spec = SweepSpec(
            data=DataSource(table=table, roles=ROLES, name="Applicants"),
            methods=(
                MethodGrid(method="unconstrained"),
                MethodGrid(method="road", params=grid),
            ),
            subgroups=subgroups,
        )
        dataset = store.dataset(data)
        trials = expand(spec, dataset.key)
        run = store.add_run(spec.model_dump(mode="json"), trials, "Grid", data)
        train = split(dataset, 0).train
        for trial in trials:
            weight = float(trial.params.get("fairness_weight", 0.0))
            tau = float(trial.params.get("tau", 1.0))
            noise = rng.normal(scale=0.1 + 0.05 * weight, size=n_rows)
            logit = skill * (1 - 0.06 * weight) + noise - unfair / (1 + weight)
            scores = (1 / (1 + np.exp(-logit))).astype(np.float32)
            ratio = rng.lognormal(sigma=min(1.5, 0.2 / tau), size=len(train))
            ratio = (ratio / ratio.mean()).astype(np.float32)
            store.artifact(trial.key).write(
                row={"key": trial.key, "method": trial.method, "seconds": 1.0},
                scores=scores,
                history=pd.DataFrame({"epoch": [1.0], "loss": [0.5]}),
                network={},
                ratio=ratio if trial.method == "road" else None,
            )
            store.put_progress(
                [
                    {
                        "key": trial.key,
                        "epoch": 1,
                        "n_epochs": 1,
                        "seconds": 1.0,
                        "curves": {},
                    }
                ]
            )
            row = score(dataset, 0, scores[None], subgroups).iloc[0].to_dict()
            store.put_trial(run, trial.key, row=row, seconds=1.0)
        store.set_status(run, "running")
        store.set_status(run, "finished")
    return run


def serve(home, command=None):
    """Start the app on a free port; return its process and address.

    By Streamlit's own command, or by one that takes ``--port``.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if command:
        command = [*command, "--port", str(port)]
    else:
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        command += ["--server.port", str(port), "--server.headless", "true"]
        command += ["--server.fileWatcherType", "none"]
    app = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "FAIRDASH_HOME": home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    for _ in range(600):
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health"):
            return app, address
        time.sleep(0.1)
    app.kill()
    raise TimeoutError("the app did not start")


def press(page, n_presses):
    """Return what was seen after each press of the λ slider, one row a press."""
    slider = page.get_by_role("slider", name="Fairness weight (λ)")
    box = slider.bounding_box()
    seen = []
    for i in range(n_presses):
        share = round((0.08 + 0.37 * i) % 1 * 19) / 19  # on a tick: nothing is trained
        across = box["x"] + 8 + share * (box["width"] - 16)
        page.mouse.move(across, box["y"] + box["height"] / 2)
        page.wait_for_timeout(200)
        page.mouse.down()
        page.wait_for_timeout(100)
        page.mouse.up()
        page.wait_for_timeout(1500)
        seen.append(page.evaluate("window.seen"))
    return pd.DataFrame(seen)


def drag(page, seconds):
    """Drag τ to and fro; return the ms of each frame and how much was sent."""
    slider = page.get_by_role("slider", name="Locality (τ)")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    wide = box["width"] - 16
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate(FRAMES)
    page.mouse.move(box["x"] + 8, middle)
    page.mouse.down()
    page.evaluate("window.count = true; requestAnimationFrame(window.tick)")
    end = time.perf_counter() + seconds
    step = 0
    while time.perf_counter() < end:
        step += 1
        share = abs((step / 60) % 2 - 1)
        page.mouse.move(box["x"] + 8 + share * wide, middle)
    frames = page.evaluate("(window.count = false, window.frameTimes)")
    n_sent = len(sent) + page.evaluate("window.sentMeanwhile")
    page.mouse.up()
    return pd.Series(frames[1:]), n_sent


def payload(home, run):
    """Return the bytes that the pictures of a run take, compressed."""
    with closing(open_store(Path(home))) as store:
        sweep = sweeps.finished_sweep(store, run)
        return len(linked_data(sweep, limit=0.05))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--presses", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=6.0, help="of the drag")
    options = parser.parse_args()
    home = tempfile.mkdtemp()
    app = None
    try:
        run = build(home, options.rows)
        app, address = serve(home)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport={"width": 1440, "height": 1400})
            began = time.perf_counter()
            page.goto(f"{address}/Sweep?run={run}")
            page.get_by_role("slider", name="Fairness weight (λ)").wait_for(
                timeout=600_000
            )
            page.locator(".linked .ring").first.wait_for(timeout=600_000)
            first = time.perf_counter() - began
            page.wait_for_timeout(4000)
            frames, n_sent = drag(page, options.seconds)
            page.evaluate(WATCH)
            table = press(page, options.presses)
            page.reload()
            page.locator("[data-testid=stMain] h1").first.wait_for()
            began = time.perf_counter()
            page.locator(".linked .ring").first.wait_for()
            again = time.perf_counter() - began
            chromium.close()
        n_bytes = payload(home, run)
    finally:
        if app is not None:
            app.send_signal(signal.SIGINT)
            app.wait(20)
        shutil.rmtree(home, ignore_errors=True)
    load = os.getloadavg()[0]
    print(f"{options.rows:,} rows, 201 models, {len(table)} presses, load {load:.1f}")
    print(f"first visit, until the front has its ring: {first:.1f} s")
    print(f"once made, after the page's first paint: {again:.1f} s")
    median, most = frames.quantile([0.5, 0.95])
    print(f"{len(frames)} frames of a drag: median {median:.1f} ms, 95% {most:.1f} ms")
    print(f"what the pictures take, compressed: {n_bytes:,} bytes")
    print(f"sent to the server between press and release: {n_sent}")
    print(f"{'ms':30s}  median   90 %")
    for name, words in TIMES.items():
        median, most = table[name].quantile([0.5, 0.9])
        print(f"{words:30s} {median:7.0f} {most:6.0f}")


if __name__ == "__main__":
    main()
