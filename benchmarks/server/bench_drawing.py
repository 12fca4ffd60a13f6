"""What a step of a slider costs where D3 draws, and where Plotly does, in Chromium.

    python benchmarks/server/bench_drawing.py [--steps 300]

Both show the same made-up sweep of 36 settings, 12 subgroups and 2 groups, without a
server: the component of linked pictures its seven pictures, and `Plotly.react` four of
them (front, map, local gaps, density). A step is what the browser does from a new
setting to the end of the layout: milliseconds of the script, median and 95 %.
"""

import argparse
import json
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs

from fairdash.linked import script, styles
from fairdash.plots import theme

N_LAMBDA = 6
N_TAU = 6
N_SUBGROUPS = 12
N_BINS = 100
LINKED = """
const root = document.querySelector(".linked");
const linked = new Linked(root, window.shown, 0, () => {});
window.step = (place) => {
  linked.view.place = place;
  linked.controls.update();
  for (const { part } of linked.figures) part.move(linked.view, linked.colours);
  root.getBoundingClientRect();
};
"""
PLOTLY = """
const { settings, subgroups, bins } = window.shown.summary;
const small = { margin: { l: 40, r: 10, t: 10, b: 30 }, width: 420, height: 250 };
const metric = (name) => settings.map((s) => s.metrics[name]);
const cells = [...Array(6)].map((_, i) =>
  [...Array(6)].map((_, j) => settings[6 * i + j].metrics.worst_1_di));
window.step = (place) => {
  const s = settings[place];
  const ring = { x: [s.metrics.worst_1_di], y: [s.metrics.accuracy], mode: "markers" };
  const [x, y] = [metric("worst_1_di"), metric("accuracy")];
  Plotly.react("front", [{ x, y, mode: "markers" }, ring], small);
  const [i, j] = s.at;
  const cell = { x0: j - 0.5, x1: j + 0.5, y0: i - 0.5, y1: i + 0.5 };
  const text = { type: "heatmap", z: cells, texttemplate: "%{z:.2f}" };
  Plotly.react("map", [text], { ...small, shapes: [{ type: "rect", ...cell }] });
  const rows = { y: subgroups, mode: "markers", x: s.local.map((gap) => gap[0]) };
  const bars = { type: "data", array: s.local.map((gap) => gap[2] - gap[0]) };
  Plotly.react("local", [{ ...rows, error_x: bars }], small);
  const curves = s.weights.density.map((y) => ({ x: bins, y, fill: "tozeroy" }));
  Plotly.react("density", curves, { ...small, xaxis: { type: "log" } });
  document.body.getBoundingClientRect();
};
"""
TIMED = """(n) => {
  const took = [];
  for (let k = 0; k < n; k++) {
    const began = performance.now();
    window.step((7 * k) % window.shown.summary.settings.length);
    took.push(performance.now() - began);
  }
  return took;
}"""


def made_up():
    """Return what the component takes, of a sweep that nobody trained."""
    rng = np.random.default_rng(0)
    bins = np.logspace(-3, 2, N_BINS + 1)
    settings = []
    for i in range(N_LAMBDA):
        for j in range(N_TAU):
            worst = 0.25 / (1 + i) + 0.02 * j
            density = rng.dirichlet(np.ones(N_BINS), size=2).round(4)
            gaps = rng.uniform(0, worst, N_SUBGROUPS)
            quantiles = [0.3, 0.7, 1.0, 1.3, 2.0]
            metrics = {
                "accuracy": 0.76 - 0.01 * i,
                "worst_1_di": worst,
                "demographic_parity_difference": worst / 3,
            }
            settings.append(
                {
                    "method": 0,
                    "label": f"ROAD {i} {j}",
                    "at": [i, j],
                    "metrics": metrics,
                    "seeds": {name: [value] * 3 for name, value in metrics.items()},
                    "intervals": {
                        name: [value - 0.01, value + 0.01]
                        for name, value in metrics.items()
                    },
                    "chance": 0.1,
                    "idle": "",
                    "alike": "",
                    "quiet": dict.fromkeys(metrics, False),
                    "local": [[gap, gap / 2, gap * 1.5] for gap in gaps],
                    "rates": [[0.3, 0.4]] * N_SUBGROUPS,
                    "weights": {
                        "first_bin": 0,
                        "density": density.tolist(),
                        "all": [quantiles] * 2,
                        "inside": [[quantiles] * 2] * N_SUBGROUPS,
                    },
                }
            )
    axes = [
        {"title": title, "letter": letter, "help": "", "values": list("123456")}
        for title, letter in (("Fairness weight (λ)", "λ"), ("Locality (τ)", "τ"))
    ]
    method = {"label": "ROAD", "colour": 7, "symbol": "circle", "axes": axes}
    measures = {"accuracy": False, "worst_1_di": True}
    measures["demographic_parity_difference"] = True
    return {
        "summary": {
            "methods": [{**method, "gives_weights": True}],
            "settings": settings,
            "plain": 0,
            "subgroups": [f"age {20 + 5 * k}" for k in range(N_SUBGROUPS)],
            "n_subgroups": N_SUBGROUPS,
            "bins": bins.tolist(),
        },
        "measures": [
            {"name": name, "label": name, "unit": "points", "gap": gap, "better": "low"}
            for name, gap in measures.items()
        ],
        "measure": "worst_1_di",
        "limit": 0.05,
        "limited": "demographic_parity_difference",
        "within": [True] * len(settings),
        "own": [],
        "groups": ["sex: Female", "sex: Male"],
        "cards": [],
        "values": {},
        "opens": False,
        "shows": ["front", "map", "local", "density", "tau", "lambda", "quantiles"],
        "palette": {
            name: {
                "categorical": [f"#{c}" for c in theme.CATEGORICAL[name].split()],
                "sequential": [f"#{c}" for c in theme.SEQUENTIAL[name].split()],
                "groups": theme.group_colours_of(["Female", "Male"], name),
            }
            for name in ("light", "dark")
        },
    }


def pages(folder):
    """Write a page for each tool; return its address by name."""
    data = f"window.shown = {json.dumps(made_up())};"
    module = script().replace(
        "export default function", "function mounted_by_streamlit"
    )
    bodies = {
        "D3, seven pictures": f"""<style>{styles()}</style><div class="linked"></div>
            <script type="module">{data}{module}{LINKED}</script>""",
        "Plotly, four pictures": f"""<script>{get_plotlyjs()}</script>
            <div id="front"></div><div id="map"></div><div id="local"></div>
            <div id="density"></div><script>{data}{PLOTLY}</script>""",
    }
    addresses = {}
    for name, body in bodies.items():
        path = Path(folder) / f"{name[:2]}.html"
        start = "<!doctype html><meta charset=utf-8><body style='width:1140px'>"
        path.write_text(start + body, "utf-8")
        addresses[name] = path.as_uri()
    return addresses


def main():
    """Print a line for each tool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    size = math.ceil(len(get_plotlyjs()) / 1000), math.ceil(len(script()) / 1000)
    print(f"kB of script: Plotly {size[0]}, the component with D3 {size[1]}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, address in pages(folder).items():
            page = chromium.new_page(viewport={"width": 1440, "height": 1200})
            page.goto(address)
            page.wait_for_function("() => Boolean(window.step)")
            page.evaluate(TIMED, 20)
            took = pd.Series(page.evaluate(TIMED, steps))
            median, most = took.quantile([0.5, 0.95])
            print(f"{name}: {median:.1f} ms a step, 95% {most:.1f} ms")
            page.close()
        chromium.close()


if __name__ == "__main__":
    main()
