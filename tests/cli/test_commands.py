import re
from dataclasses import replace

import pandas as pd
import pytest
from toys import people, people_csv, specification
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.methods import CATALOG
from fairdash.store import open_store


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    return tmp_path


@pytest.fixture
def config(folder):
    (folder / "sweep.yaml").write_text(specification("people.csv").to_yaml())
    return folder / "sweep.yaml"


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def one_line(text):
    return "\n" not in text.strip() and "Traceback" not in text


def test_run_trains_prints_and_writes_all_rows(home, config, folder):
    out = folder / "rows.csv"
    done = call("run", config, "--inline", "--name", "Nightly", "--out", out)
    assert done.exit_code == 0, done.output
    assert "worst_1_di" in done.stdout
    assert re.search(r"run \w+: finished", done.stdout)
    rows = pd.read_csv(out)
    assert rows["method"].tolist() == ["unconstrained", "road", "road"]
    store = open_store()
    (record,) = store.runs()
    assert (record.name, record.status) == ("Nightly", "finished")
    store.close()


def test_run_weighs_rows_and_refuses_a_method_that_cannot(home, folder, monkeypatch):
    people().assign(weight=2.5).to_csv(folder / "people.csv")
    text = specification("people.csv", methods=[{"method": "logistic"}]).to_yaml()
    text = text.replace("roles:", "roles:\n    sample_weight: weight")
    (folder / "sweep.yaml").write_text(text)
    done = call("run", folder / "sweep.yaml", "--inline")
    assert (done.exit_code, "finished" in done.output) == (0, True), done.output
    unable = replace(CATALOG["logistic"], no_weights="rows count once")
    monkeypatch.setitem(CATALOG, "logistic", unable)
    done = call("run", folder / "sweep.yaml", "--inline")
    assert done.exit_code == 2
    assert "Logistic cannot count rows by the column 'weight': rows" in done.output


def test_the_app_is_served_to_others_only_with_a_login_or_knowingly(home):
    refused = call("app", "--address", "0.0.0.0")
    assert refused.exit_code == 2
    assert one_line(refused.output)
    assert "--insecure" in refused.output
    assert not home.exists()
