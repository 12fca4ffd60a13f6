"""Take the README's pictures of the running app with Chromium.

python docs/take_pictures.py
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


def serve(home: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app on a free port; return its process and address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    command += ["--server.port", str(port), "--server.headless", "true"]
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
    """Let figures settle and save what is on the screen."""
    page.wait_for_timeout(2500)
    page.screenshot(path=PICTURES / f"{name}.png")


def walk(page: Page, address: str) -> None:
    """Take the pictures of the way from Home to a model in training."""
    page.goto(address)
    page.get_by_role("button", name="Open the demo").wait_for()
    shoot(page, "home")
    page.get_by_text("Open", exact=True).first.click()
    page.get_by_text("Rows used").wait_for()
    shoot(page, "data")
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    page.get_by_test_id("stSidebar").get_by_text("Train", exact=True).click()
    page.get_by_text("Locality (τ)").wait_for()
    page.get_by_role("button", name="More settings").click()
    epochs = page.get_by_role("spinbutton", name="Epochs")
    epochs.fill("300")
    epochs.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Train 3 models").click()
    page.get_by_text("safe to close this page").wait_for()
    page.wait_for_timeout(2000)
    shoot(page, "train_running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled after").wait_for()


def train_and_show(page: Page, address: str, home: str) -> str:
    """Train ROAD beside the plain model; take the pictures of what it changed."""
    spec = SweepSpec(
        data=DataSource(sample="loans"),
        methods=(
            MethodGrid(method="unconstrained"),
            MethodGrid(method="road", params={"fairness_weight": 3.0}),
        ),
        seeds=(0, 1, 2),
    )
    with closing(open_store(Path(home))) as store:
        run = submit(store, spec)
        while not store.run(run).over:
            time.sleep(0.2)
        query = f"run={run}&data={store.run(run).dataset_id}"
    for path in ("Train", "Local_fairness", "Weights"):
        page.goto(f"{address}/{path}?{query}")
        page.get_by_test_id("stMetric").first.wait_for()
        shoot(page, path.lower())
    return query


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
            walk(page, address)
            query = train_and_show(page, address, home)
            phone = chromium.new_page(
                viewport=PHONE, color_scheme="dark", device_scale_factor=1.5
            )
            phone.goto(f"{address}/Local_fairness?{query}")
            phone.get_by_test_id("stMetric").first.wait_for(timeout=60_000)
            shoot(phone, "phone")
            chromium.close()
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
