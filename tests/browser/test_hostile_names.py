"""Names and values that try to be markup stay text, on every page."""

from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from conftest import wait_until
from driving import follow, open_window, settle
from playwright.sync_api import expect

from fairdash.datasets import Roles
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

pytestmark = pytest.mark.browser
EVIL = "evil.invalid"
IMAGE = f"![x](http://{EVIL}/i.png)"
HTML = f"<img src=http://{EVIL}/t.png>"
TICKS = f"`` ` ![x](http://{EVIL}/b.png) `"
LINK = f'<a href="http://{EVIL}/a">x</a>'
BARE = f"http://{EVIL}/bare www.{EVIL} a@{EVIL}"
SCRIPT = f"[x](javascript:fetch('http://{EVIL}/j'))"
QUICK = {"n_epochs": 2, "batch_size": 256}
CLOSED = "button[aria-pressed=false]"  # an opener of the evidence
INSIDE = """() => {  // the text of live controls is no part of the page's own
  const texts = []
  const walk = root => root.querySelectorAll("*").forEach(element => {
    if (!element.shadowRoot) return
    texts.push(element.shadowRoot.textContent)
    walk(element.shadowRoot)
  })
  walk(document)
  return texts.join(" ")
}"""
PAGES = (
    "", "Data", "Train", "Local_fairness", "Weights", "Sweep", "Post-process",
    "Noisy_groups", "Individual_fairness", "Runs",
)  # fmt: skip


def hostile_table(n=600):
    rng = np.random.default_rng(0)
    group = rng.choice([f"{LINK} {IMAGE}", f"{TICKS} {HTML}"], n)
    branch = rng.choice([SCRIPT, f"{IMAGE} {BARE}"], n)
    skill = rng.normal(size=n).round(3)
    paid = np.where(skill + rng.logistic(size=n) > 0, f"yes {IMAGE}", f"no {LINK}")
    score = (1 / (1 + np.exp(-skill))).round(3)
    return pd.DataFrame(
        {
            f"skill {IMAGE}": skill,
            f"score {TICKS}": score,
            f"branch {LINK}": branch,
            f"group {HTML} {BARE}": group,
            f"paid {SCRIPT}": paid,
        }
    )


@pytest.fixture(scope="module")
def hostile(home, audited):
    """The query of a run, trained on a table all of whose names are hostile."""
    frame = hostile_table()
    skill, _, branch, group, paid = frame.columns
    roles = Roles(
        target=paid,
        positive=f"yes {IMAGE}",
        sensitive_feature=group,
        features=(skill, branch),
        subgroup_columns=(branch,),
    )
    with closing(open_store(home)) as store:
        content = frame.to_csv(index=False).encode()
        table = store.add_table(content, f"{IMAGE} {LINK}.csv")
        data = store.add_dataset(table, roles, f"{TICKS} {IMAGE} {BARE}")
        name = f"{IMAGE} {HTML} {LINK} {TICKS} {BARE} {SCRIPT}"
        grids = (
            MethodGrid(method="unconstrained", params=QUICK),
            MethodGrid(method="road", params=QUICK | {"tau": (0.1, 1.0)}),
        )
        source = DataSource(table=table, roles=roles, name=name)
        run = submit(store, SweepSpec(data=source, methods=grids), name=name)
        wait_until(lambda: store.run(run).over)
        assert store.run(run).status == "finished"
        yield f"data={data}&run={run}"


@pytest.fixture(scope="module")
def window(browser, server, hostile):
    """A window on the run, and the addresses beyond the app that it asked for."""
    requests = []

    def watch(route):
        url = route.request.url
        if url.startswith(("http://localhost", "data:", "blob:")):
            route.continue_()
        else:
            requests.append(url)
            route.abort()

    page = open_window(browser)
    page.route("**/*", watch)
    page.goto(f"{server}/?{hostile}")
    yield page, requests
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_name_is_text(window, name):
    page, requests = window
    follow(page, name)
    openers = page.get_by_test_id("stButtonGroup").filter(has_text="Evidence")
    closed = openers.locator(CLOSED).all_inner_texts()
    for label in closed:
        openers.get_by_role("button", name=label, exact=True).click()
        settle(page)
    for expander in page.locator("summary").all():
        expander.click()
    settle(page)
    if closed:
        expect(openers.locator(CLOSED)).to_have_count(0)
    assert requests == []
    assert page.locator(f"[src*='{EVIL}'], a[href^='javascript']").count() == 0
    # a link to another page of the app may carry a name in its query
    away = page.locator(f"a[href*='{EVIL}']").evaluate_all(
        """links => links.filter(link => new URL(link.href).origin !== location.origin)
             .map(link => link.outerHTML)"""
    )
    assert away == []
    assert page.get_by_text("Traceback").count() == 0
    if name not in ("", "Noisy_groups", "Runs", "Sweep"):  # where none is written
        shown = page.content() + page.evaluate(INSIDE)
        assert EVIL in shown  # the name is there, as text
