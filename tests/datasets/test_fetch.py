import functools
import hashlib
import http.server
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import sampled

from fairdash.datasets import PUBLIC, fetch
from fairdash.datasets._named import content_digest
from fairdash.datasets._public import TABLES

LAW = b"bar1,race7,lsat\n" + b"1,1,30\n0,0,25\n1,0,25\n0,1,30\n" * 10
CLIENTS = pd.DataFrame(
    np.arange(60 * 25).reshape(60, 25) % 7,
    columns=["ID", *(f"X{i}" for i in range(1, 24)), "Y"],
).assign(ID=range(60), X2=[1, 2] * 30, Y=[0, 1, 1, 0] * 15)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def shelf(tmp_path):
    """A folder whose files a server on this machine publishes, and its address."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    serve = functools.partial(server.serve_forever, poll_interval=0.01)
    threading.Thread(target=serve, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def law(shelf, monkeypatch):
    """A small law table whose file is known by its sha256."""
    folder, address = shelf
    (folder / "law.csv").write_bytes(LAW)
    law = PUBLIC["law"]
    columns = {"features": ("lsat",), "subgroup_columns": ()}
    table = replace(
        law,
        url=f"{address}/law.csv",
        sha256=hashlib.sha256(LAW).hexdigest(),
        roles=law.roles.model_copy(update=columns),
        variants={"road": replace(law.variants["road"], n_rows=40)},
    )
    monkeypatch.setitem(PUBLIC, "law", table)
    return table


@pytest.fixture
def credit(shelf, monkeypatch):
    """A small table of card clients of which the content is known, not the file."""
    folder, address = shelf
    CLIENTS.to_csv(folder / "data.csv", index=False)
    credit = PUBLIC["credit"]
    table = replace(
        credit,
        url=f"{address}/data.csv",
        content=content_digest(CLIENTS.set_axis(TABLES["credit"]["columns"], axis=1)),
        variants={"all": replace(credit.variants["all"], n_rows=60)},
    )
    monkeypatch.setitem(PUBLIC, "credit", table)
    return table


def go_offline(monkeypatch, name):
    """Let nobody answer at the address of a table; return what it is then."""
    gone = replace(PUBLIC[name], url="http://127.0.0.1:9/gone.csv")
    monkeypatch.setitem(PUBLIC, name, gone)
    return gone


@pytest.mark.parametrize("name, n_rows", [("law", 40), ("credit", 60)])
def test_a_table_is_downloaded_once(law, credit, name, n_rows, tmp_path, monkeypatch):
    data = fetch(name, tmp_path / "home")
    go_offline(monkeypatch, name)
    two = fetch(name, tmp_path / "home")
    assert data.n_rows == two.n_rows == n_rows
    assert data.key == two.key


@pytest.mark.parametrize("name", ["law", "credit"])
def test_offline_it_says_what_to_put_where(law, credit, name, tmp_path, monkeypatch):
    gone = go_offline(monkeypatch, name)
    with pytest.raises(ValueError) as caught:
        fetch(name, tmp_path / "home")
    for part in (gone.url, gone.file, str(tmp_path / "home")):
        assert part in str(caught.value)


def test_a_file_of_the_known_content_is_read_with_names_and_words(credit, tmp_path):
    dataset = fetch("credit", tmp_path)
    wanted = CLIENTS["X2"].map({1: "male", 2: "female"}).tolist()
    assert dataset.sensitive_features.tolist() == wanted
    assert dataset.y.tolist() == CLIENTS["Y"].tolist()
    schools = {"1": "graduate school", "2": "university", "3": "high school"}
    education = CLIENTS["X3"].astype(str).replace({**schools, "4": "others"})
    assert dataset.frame["education"].tolist() == education.tolist()


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda table: table.replace({"X23": {5: 6}}), "are not those published"),
        (lambda table: table[::-1], "are not those published"),
        (lambda table: table.assign(X1=table["X1"] + 0.5), "is no whole number"),
        (lambda table: table.assign(X1="x"), "is no whole number"),
        (lambda table: table.drop(columns="X9"), "24 columns where 25 were expected"),
    ],
)
def test_other_content_is_refused_wherever_it_comes_from(
    credit, shelf, tmp_path, monkeypatch, change, said
):
    content = change(CLIENTS).to_csv(index=False)
    (shelf[0] / "data.csv").write_text(content)
    home = tmp_path / "home"
    with pytest.raises(ValueError, match=said):
        fetch("credit", home)
    assert list(home.iterdir()) == []
    (home / credit.file).write_text(content)
    go_offline(monkeypatch, "credit")
    with pytest.raises(ValueError, match=said) as caught:
        fetch("credit", home)
    assert f"move {home / credit.file} away" in str(caught.value)
    assert (home / credit.file).read_text() == content


@pytest.mark.parametrize(
    "name, variant",
    sampled(((n, v) for n, table in PUBLIC.items() for v in table.variants), 2),
)
def test_published_files_give_the_rows_of_the_papers(name, variant):
    folder = os.environ.get("FAIRDASH_DATA")
    if folder is None or not (Path(folder) / "raw" / PUBLIC[name].file).exists():
        pytest.skip("needs the original files in FAIRDASH_DATA")
    dataset = fetch(name, Path(folder) / "raw", variant)
    n_rows = len(dataset.frame) + dataset.excluded["rows"].sum()
    assert n_rows == PUBLIC[name].variants[variant].n_rows
    rates = {"adult": 0.2393, "compas": 0.4551, "law": 0.5233, "german": 0.7}
    if (name, variant) != ("compas", "all"):
        assert dataset.y.mean() == pytest.approx(rates[name], abs=0.01)
