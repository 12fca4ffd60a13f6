"""Take the pictures of README.md and docs/data.md of the running app with Chromium.

python docs/take_pictures.py [figures]

With ``figures`` those alone that the blocks of docs/start/gallery.md draw.
"""

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
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from fairdash.ui import pages

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
DESKTOP = {"width": 1440, "height": 900}
SMALL = {"width": 1200, "height": 800}  # for pages full of text
PAGES = [page.url_path for page in pages.pages() if page.pick]
DRAWN = {  # what each page has once it is drawn
    "Sweep": ".linked .map rect",
    "Post-process": ".live_ramp polyline",
}
SCENES = {"show_map": 2, "show_ramp": 5}
PHONE = {"width": 390, "height": 844}


def serve(home: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app on a free port; return its process and address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.headless", "true"]
    command += ["--server.fileWatcherType", "none"]
    app = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "FAIRDASH_HOME": home})
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
        except OSError:
            time.sleep(0.1)
        else:
            return app, f"http://localhost:{port}"
    raise TimeoutError("the app did not start")


def shoot(page: Page, name: str) -> None:
    """Let the page and its figures settle and save what is on the screen."""
    page.mouse.move(1, 1)
    page.wait_for_timeout(500)
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_timeout(2500)
    page.screenshot(path=PICTURES / f"{name}.png")


def walk(page: Page, address: str) -> str:
    """Open the finished sweep of Loans; take a picture of every page.

    Returns the part of an address that names the run.
    """
    page.goto(address)
    page.get_by_role("button", name="See a finished sweep").click()
    page.get_by_role("heading", name="What does fairness cost?").wait_for()
    page.locator(DRAWN["Sweep"]).first.wait_for()
    query = page.url.partition("?")[2]
    for path in PAGES:
        opened = query
        if path == "Post-process":  # opens on the plain model, whose gap it narrows
            opened = re.sub(r"(^|&)model=[^&]*", "", query)
        page.goto(f"{address}/{path}?{opened}")
        if path == "Drift":
            page.get_by_role("button", name="Open the drifted sample").click()
        page.locator(DRAWN.get(path, ".js-plotly-plot")).first.wait_for()
        shoot(page, path.lower())
    present(page, f"{address}/Sweep?{query}")
    return query


def present(page: Page, sweep: str) -> None:
    """Take pictures of scenes of the show mode; keys lead from one to the next."""
    page.goto(f"{sweep}&show=1")
    page.locator(".linked .front .ring").wait_for()
    at = 1
    for name, scene in SCENES.items():
        for _ in range(scene - at):
            page.keyboard.press("ArrowRight")
            at += 1
            page.get_by_text(f"{at} of ").wait_for()
        page.locator(".linked svg, .live_ramp polyline").first.wait_for()
        shoot(page, name)


def audit_compas(page: Page, address: str) -> None:
    """Audit COMPAS by its deciles in three clicks; print how long it took."""
    folder = os.environ.get("FAIRDASH_DATA")
    if folder is None:
        return
    page.goto(address)
    upload = page.get_by_role("button", name="Upload a table")
    upload.wait_for()
    start = time.monotonic()
    upload.click()
    table = Path(folder) / "raw" / "compas-scores-two-years.csv"
    page.locator("input[type=file]").set_input_files(table)
    page.get_by_role("button", name="Audit decile_score").click()
    page.get_by_role("heading", name="Where is the model unfair?").wait_for()
    page.locator(".js-plotly-plot").first.wait_for()
    print(f"COMPAS from upload to its audit: {time.monotonic() - start:.1f} s")
    shoot(page, "compas")


def figures() -> None:
    """Take the pictures of what the gallery draws from Python."""
    text = (ROOT / "docs" / "start" / "gallery.md").read_text()
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code, names)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport=SMALL)
        for name in [name for name in names if name.startswith("figure_")]:
            page.set_content(names["show"](names[name]).page)
            page.wait_for_selector("html[data-drawn]")
            page.locator("figure").screenshot(path=PICTURES / f"{name}.png")
        chromium.close()


def main() -> None:
    """Serve the app in an empty home folder, walk through it, clean up."""
    PICTURES.mkdir(exist_ok=True)
    home = tempfile.mkdtemp()
    app, address = serve(home)
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport=DESKTOP)
            page.set_default_timeout(90_000)
            query = walk(page, address)
            audit_compas(page, address)
            phone = chromium.new_page(
                viewport=PHONE, color_scheme="dark", device_scale_factor=1.5
            )
            phone.goto(f"{address}/Local_fairness?{query}")
            phone.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
            shoot(phone, "phone")
            chromium.close()
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    figures()
    if "figures" not in sys.argv:
        main()
