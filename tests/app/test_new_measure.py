"""A measure that is added to the catalog is on pages, in reports, shell and sweeps."""

import json

import numpy as np
import pytest
from reading import drawn, words
from recompute import add_table, train
from typer.testing import CliRunner

import fairdash
from fairdash import ui
from fairdash.cli import app
from fairdash.metrics.group import catalog
from fairdash.results import StoredSweep, with_gaps


@pytest.fixture
def toy(monkeypatch):
    """The share of rows without the outcome that is decided 0."""
    monkeypatch.setattr(catalog, "_KNOWN", dict(catalog._KNOWN))
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


def test_a_measure_is_one_entry(toy, visit, inline, train_once, tmp_path):
    rng = np.random.default_rng(0)
    y, d = rng.integers(0, 2, (2, 600))
    group = rng.choice(["other", "gap"], 600)
    found = fairdash.audit(y, d, sensitive_features=group)
    share = np.mean(d[(y == 0) & (group == "gap")] == 0)
    assert found.table.loc[toy.key, "gap (group)"] == pytest.approx(share)
    assert any(one.measure == toy.key for one in found.findings)

    data = add_table(2)
    run = train_once(ui.store(), train, data, "sweep")
    page = visit("Local fairness", run=run, measure=toy.key)
    assert not page.exception
    assert "True negative rate" in words(page)
    assert "is spared" in words(page)
    sweep = StoredSweep.of(ui.store(), ui.store().snapshot(run))
    result = with_gaps(sweep, {f"{toy.key}_gap": toy.key}).result
    assert result.means[f"test_{toy.key}_gap"].between(0, 1).all()
    page = visit("Sweep", run=run, across=f"{toy.key}_gap")
    assert not page.exception
    assert "true negative rate gap" in json.dumps(drawn(page)["layout"])

    table = tmp_path / "decisions.csv"
    rows = zip(y, d, group, strict=True)
    lines = ["y,d,g", *(f"{a},{b},{c}" for a, b, c in rows)]
    table.write_text("\n".join(lines))
    out = tmp_path / "audit.json"
    done = CliRunner().invoke(
        app,
        [
            *("audit", str(table), "--decision", "d=1", "--outcome", "y=1"),
            *("--group", "g", "--out", str(out), "--report", f"{tmp_path}/audit.html"),
        ],
    )
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert toy.key in {one["measure"] for one in written["findings"]}
    assert "True negative rate" in (tmp_path / "audit.html").read_text()


def test_a_key_that_is_taken_is_refused(toy):
    with pytest.raises(ValueError, match="'true_negative_rate' already"):
        catalog.add(toy)
