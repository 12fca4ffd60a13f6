"""One way through a sweep in Chromium: every page is about the model of the sliders."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from driving import follow, open_window, settle, still
from playwright.sync_api import expect
from reading import ReportPage, value
from walk_facts import PLAIN, Facts
from walk_tables import TABLES

from fairdash._wording import gap_size, percent
from fairdash.jobs import pack_runs, unpack_runs
from fairdash.store import open_store

pytestmark = pytest.mark.browser
LABEL = "ROAD λ 1 τ 0.6"
TRACES = """figures => figures[0].data.map(trace => (
  {name: trace.name ?? "", mode: trace.mode ?? "", x: Array.from(trace.x ?? [])}))"""
CUT_OFF = """dialog => {
  const { left, right } = dialog.getBoundingClientRect()
  const parts = dialog.querySelectorAll("[data-testid=stDataFrame], .js-plotly-plot")
  const table = dialog.querySelector(".dvn-scroller")
  return [
    ...[...parts].map(part => part.getBoundingClientRect())
      .filter(box => box.left < left || box.right > right).map(box => box.width),
    ...[table.scrollWidth - table.clientWidth, table.scrollHeight - table.clientHeight]
      .filter(hidden => hidden > 1),
  ]
}"""
MIDDLE = """mark => {
  const box = mark.getBoundingClientRect()
  return [box.x + box.width / 2, box.y + box.height / 2]
}"""


@pytest.fixture(scope="module")
def facts(home, tmp_path_factory, swept_home):
    """What is true of a sweep over three groups, which the served app has as well."""
    folder = tmp_path_factory.mktemp("walk")
    table = TABLES["three groups"]
    run = swept_home(table.name, folder / "home")
    with closing(open_store(folder / "home")) as store:
        pack_runs(store, [run], folder / "run.fairdash")
        with closing(open_store(home)) as served:
            unpack_runs(served, folder / "run.fairdash")
        yield Facts(store, run, table)


@pytest.fixture
def window(browser, server):
    """A window that keeps what its console and its scripts complain of."""
    page = open_window(browser)
    page.complaints = []
    page.on(
        "console",
        lambda said: said.type == "error" and page.complaints.append(said.text),
    )
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on(
        "response",
        lambda got: (
            got.status >= 400 and page.complaints.append(f"{got.status} {got.url}")
        ),
    )
    yield page
    page.close()


def card_shows(page, label, text, inside="[data-testid=stMetric]"):
    """Expect a number on the card whose label is ``label``."""
    card = page.locator(inside).filter(has_text=re.compile(rf"^\s*{label}(?! )"))
    expect(card.first).to_contain_text(text)


def is_about(page, facts, *labels):
    """Expect the verdict to name none but some models, and no incident."""
    settle(page)
    verdict = page.locator(".st-key-verdict h2").inner_text()
    assert facts.named_in(verdict) <= {*labels, PLAIN}, verdict
    assert "incident" not in page.locator("body").inner_text()
    return verdict


def chip_is(page, label):
    """Expect a model to be the one looked at in the tray."""
    tray = page.get_by_role("radiogroup", name="Model", exact=True)
    expect(tray.get_by_role("radio", checked=True)).to_contain_text(label)


def no_league_table_is_cut_off(page, server):
    """Open the League table on Home, and expect all of its rows and columns."""
    page.goto(server)
    page.get_by_role("button", name="League table").click()
    dialog = page.get_by_role("dialog")
    still(dialog.get_by_test_id("stDataFrame").first)
    settle(page)
    assert dialog.evaluate(CUT_OFF) == []


def recommended_on_a_phone(page):
    """Expect what is best beside the chip, and on a phone in a line of its own."""
    line = page.locator(".st-key-recommendation")
    chip = page.get_by_role("radiogroup", name="Model", exact=True)
    use = line.get_by_role("button", name="Use")
    expect(use).to_be_visible()
    assert still(line)["x"] > still(chip)["x"] + still(chip)["width"]
    page.set_viewport_size({"width": 390, "height": 844})
    words = line.get_by_test_id("stCaptionContainer")
    assert still(words)["width"] > 250
    page.set_viewport_size({"width": 1440, "height": 900})
    settle(page)


def test_every_page_is_about_the_model_that_the_sliders_show(
    window, server, facts, tmp_path
):
    page = window
    means = facts.model(LABEL).means()
    accuracy = percent(means["accuracy"])
    gap = gap_size(means["gap"])
    worst = gap_size(means["worst"])
    no_league_table_is_cut_off(page, server)
    page.goto(f"{server}/Sweep?run={facts.run}&data={facts.dataset_id}")
    page.get_by_role("combobox", name="Method").first.click()
    page.get_by_role("option", name="ROAD", exact=True).click()
    page.get_by_role("slider", name="Locality (τ)").wait_for()  # of ROAD alone
    page.get_by_role("slider", name="Fairness weight (λ)").press("Home")
    page.get_by_role("slider", name="Locality (τ)").press("End")
    page.wait_for_url(re.compile(facts.models[LABEL].id))
    settle(page)
    assert LABEL in is_about(page, facts, LABEL)
    chip_is(page, LABEL)
    for name, text in (("Accuracy", accuracy), ("Largest local gap", worst)):
        card_shows(page, name, text, ".linked .card")
    card_shows(page, "Gap", gap, ".linked .card")
    marks = page.locator(".front .marks path")
    named = "(marks, label) => marks.findIndex(m => m.__data__.setting.label === label)"
    mark = marks.nth(marks.evaluate_all(named, LABEL))
    ring = page.locator(".front .ring").evaluate(MIDDLE)
    assert ring == pytest.approx(mark.evaluate(MIDDLE), abs=1.5)
    recommended_on_a_phone(page)

    follow(page, "Local_fairness")
    is_about(page, facts, LABEL)
    chip_is(page, LABEL)
    card_shows(page, "Largest gap", worst)
    card_shows(page, "Gap over all rows", gap)
    drawn = page.locator(".js-plotly-plot").evaluate_all(TRACES)
    gaps = sorted(facts.model(LABEL).local_gaps.dropna())
    marks = [
        sorted(x for x in trace["x"] if x is not None)
        for trace in drawn
        if trace["name"].startswith(LABEL) and trace["mode"] == "markers"
    ]
    assert pytest.approx(gaps, abs=1e-6) in marks

    follow(page, "Post-process")
    source = page.get_by_role("combobox", name="Scores of")
    source.click()
    page.get_by_role("option", name=f"{LABEL}, seed 0").click()
    expect(source).to_have_value(f"{LABEL}, seed 0")
    is_about(page, facts, LABEL)

    follow(page, "Weights")
    is_about(page, facts, LABEL)
    chip_is(page, LABEL)

    follow(page, "Train")
    assert LABEL in is_about(page, facts, LABEL)
    chip_is(page, LABEL)
    for name, text in (("Accuracy", accuracy), ("Gap", gap)):
        card_shows(page, name, text)
    card_shows(page, "Largest local gap", worst)

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    download.value.save_as(tmp_path / "report.html")
    text = Path(tmp_path / "report.html").read_text()
    assert f"The report is about {LABEL}" in text
    table = ReportPage(text).table("Models on test rows")[LABEL]
    values = [value(table[name]) for name in ("Accuracy", "Gap", "Largest local gap")]
    expected = [means[name] for name in ("accuracy", "gap", "worst")]
    assert values == pytest.approx(expected, abs=5e-4)
    assert page.complaints == []
