"""Names and values that try to be markup are read back from every page as they were."""

from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from conftest import wait_until
from driving import follow, open_window, settle
from hostile_texts import FIRST, LAST, marked_in, marked_texts, without_spaces
from playwright.sync_api import expect

from fairdash._escaping import visible
from fairdash.datasets import Roles, Subgroups
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec
from fairdash.ui import pages

pytestmark = pytest.mark.browser
FILE = f"{FIRST}f`x` $x${LAST}"
QUICK = {"n_epochs": 2, "batch_size": 256}
CLOSED = "button[aria-pressed=false]"  # an opener of the evidence
PAGES = [page.url_path for page in pages.pages()]
NAMED = set(PAGES) - {"Monitor", "Playground"}  # where a text of the table stands
READ = """() => {
  // every text of the page: of live controls, of tables, and what attributes say
  const texts = [], named = ["aria-label", "title", "alt", "placeholder", "value"]
  const walk = root => root.querySelectorAll("*").forEach(each => {
    if (each.closest("style, script")) return
    const inside = each.closest("svg text")
    if (inside && inside !== each) return  // the lines of a label are one text
    if (inside) {
      const lines = [...each.querySelectorAll("tspan.line")].map(x => x.textContent)
      texts.push(lines.length ? lines.join("") : each.textContent)
      return
    }
    for (const name of named) {
      if (each.tagName !== "BUTTON" || name !== "aria-label")
        texts.push(each[name] ?? each.getAttribute(name) ?? "")
    }
    const whole = /^(P|H1|H2|H3|SUMMARY)$/.test(each.tagName)
    if (whole || each.children.length === 0) texts.push(each.textContent)
    if (each.shadowRoot) walk(each.shadowRoot)
  })
  walk(document)
  return texts.filter(text => typeof text === "string" && /[ЖЩ]/.test(text))
}"""


def hostile_table(n=1400):
    rng = np.random.default_rng(0)
    skill, paid, branch, group, *values = marked_texts()
    *groups, yes, no = values[:6]
    places = values[6:]
    score = rng.normal(size=n).round(3)
    return pd.DataFrame(
        {
            skill: score,
            branch: rng.choice(places, n),
            group: rng.choice(groups, n),
            paid: np.where(score + rng.logistic(size=n) > 0, yes, no),
        }
    ), yes


@pytest.fixture(scope="module")
def hostile(home, audited):
    """The query of a run, trained on a table all of whose texts are hostile."""
    frame, positive = hostile_table()
    skill, branch, group, paid = frame.columns
    roles = Roles(
        target=paid,
        positive=positive,
        sensitive_feature=group,
        features=(skill, branch),
        subgroup_columns=(branch,),
    )
    subgroups = Subgroups(columns=(branch,), min_size=10)
    name = f"{FIRST}a:red [x]{LAST}"
    with closing(open_store(home)) as store:
        content = frame.to_csv(index=False).encode()
        table = store.add_table(content, f"{FILE}.csv")
        # what a file loses is not the page's: the texts are those that were read
        expected = {*store.table(table).columns}
        for column in store.table(table).select_dtypes(exclude="number"):
            expected |= set(store.table(table)[column])
        store.add_dataset(table, roles, name, subgroups)
        grids = (
            MethodGrid(method="unconstrained", params=QUICK),
            MethodGrid(method="road", params=QUICK | {"tau": (0.1, 1.0)}),
        )
        source = DataSource(table=table, roles=roles, name=name)
        spec = SweepSpec(data=source, methods=grids, subgroups=subgroups)
        run = submit(store, spec, name=name)
        wait_until(lambda: store.run(run).over)
        assert store.run(run).status == "finished"
        data = store.run(run).dataset_id
    assert expected >= {*frame.columns, positive}
    return f"data={data}&run={run}", {*expected, name, FILE}


@pytest.fixture(scope="module")
def window(browser, server, hostile):
    """A window on the run, and the addresses beyond the app that it asked for."""
    requests = []
    query, columns = hostile

    def watch(route):
        url = route.request.url
        if url.startswith(("http://localhost", "data:", "blob:")):
            route.continue_()
        else:
            requests.append(url)
            route.abort()

    page = open_window(browser, height=2400)
    page.route("**/*", watch)
    page.goto(f"{server}/?{query}")
    yield page, requests, columns
    page.close()


def open_all(page):
    """Open what is closed on a page: evidence and expanders."""
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


def texts_on(page):
    """Return the texts of the table that a page shows, as somebody reads them."""
    for text in page.evaluate(READ):
        if "…" not in text:  # a long name is cut in its middle
            yield from marked_in(text)


@pytest.mark.parametrize("name", sampled(PAGES, 4))
def test_every_text_on_a_page_is_one_of_the_table(window, name):
    page, requests, columns = window
    follow(page, name)
    open_all(page)
    if name in NAMED:
        page.wait_for_function(f"() => ({READ})().length > 0")
    wanted = {without_spaces(visible(text)) for text in columns}
    texts = {without_spaces(text) for text in texts_on(page)}
    assert texts <= wanted
    if name in NAMED:
        assert texts != set()
    assert requests == []
    # a link to another page of the app may carry a name in its query
    away = page.locator("a[href]").evaluate_all(
        """links => links.filter(link => new URL(link.href).origin !== location.origin)
             .map(link => link.outerHTML)"""
    )
    assert away == []
    assert page.get_by_text("Traceback").count() == 0
