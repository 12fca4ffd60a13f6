import functools
import hashlib
import http.server
import threading
from dataclasses import replace

import pytest
from reading import numbers, words

from fairdash import ui
from fairdash.datasets import PUBLIC, fetch

CONTENT = b"bar1,race7,lsat\n" + b"1,1,30\n0,0,25\n1,0,25\n0,1,30\n" * 10


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder in which the original files are looked for."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "fairdash"


@pytest.fixture
def law(cache, monkeypatch):
    """A small law table whose publisher cannot be reached."""
    law = PUBLIC["law"]
    columns = {"features": ("lsat",), "subgroup_columns": ()}
    table = replace(
        law,
        url="http://127.0.0.1:9/law.csv",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        roles=law.roles.model_copy(update=columns),
        variants={"road": replace(law.variants["road"], n_rows=40)},
    )
    monkeypatch.setitem(PUBLIC, "law", table)
    return table


@pytest.fixture
def publisher(law, tmp_path, monkeypatch):
    """A server on this machine that publishes the small law table."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "law.csv").write_bytes(CONTENT)
    handler = functools.partial(Quiet, directory=shelf)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/law.csv"
    monkeypatch.setitem(PUBLIC, "law", replace(law, url=url))
    yield
    server.shutdown()
    server.server_close()


def fetch_law(page):
    page.selectbox(key="public table").set_value(("law", "road")).run()
    return page.button(key="fetch").click().run()


def test_first_visit_offers_every_variant_with_its_rows_and_source(visit):
    page = visit("Home")
    assert not page.exception
    choice = page.selectbox(key="public table")
    assert len(choice.options) == sum(len(p.variants) for p in PUBLIC.values())
    assert choice.options[2].startswith("COMPAS, 6,167 rows: the rows of propublica")
    assert PUBLIC["adult"].url in words(page)
    assert not page.error


def test_a_table_is_fetched_and_opened_with_its_roles(visit, publisher, cache):
    page = fetch_law(visit("Data"))
    assert not page.exception
    assert not page.error
    (record,) = ui.store().datasets()
    assert page.query_params["data"] in (record.id, [record.id])
    assert (record.name, record.table_name) == (
        "Law school",
        "lawschool_road.csv, road",
    )
    assert record.roles == PUBLIC["law"].roles
    assert numbers(page)["Rows used"] == "40"
    kept = ui.store().dataset(record.id)
    direct = fetch("law", cache)
    assert (kept.y == direct.y).all()
    assert (kept.sensitive_features == direct.sensitive_features).all()


def test_offline_the_page_says_what_to_put_where(visit, law, cache):
    page = fetch_law(visit("Data"))
    assert not page.exception
    assert page.error[0].proto.title == "Law school was not fetched"
    (shown,) = [error.value.replace("\\", "") for error in page.error]
    for part in (law.url, law.file, str(cache)):
        assert part in shown
    assert ui.store().datasets() == []
