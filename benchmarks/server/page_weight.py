"""How much a page asks of its reader: words, controls, where the figure begins, height.

Serves an empty home folder, opens the finished sweep of the sample in Chromium and goes
through the pages of the menu, at 1440 x 900 and at 390 x 844. Nothing is unfolded.

* words: of the page beside the menu, without the text of figures; verdict: of these.
* controls: what can be pressed, typed into or dragged; a row of options is one. row:
  those between tray and figure.
* cards: beside or below the figure.
* figure: upper edge of the plotting area of the first figure, in px from the top of the
  window; -1 for a page without one.
* height: of the whole page, in px.

    python benchmarks/server/page_weight.py [--shots FOLDER]
"""

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pandas as pd
from bench_sliders import serve
from bench_tour import AT_REST, PATIENCE
from playwright.sync_api import sync_playwright

WIDTHS = {1440: 900, 390: 844}
MEASURE = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const roots = [main];
  for (const root of roots)
    for (const node of root.querySelectorAll("*"))
      if (node.shadowRoot) roots.push(node.shadowRoot);
  const all = (what) => roots.flatMap((root) => [...root.querySelectorAll(what)]);
  const seen = (node) => node.checkVisibility({visibilityProperty: true});
  const count = (text) => text.match(/[^\\s]*\\w[^\\s]*/g)?.length ?? 0;
  const drawn = "svg, style, .js-plotly-plot, [data-testid=stIconMaterial]";
  let words = 0;
  for (const root of roots) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent && seen(parent)
          && !parent.closest(drawn))
        words += count(walker.currentNode.data);
    }
  }
  const groups = `[role=radiogroup], [role=tablist], [data-testid=stButtonGroup],
    [data-testid=stSlider], [data-testid=stSelectbox], [data-testid=stNumberInput],
    [data-testid=stMultiSelect]`;
  const single = "button, a[href], input, textarea, select, [role=slider], summary";
  const besides = `.js-plotly-plot, [data-testid=stElementToolbar],
    [data-testid=stTooltipIcon]`;
  const controls = new Set();
  for (const node of all(single))
    if (seen(node) && !node.closest(besides))
      controls.add(node.closest(groups) ?? node);
  const row = [...controls].filter((node) => node.closest(".st-key-controls")).length;
  const verdict = main.querySelector(".st-key-verdict h2")?.innerText ?? "";
  const drawing = (root) => [...root.querySelectorAll("svg, canvas")];
  const live = roots.slice(1).flatMap(drawing);
  const plots = [...main.querySelectorAll(".js-plotly-plot .nsewdrag"), ...live]
    .filter(seen).map((node) => node.getBoundingClientRect().top + main.scrollTop);
  const height = main.querySelector("[data-testid=stMainBlockContainer]").scrollHeight;
  return {words, verdict: count(verdict), row, controls: controls.size,
    cards: all("[data-testid=stMetric], .card").filter(seen).length, height,
    figure: plots.length ? Math.round(Math.min(...plots)) : -1};
}"""


def walk(page, shots=None):
    """Return what every page of the menu weighs at both widths, a row a page."""
    page.get_by_role("button", name="See a finished sweep").click()
    page.get_by_role("slider", name="Locality (τ)").wait_for()
    page.wait_for_function(AT_REST)
    menu = page.locator("[data-testid=stSidebar] a[data-testid=stPageLink-NavLink]")
    links = {
        link.inner_text().splitlines()[-1]: link.get_attribute("href")
        for link in menu.all()
    }
    rows = []
    for name, link in links.items():
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2])
            page.goto(link if "://" in link else f"{page.url.rstrip('/')}/{link}")
            page.wait_for_timeout(1500)
            page.wait_for_function(AT_REST)
            page.wait_for_timeout(500)
            if (more := page.get_by_role("button", name="Open the drifted")).count():
                more.click()
                page.locator(".js-plotly-plot .nsewdrag").first.wait_for()
                page.wait_for_function(AT_REST)
            rows.append({"page": name, "width": width, **page.evaluate(MEASURE)})
            if shots:
                file = f"{name.replace(' ', '_').lower()}_{width}.png"
                page.screenshot(path=Path(shots) / file)
    return pd.DataFrame(rows)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", type=Path, help="folder for a picture of each")
    shots = parser.parse_args().shots
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
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
            page.get_by_role("button", name="See a finished sweep").wait_for()
            page.wait_for_function(AT_REST)
            table = walk(page, shots)
            chromium.close()
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
