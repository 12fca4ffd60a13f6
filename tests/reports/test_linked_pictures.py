"""The linked pictures of a report: their data, and what is left out of small groups."""

import base64
import json
import re
import zlib

import pytest
from toys import people, train_sweep

from fairdash.audits import linked, sweeps
from fairdash.reports import report
from fairdash.store import open_store


def pictures_of(page):
    """Return what the linked pictures of a page are drawn from, and their start."""
    place, data = re.search(r'data-place="(\d+)">([^<]+)<', page).groups()
    return json.loads(zlib.decompress(base64.b64decode(data))), int(place)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = open_store(tmp_path_factory.mktemp("linked") / "home")
    yield opened
    opened.close()


def test_they_are_those_of_the_sweep_page_and_begin_at_the_model(store):
    run = train_sweep(store, people(), "People")
    sweep = sweeps.finished_sweep(store, run)
    page = report(store, run, model=sweep.ids[-1]).to_html()
    document, place = pictures_of(page)
    assert place == len(sweep.ids) - 1
    summary = json.loads(json.dumps(linked.summary(sweep)))
    for own_values, reported in zip(
        summary["settings"], document["summary"]["settings"], strict=True
    ):
        for name in ("metrics", "local", "rates", "weights", "chance"):
            assert reported[name] == own_values[name]
    urls = re.findall(r"https?://[^\s\"'<>)]+", page)
    assert {url for url in urls if "w3.org" not in url} <= set(_links(page))


def _links(page):
    return re.findall(r'href="(https?://[^"]+)"', page)


def test_a_subgroup_with_a_small_group_has_no_numbers(store):
    frame = people(900)
    rows_here, rows_there = (
        frame.index[frame["origin"] == name] for name in ("here", "there")
    )
    frame.loc[[*rows_here[:150], *rows_there[:15]], "branch"] = "depot"
    run = train_sweep(store, frame, "Depot", subgroups=("branch",))
    whole = linked.summary(sweeps.finished_sweep(store, run))
    content, _ = pictures_of(report(store, run).to_html())
    at = whole["subgroups"].index("depot")
    assert content["summary"]["subgroups"] == whole["subgroups"]
    assert None not in whole["settings"][0]["rates"][at]
    for setting in content["summary"]["settings"]:
        assert setting["local"][at] is None
        assert set(setting["rates"][at]) == {None}
        cells = [] if setting["weights"] is None else setting["weights"]["inside"][at]
        assert set(cells) <= {None}
    other_places = [i for i in range(len(whole["subgroups"])) if i != at]
    hidden = [
        content["summary"]["settings"][0]["local"][i] is None for i in other_places
    ]
    assert hidden.count(True) == 1  # else totals would give the count away


def test_a_table_with_a_small_group_has_none(store):
    frame = people()
    frame.loc[frame.index[:6], "origin"] = "rare"
    run = train_sweep(store, frame, "Rare")
    assert "data-place" not in report(store, run).to_html()
