"""From the upload of a table nobody has seen to a finished sweep, in Chromium.

    python benchmarks/data/first_contact.py [TABLE ...] [--shots FOLDER]

TABLE is one of `guess_labels.csv`, where the right columns stand (packages: see
`bench_guess.py`). Default: three that were untouched when this was written, with more
than two groups, with missing values and text, and with a continuous outcome. Counts the
clicks that wrong defaults cost: a runner-up takes one, a column that is no runner-up
two. Each of the three must take one at most, and end in a sweep with its front drawn.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from bench_guess import is_right, labelled, load
from playwright.sync_api import Page, expect, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "server"))
from bench_sliders import serve

TABLES = (
    "stevedata::gss_abortion",
    "empulse/datasets/data/creditscoring2.csv.gz",
    "stevedata::gss_wages",
)
SECONDS = 300
WIDTHS = (1440, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def chosen(page: Page) -> tuple[str, str]:
    """Return the columns that the form shows as outcome and as sensitive column."""
    outcome = page.get_by_role("combobox", name="Outcome (y)").input_value()
    sensitive = page.get_by_role("combobox", name="Sensitive column").input_value()
    return outcome, sensitive


def put_right(page: Page, right: tuple[set[str], set[str]]) -> int:
    """Correct the guess as a reader would; return how many clicks that took."""
    clicks = 0
    for place, (kind, columns) in enumerate(
        zip(("Outcome", "Groups"), right, strict=True)
    ):
        if is_right(chosen(page)[place], columns):
            continue
        clicks += 1
        offered = page.get_by_role("button", name=f"{kind}: ")
        names = [text.removeprefix(f"{kind}: ") for text in offered.all_inner_texts()]
        near = [i for i, name in enumerate(names) if is_right(name, columns)]
        if not near:
            return clicks + 1
        offered.nth(near[0]).click()
        expect(offered.nth(near[0])).to_have_count(0)
    return clicks


def shoot(page: Page, folder: str | None, name: str, sign: str) -> None:
    """Save what the address shows, once a text is there, at both widths and themes."""
    browser = page.context.browser
    if folder is None or browser is None:
        return
    for scheme in SCHEMES:
        for width in WIDTHS:
            size = {"width": width, "height": 1400}
            window = browser.new_page(viewport=size, color_scheme=scheme)
            window.goto(page.url)
            window.get_by_text(sign).first.wait_for(timeout=SECONDS * 1000)
            window.wait_for_timeout(3000)
            window.screenshot(path=f"{folder}/{name}_{width}_{scheme}.png")
            window.close()


def meet(page: Page, address: str, table: str, home: str, shots: str | None) -> int:
    """Upload a table, correct the guess, sweep; return the clicks it took."""
    short = Path(table.replace("::", "_")).stem
    file = Path(home) / f"{short}.csv"
    load(table).to_csv(file, index=False)
    right = next(
        (outcome, sensitive)
        for _, name, outcome, sensitive in labelled(None)
        if name == table
    )
    start = time.perf_counter()
    page.goto(address)
    page.get_by_role("button", name="Upload a table").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Rows used").wait_for()
    page.get_by_text("Is that right?").wait_for()
    guessed = chosen(page)
    seconds = time.perf_counter() - start
    shoot(page, shots, f"{short}_data", "Rows used")
    clicks = put_right(page, right)
    page.get_by_role("button", name="Audit a plain model").click()
    page.get_by_text("Worst-1-DI by chance").first.wait_for()
    audited = time.perf_counter() - start
    shoot(page, shots, f"{short}_audit", "Worst-1-DI by chance")
    page.get_by_test_id("stSidebar").get_by_text("Sweep", exact=True).click()
    page.get_by_role("button", name="Run sweep").click()
    page.get_by_text("Within the limit").first.wait_for()
    swept = time.perf_counter() - start
    shoot(page, shots, f"{short}_sweep", "Within the limit")
    print(
        f"{table}: guessed {guessed[0]}, {guessed[1]}; {clicks} clicks to the right "
        f"columns; read {seconds:.1f} s, audited {audited:.1f} s, swept {swept:.1f} s"
    )
    return clicks


def main() -> None:
    """Meet the tables one after the other; fail if one costs more than one click."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--shots", help="folder for screenshots")
    options = parser.parse_args()
    home = tempfile.mkdtemp()
    app, address = serve(home)
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport={"width": WIDTHS[0], "height": 900})
            page.set_default_timeout(SECONDS * 1000)
            expect.set_options(timeout=SECONDS * 1000)
            clicks = [
                meet(page, address, table, home, options.shots)
                for table in options.tables
            ]
            chromium.close()
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        shutil.rmtree(home, ignore_errors=True)
    if max(clicks) > 1:
        sys.exit("a wrong default cost more than one click")


if __name__ == "__main__":
    main()
