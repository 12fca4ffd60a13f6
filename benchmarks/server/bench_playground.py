"""From the choice of a method in the Playground to its surface, in Chromium.

Opens the page of an app with an empty home and, method by method, measures in the
browser's own clock:

- first: until the surface of the first stops can be moved;
- all: until all stops of both sliders are trained;
- again: until the surface of a method that was trained before is there.

Then the slider is dragged: the time from frame to frame, and what the browser sends
between press and release.

    python benchmarks/server/bench_playground.py [--presses 20] [--changed]

Views of all scenes come with the package. With ``--changed`` some people of each scene
are recorded wrongly, so that every method is trained. Then the first method also waits
for the processes that train to start; it stands apart.
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

import numpy as np
from playwright.sync_api import Page, WebSocket, sync_playwright

from fairdash.methods import CATALOG

METHODS = ("adversarial", "road", "broad", "cuma", "fair_log_loss", "hardt", "sensei")
SCENES = ("hidden_corner", "proxy", "equal_rates")
HEALTH = "http://127.0.0.1:{port}/_stcore/health"
# what the page shows: how many stops, of which method, and whether more are to come
LOOK = """() => {
  const roots = [...document.querySelectorAll("*")].map((e) => e.shadowRoot ?? e)
  const inside = (name) => roots.map((root) => root.querySelector?.(name)).find(Boolean)
  const name = inside(".side .name")
  return {
    method: name?.textContent,
    status: inside(".status")?.textContent,
    waiting: inside(".grid.waiting") != null,
  }
}"""
DRAG = """() => new Promise((done) => {
  const frames = []
  let last = null
  const step = (now) => {
    if (last !== null) frames.push(now - last)
    last = now
    if (frames.length < 120) requestAnimationFrame(step)
    else done(frames)
  }
  requestAnimationFrame(step)
})"""


def serve(home: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start the app on a free port; return its process and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
    app = subprocess.Popen(
        [*command, "--port", str(port)],
        env={**os.environ, "FAIRDASH_HOME": home},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    for _ in range(600):
        try:
            urllib.request.urlopen(HEALTH.format(port=port), timeout=1)
        except OSError:
            time.sleep(0.1)
        else:
            return app, port
    raise TimeoutError("the app did not start")


def until(page: Page, method: str, *, all_stops: bool) -> float:
    """Return the seconds until a method is drawn, or all its stops are trained."""
    began = time.perf_counter()
    while True:
        seen = page.evaluate(LOOK)
        drawn = seen["method"] == method and not seen["waiting"]
        if drawn and not (all_stops and seen["status"]):
            return time.perf_counter() - began
        time.sleep(0.02)


def choose(page: Page, label: str) -> None:
    """Pick a method in the menu."""
    menu = page.get_by_role("combobox", name="Method")
    # The menu draws only the options near those that are seen.
    menu.fill(label)
    page.get_by_role("option", name=label, exact=True).click()


def line(name: str, seconds: list[float]) -> str:
    """Return median and 95th percentile of some times."""
    middle, late = np.percentile(seconds, [50, 95])
    return f"{name}: median {middle:.2f} s, p95 {late:.2f} s, of {len(seconds)}"


def drag(page: Page, sockets: list[WebSocket]) -> tuple[list[float], int]:
    """Drag the slider for 120 frames; return their times and what was sent."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    for open_socket in sockets:
        open_socket.on("framesent", lambda frame: sent.append("frame"))
    box = page.locator(".live_plane .first input").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 10, middle)
    page.mouse.down()
    page.evaluate(f"window.drag = ({DRAG})()")
    for step in range(60):
        page.mouse.move(box["x"] + 10 + (box["width"] - 20) * step / 60, middle)
        page.wait_for_timeout(15)
    frames: list[float] = page.evaluate("window.drag")
    n_sent = len(sent)
    page.mouse.up()
    return frames, n_sent


def measure(page: Page, address: str, n_presses: int, change: str) -> None:
    """Print all figures; ``change`` is what a URL says of the people."""
    first = []
    everything = []
    again = []
    sockets: list[WebSocket] = []
    page.on("websocket", lambda opened: sockets.append(opened))
    page.goto(f"{address}/Playground?shown_method=logistic{change}")
    print(f"cold: {until(page, 'Logistic', all_stops=False):.2f} s", flush=True)
    places = [(scene, method) for scene in SCENES for method in METHODS][:n_presses]
    for scene, method in places:
        query = f"scene={scene}&shown_method=logistic{change}"
        page.goto(f"{address}/Playground?{query}")
        until(page, "Logistic", all_stops=True)
        label = CATALOG[method].label
        choose(page, label)
        first.append(until(page, label, all_stops=False))
        everything.append(first[-1] + until(page, label, all_stops=True))
        if change:
            print(f"{scene} {method}: {first[-1]:.2f} s, {everything[-1]:.2f} s")
        choose(page, "Logistic")
        until(page, "Logistic", all_stops=True)
        choose(page, label)
        again.append(until(page, label, all_stops=True))
    print(line("first stops", first))
    print(line("all stops", everything))
    print(line("again", again))
    frames, n_sent = drag(page, sockets)
    print(f"a frame of a drag: median {np.median(frames):.1f} ms, sent: {n_sent}")


def main() -> None:
    """Start the app, measure, end it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=20)
    parser.add_argument("--changed", action="store_true")
    options = parser.parse_args()
    change = "&wrong_records=5" if options.changed else ""
    with tempfile.TemporaryDirectory() as home:
        app, port = serve(home)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.set_default_timeout(120_000)
                measure(page, f"http://localhost:{port}", options.presses, change)
                browser.close()
        finally:
            os.killpg(app.pid, signal.SIGTERM)
            app.wait(timeout=60)


if __name__ == "__main__":
    main()
