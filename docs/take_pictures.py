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
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

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


def walk(page: Page, address: str) -> str:
    """Take the pictures of the main path; return the last run's query."""
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
    epochs.fill("150")
    epochs.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Train 3 models").click()
    page.get_by_text("safe to close this page").wait_for()
    page.wait_for_timeout(2000)
    shoot(page, "train_running")
    page.get_by_text("Paired change of Worst-1-DI").wait_for()
    shoot(page, "train")
    for link, name in (("Local fairness", "local_fairness"), ("Weights", "weights")):
        page.get_by_test_id("stSidebar").get_by_text(link, exact=True).click()
        page.get_by_test_id("stMetric").first.wait_for()
        shoot(page, name)
    return page.url.partition("?")[2]


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
