import functools
import hashlib
import http.server
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from fairdash.datasets import PUBLIC, fetch

CONTENT = b"bar1,race7,lsat\n" + b"1,1,30\n0,0,25\n1,0,25\n0,1,30\n" * 10


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A small law table, published by a server on this machine."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "law.csv").write_bytes(CONTENT)
    handler = functools.partial(Quiet, directory=shelf)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    law = PUBLIC["law"]
    table = replace(
        law,
        url=f"http://127.0.0.1:{server.server_port}/law.csv",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        roles=law.roles.model_copy(
            update={"features": ("lsat",), "subgroup_columns": ()}
        ),
        n_rows={"road": 40},
    )
    monkeypatch.setitem(PUBLIC, "law", table)
    yield table
    server.shutdown()
    server.server_close()


def test_a_table_is_downloaded_once(published, tmp_path, monkeypatch):
    one = fetch("law", tmp_path / "home")
    assert (tmp_path / "home" / published.file).read_bytes() == CONTENT
    gone = replace(published, url="http://127.0.0.1:9/law.csv")
    monkeypatch.setitem(PUBLIC, "law", gone)
    two = fetch("law", tmp_path / "home")
    assert one.n_rows == two.n_rows == 40
    assert one.key == two.key


def test_another_file_at_the_address_is_refused(published, tmp_path, monkeypatch):
    monkeypatch.setitem(PUBLIC, "law", replace(published, sha256="0" * 64))
    with pytest.raises(ValueError, match="is not the file that was published"):
        fetch("law", tmp_path / "home")


def test_another_file_in_the_folder_is_refused_and_kept(published, tmp_path):
    (tmp_path / published.file).write_bytes(b"mine")
    with pytest.raises(ValueError, match="is not the published file"):
        fetch("law", tmp_path)
    assert (tmp_path / published.file).read_bytes() == b"mine"


def test_offline_it_says_what_to_put_where(published, tmp_path, monkeypatch):
    gone = replace(published, url="http://127.0.0.1:9/law.csv")
    monkeypatch.setitem(PUBLIC, "law", gone)
    with pytest.raises(ValueError) as caught:
        fetch("law", tmp_path / "home")
    for part in (gone.url, gone.file, str(tmp_path / "home")):
        assert part in str(caught.value)


def test_an_unknown_table_or_variant_is_refused(published, tmp_path):
    with pytest.raises(ValueError, match="`name` must be one of"):
        fetch("iris", tmp_path)
    with pytest.raises(ValueError, match="`variant` must be one of"):
        fetch("law", tmp_path, "all")


@pytest.mark.parametrize(
    "name, variant", [(n, v) for n, table in PUBLIC.items() for v in table.variants]
)
def test_published_files_give_the_rows_of_the_papers(name, variant):
    folder = os.environ.get("FAIRDASH_DATA")
    if folder is None or not (Path(folder) / "raw" / PUBLIC[name].file).exists():
        pytest.skip("needs the original files in FAIRDASH_DATA")
    dataset = fetch(name, Path(folder) / "raw", variant)
    assert (
        len(dataset.frame) + dataset.excluded["rows"].sum()
        == (PUBLIC[name].n_rows[variant])
    )
    rates = {"adult": 0.2393, "compas": 0.4551, "law": 0.5233, "german": 0.7}
    if (name, variant) != ("compas", "all"):
        assert dataset.y.mean() == pytest.approx(rates[name], abs=0.01)
