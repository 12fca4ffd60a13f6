"""What the lines of `league.py` come to: means, mean ranks and their figure."""

import shutil

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range

from fairdash.plots import plot_ranks, resolve

HEADINGS = {
    "table": "Table",
    "method": "Method",
    "accuracy": "Accuracy",
    "gap": "Gap",
    "odds": "Odds gap",
    "local": "Largest local gap",
    "floor": "By chance",
    "consistency": "Consistency",
    "certificate": "Gap at noise .1",
    "certified": "Certified",
    "seconds": "Seconds",
    "decides": "Decides",
}
MEASURES = {  # and whether more is better
    "Accuracy": 1,
    "Gap": -1,
    "Odds gap": -1,
    "Largest local gap": -1,
    "Consistency": 1,
    "Gap at noise .1": -1,
}
NAMES = {
    "german": "German",
    "compas": "COMPAS",
    "law": "Law School",
    "adult": "Adult",
    "credit": "Credit",
    "acs": "ACS",
    "all": "All six",
}
RANKED = ("Accuracy", "Gap", "Largest local gap")  # by which methods are in order


def aggregated(lines, tables, n_methods):
    """Return a row per table and method, and one per method over all tables."""
    rows = pd.DataFrame(lines)
    per_seed = rows[rows["start"] == 0].groupby("seed").size()
    whole = per_seed.index[per_seed == len(tables) * n_methods]
    rows = rows[rows["seed"].isin(whole)].rename(columns=HEADINGS)
    rows[["Certified", "Decides"]] = rows[["Certified", "Decides"]].astype(float)
    names = list(HEADINGS.values())[2:]
    values = rows.groupby(["Table", "Method", "seed"])[names].mean()
    values = values.join(ranks(values)).reset_index()
    whole = values.drop(columns="Table").groupby(["Method", "seed"]).mean()
    whole = whole.reset_index().assign(Table="all")
    values = pd.concat([values, whole], ignore_index=True)
    groups = values.groupby(["Table", "Method"])
    table = groups[[*names, *(f"{name} rank" for name in MEASURES)]].mean()
    table = table.join(groups[list(MEASURES)].std().add_suffix(" sd"))
    table["Splits"] = groups["seed"].nunique()
    table["Usual setting"] = rows.groupby(["Table", "Method"])["setting"].agg(commonest)
    table = table.reset_index()
    table["Starts"] = table["Method"].map(rows.groupby("Method")["start"].nunique())
    blocks = values[values["Table"] != "all"].set_index(["Table", "seed", "Method"])
    n_blocks = len(blocks) // n_methods
    table["Critical difference"] = critical_difference(n_methods, n_blocks)
    for name in MEASURES:
        block_ranks = blocks[f"{name} rank"].unstack("Method").dropna()  # noqa: PD010
        p_value = friedmanchisquare(*block_ranks.to_numpy().T).pvalue
        print(f"{name}: Friedman's p {p_value:.2g} over {len(block_ranks)} blocks")
    order = table["Table"].map([*tables, "all"].index)
    mean_rank = table[[f"{name} rank" for name in RANKED]].mean(axis=1)
    table = table.iloc[np.lexsort((mean_rank, order))]
    return table.assign(Table=table["Table"].map(NAMES)).round(4)


def ranks(values):
    """Return the ranks of methods on every table and split, 1 being the best."""
    costs = values[list(MEASURES)] * [-sign for sign in MEASURES.values()]
    idle = values["Decides"] < 0.5
    names = [name for name in MEASURES if name != "Accuracy"]
    costs.loc[idle, names] = np.inf
    return costs.groupby(["Table", "seed"]).rank().add_suffix(" rank")


def commonest(settings):
    """Return the setting that was chosen most often, in words."""
    words = settings.map(lambda one: " ".join(f"{k}={v:g}" for k, v in one.items()))
    return words.value_counts().index[0]


def critical_difference(n_methods, n_blocks):
    """Return Nemenyi's critical difference of mean ranks at 95 %."""
    quantile = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2)
    return quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))


def draw(table, path):
    """Draw the mean ranks of all methods as a PNG file."""
    from playwright.sync_api import sync_playwright

    figure = resolve(plot_ranks(table[table["Table"] == NAMES["all"]]).figure)
    figure.update_layout(width=900)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 900, "height": figure.layout.height})
        page.set_default_timeout(300_000)  # of a busy machine
        page.set_content(figure.to_html(include_plotlyjs=True))
        page.locator(".js-plotly-plot").screenshot(path=path)
        browser.close()
