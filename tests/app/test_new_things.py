"""What one file or one entry adds is in audits, on pages and on the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import toy_reader
from reading import words
from recompute import add_table, train
from typer.testing import CliRunner

import fairdash
from fairdash import ui
from fairdash.box import process
from fairdash.cli import app
from fairdash.datasets.reading import registry
from fairdash.metrics.group import catalog


@pytest.fixture
def toy_measure(monkeypatch):
    """The share of rows without the outcome that is decided 0."""
    monkeypatch.setattr(catalog, "_CATALOG", dict(catalog._CATALOG))
    return catalog.add(
        catalog.Measure(
            "true_negative_rate",
            "True negative rate",
            "P(ŷ = 0 | y = 0)",
            "{group} is spared {points} {often} than {other}",
            about=lambda y, d: y == 0,
            counted=lambda y, d: d == 0,
            support="with outcome 0",
            among="among rows without {outcome}, ",
            better="unfavourable",
        )
    )


def test_a_measure_is_one_entry(toy_measure, visit, inline, train_once):
    rng = np.random.default_rng(0)
    y, d = rng.integers(0, 2, (2, 600))
    group = rng.choice(["other", "gap"], 600)
    report = fairdash.audit(y, d, sensitive_features=group)
    share = np.mean(d[(y == 0) & (group == "gap")] == 0)
    assert report.table.loc[toy_measure.key, "gap (group)"] == pytest.approx(share)
    assert toy_measure.key in {finding.measure for finding in report.findings}

    data = add_table(2)
    run = train_once(ui.store(), train, data, "sweep")
    local = visit("Local fairness", run=run, measure=toy_measure.key, opened="measures")
    for page in (local, visit("Sweep", run=run, opened="measures")):
        assert not page.exception
        (table,) = [
            element.value for element in page.dataframe if "In words" in element.value
        ]
        (words,) = table.loc[table["Measure"] == "True negative rate", "In words"]
        assert "is spared" in words


def test_the_shell_and_a_report_have_it(toy_measure, tmp_path):
    rows = {"hired": [1, 0, 0] * 40, "good": [1, 0, 0, 1] * 30, "sex": ["a", "b"] * 60}
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    options = ["--decision=hired=1", "--outcome=good=1", "--group=sex"]
    written = [f"--out={tmp_path}/a.json", f"--report={tmp_path}/a.html"]
    arguments = ["audit", f"{tmp_path}/rows.csv", *options, *written]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert toy_measure.key in (tmp_path / "a.json").read_text()
    assert toy_measure.name in (tmp_path / "a.html").read_text()


@pytest.fixture
def toy_reader_everywhere(monkeypatch):
    """A toy kind of files, here and in the processes in which files are read."""
    added = "from fairdash.datasets.reading import registry; import toy_reader; "
    added += "registry.add(toy_reader.READER); "
    helpers = f"sys.path.append({str(Path(toy_reader.__file__).parent)!r}); "
    first, last = process._BOOT.split("from fairdash", 1)
    monkeypatch.setattr(process, "_BOOT", f"{first}{helpers}{added}from fairdash{last}")
    monkeypatch.setattr(process, "supervisor", process.Supervisor())
    registry.add(toy_reader.READER)
    yield
    registry.remove("pairs")
    process.supervisor.stop()


def test_a_format_is_one_reader(toy_reader_everywhere, visit):
    page = visit("Data")
    assert "Arrow and Pairs, plain or packed" in page.file_uploader[0].label
    content = toy_reader.FILE + b"age=39&sex=f\nage=40&sex=m\n" * 30
    page.file_uploader[0].upload("people.pairs", content, "text/plain").run()
    assert not page.exception
    assert "Read as name=value pairs." in words(page)
    (table,) = ui.store().tables()
    assert table.n_rows == 62
