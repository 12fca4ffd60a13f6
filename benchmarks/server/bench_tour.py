"""What a presenter waits for: Home to a moving slider, and every stop of the tour.

Serves an empty home folder and goes from Home in Chromium, by *See a finished sweep*
until a press of an arrow key on τ has changed the numbers, and in another empty home
through the tour by the key N. A stop is there when its words are, the
script has ended and all figures are drawn. Between stops nothing is waited for: who
presents talks there.

    python benchmarks/server/bench_tour.py [--rounds 2]
"""

import argparse
import re
import shutil
import signal
import sys
import tempfile
import time

from bench_sliders import serve
from playwright.sync_api import sync_playwright

PATIENCE = 60_000  # ms
STOP = re.compile(r"Stop \d of \d")
AT_REST = """() => document.querySelector("[data-test-script-state=notRunning]")
  && !document.querySelector("[data-testid=stSkeleton]")
  && [...document.querySelectorAll(".js-plotly-plot")]
    .every((figure) => figure.querySelector(".main-svg"))"""


def to_the_slider(page):
    """Return the seconds from the click on Home until τ has moved the numbers."""
    began = time.perf_counter()
    page.get_by_role("button", name="See a finished sweep").click()
    tau = page.get_by_role("slider", name="Locality (τ)")
    card = page.locator(".card").filter(has_text="Largest local gap")
    before = card.inner_text()
    tau.press("ArrowLeft")
    page.wait_for_function(  # at every frame: `expect` looks once a second
        "([card, before]) => card.innerText !== before",
        arg=[card.element_handle(), before],
    )
    return time.perf_counter() - began


def tour(page):
    """Return the seconds that each stop took, by its name."""
    waits = {}
    began = time.perf_counter()
    page.get_by_role("button", name="Take the tour").click()
    while True:
        page.get_by_text(STOP).filter(
            has_not_text=next(reversed(waits), "-")
        ).wait_for()
        page.wait_for_function(AT_REST)
        name = STOP.search(page.get_by_text(STOP).inner_text()).group()
        waits[name] = time.perf_counter() - began
        if not page.get_by_role("button", name="Next stop").count():
            return waits
        began = time.perf_counter()
        page.keyboard.press("n")


def measure(look):
    """Return what ``look`` finds on Home of an app with an empty home folder."""
    home = tempfile.mkdtemp()
    command = [sys.executable, "-c", "from fairdash.cli import app; app()", "app"]
    app, address = serve(home, command)
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            page.get_by_role("button", name="Take the tour").wait_for()
            page.wait_for_function(AT_REST)
            result = look(page)
            chromium.close()
            return result
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(20)
        shutil.rmtree(home, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    for _ in range(options.rounds):
        print(
            f"Home to a moving τ: {measure(to_the_slider):.1f} s, one click and a key"
        )
        waits = measure(tour)
        words = ", ".join(f"{seconds:.1f}" for seconds in waits.values())
        print(f"{len(waits)} stops: {sum(waits.values()):.1f} s in all ({words})")


if __name__ == "__main__":
    main()
