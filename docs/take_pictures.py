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
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Page, sync_playwright

from fairdash.datasets import SAMPLES, load_sample
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
DESKTOP = {"width": 1440, "height": 900}
SMALL = {"width": 1200, "height": 800}  # for pages full of text
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
    page.get_by_role("button", name="Train 3 seeds").click()
    page.get_by_text("safe to close this page").wait_for()
    page.wait_for_timeout(2000)
    shoot(page, "train_running")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled after").wait_for()


def messy_table(folder: str) -> Path:
    """Write the hiring sample as it might arrive: codes, copies, a title, repeats."""
    table = load_sample("hiring").frame
    late = table.index % 40 == 0
    table["years_experience"] = table["years_experience"].astype(str).mask(late, "n/k")
    table["test_score"] = table["test_score"].mask(table.index % 60 == 1, -999)
    table["site"] = table["site"].mask(table.index % 25 == 2, "head office")
    table["decision_letter"] = table["hired"].map({1: "offer", 0: "regret"})
    table["years copy"] = table["years_experience"]
    path = Path(folder) / "hiring from the office.csv"
    text = pd.concat([table, table.head(3)]).to_csv(index=False, sep=";")
    path.write_text("Applications, export of May\n" + text)
    return path


def check_and_mend(page: Page, address: str, folder: str) -> None:
    """Take the pictures of where data come from, and of findings about a file."""
    page.set_viewport_size(SMALL)
    page.goto(f"{address}/Data")
    page.get_by_text("Or fetch a public table").wait_for()
    page.wait_for_timeout(1500)
    page.get_by_text("Or start from a sample").scroll_into_view_if_needed()
    page.mouse.move(800, 500)
    page.mouse.wheel(0, 300)
    shoot(page, "data_start")
    page.locator("input[type=file]").set_input_files(messy_table(folder))
    tab = page.get_by_role("tab", name="Checks")
    tab.wait_for()
    page.wait_for_timeout(2500)
    page.get_by_text("The file itself never changes").scroll_into_view_if_needed()
    grid = page.get_by_role("tabpanel").get_by_test_id("stDataFrame").first
    for row in (1, 2):
        grid.click(position={"x": 17, "y": 35 * row + 17})
        page.wait_for_timeout(2500)
    page.mouse.move(800, 500)
    page.mouse.wheel(0, 1200)
    shoot(page, "data_checks")
    page.set_viewport_size(DESKTOP)


def train(home: str, methods: tuple[MethodGrid, ...], *, n_seeds: int) -> str:
    """Train on the loans sample; return the part of an address that names the run."""
    spec = SweepSpec(
        data=DataSource(sample="loans"), methods=methods, seeds=tuple(range(n_seeds))
    )
    with closing(open_store(Path(home))) as store:
        run = submit(store, spec)
        while not store.run(run).over:
            time.sleep(0.2)
        return f"run={run}&data={store.run(run).dataset_id}"


def show(page: Page, address: str, query: str, *paths: str) -> None:
    """Take a picture of each of these pages on a run."""
    for path in paths:
        page.goto(f"{address}/{path}?{query}")
        page.locator(".js-plotly-plot").first.wait_for()
        page.wait_for_function("!document.querySelector('[data-testid=stSpinner]')")
        shoot(page, path.lower())


def train_and_show(page: Page, address: str, home: str) -> str:
    """Train ROAD beside the plain model; take the pictures of what it changed."""
    plain = MethodGrid(method="unconstrained")
    road = MethodGrid(method="road", params={"fairness_weight": 3.0})
    query = train(home, (plain, road), n_seeds=3)
    show(page, address, query, "Train", "Local_fairness", "Weights")
    show(page, address, query, "Post-process", "Noisy_groups", "Individual_fairness")
    with closing(open_store(Path(home))) as store:
        later = SAMPLES["loans"].later
        digest = store.add_table(later.read_bytes(), later.name)
    show(page, address, f"{query}&files=drift%3D{digest}", "Drift")
    return query


def sweep_and_show(page: Page, address: str, home: str) -> None:
    """Train a grid of ROAD; take the picture of its front and map."""
    weights = {"linear": [0, 5, 5]}
    taus = {"log": [0.05, 1, 5]}
    road = MethodGrid(method="road", params={"fairness_weight": weights, "tau": taus})
    show(page, address, train(home, (road,), n_seeds=2), "Sweep")


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
    heading = page.get_by_role("heading", name="Every measure of")
    heading.wait_for()
    page.locator(".js-plotly-plot").nth(1).wait_for()
    print(f"COMPAS from upload to error rates: {time.monotonic() - start:.1f} s")
    page.mouse.move(800, 500)
    heading.evaluate("node => node.scrollIntoView()")
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
            walk(page, address)
            check_and_mend(page, address, home)
            audit_compas(page, address)
            query = train_and_show(page, address, home)
            sweep_and_show(page, address, home)
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
    figures()
    if "figures" not in sys.argv:
        main()
