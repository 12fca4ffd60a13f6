"""Findings in a notebook: the same figures, and a notebook that runs from a bundle."""

import ast
import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from reading import ReportPage, value
from toys import people
from typer.testing import CliRunner

import fairdash
from fairdash.cli import app
from fairdash.jobs import pack_runs
from fairdash.reports import SECTIONS, report


def page_in(shown):
    """Return the page in the frame that a notebook draws."""
    frame = shown._repr_html_()
    (inside,) = re.findall(r'<iframe title="fairdash" srcdoc="([^"]*)"', frame)
    return ReportPage(html.unescape(inside))


def test_an_audit_is_shown_with_its_numbers_and_figures():
    frame = people(900).assign(score=lambda t: 1 / (1 + np.exp(-t["skill"])))
    audit = fairdash.audit(
        (frame["hired"] == "yes").to_numpy(int),
        scores="score",
        sensitive_features="origin",
        subgroups=["branch"],
        frame=frame,
    )
    page = page_in(fairdash.show(audit))
    assert audit.verdict in page.texts["p"]
    table = page.table("Every measure by group")
    for name in ("here", "there"):
        shown = [value(cell) for cell in table[name]]
        np.testing.assert_allclose(shown, audit.table[name], atol=5e-4)
    assert len(page.figures) == 2
    rates = page.figures[1]["data"][0]["x"]
    known = audit.local[audit.local["measure"] == "selection_rate"]
    np.testing.assert_allclose(rates, known["gap"])


def test_a_section_of_a_report_is_shown(swept):
    found = report(*swept)
    titles = [tag for tag, _ in page_in(fairdash.show(found)).headings if tag == "h2"]
    assert len(titles) == len(found.sections)
    page = page_in(fairdash.show(found, "local"))
    assert [text for tag, text in page.headings if tag == "h2"] == [
        "Where the model is unfair"
    ]
    one = page_in(fairdash.show(found.sections[1].blocks[0].picture))
    assert one.figures == page.figures
    with pytest.raises(ValueError, match="no section 'rows'"):
        fairdash.show(found, "rows")


def test_a_notebook_runs_in_an_empty_home_from_the_bundle(swept, tmp_path, monkeypatch):
    store, run = swept
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRDASH_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pack_runs(store, [run], tmp_path / "fairdash-bundle.zip")
    out = tmp_path / "run.ipynb"
    done = CliRunner().invoke(
        app,
        ["report", run, "--out", str(out), "--comment", "local=Look *here*.",
         "--home", str(store.home)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    book = json.loads(out.read_text())
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    texts = ["".join(cell["source"]) for cell in book["cells"]]
    assert "## Where the model is unfair\n\nLook *here*." in texts
    results, names = [], {}
    for cell, text in zip(book["cells"], texts, strict=True):
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            *body, last = ast.parse(text).body
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            results.append(eval(ast.unparse(last), names))
    _, *shown, rows = results
    assert not (tmp_path / "empty").exists()
    metrics = rows.columns[rows.columns.str.match("validation_|test_")]
    pd.testing.assert_frame_equal(rows[metrics], store.snapshot(run).table()[metrics])
    there = ReportPage(report(store, run).to_html())
    here = {k: v for one in shown for k, v in page_in(one).tables.items()}
    assert here == there.tables
    assert [f for one in shown for f in page_in(one).figures] == there.figures
    assert len(shown) == len(SECTIONS) - 2  # nothing brought along, nothing certified
