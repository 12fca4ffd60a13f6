"""A method in one file, or a measure of one entry, is in forms, sweep and shell."""

import importlib.util
import json
import sys

import numpy as np
import pandas as pd
import pytest
from reading import drawn, words
from recompute import add_table, train
from streamlit.testing.v1 import AppTest
from toys import people_csv, specification
from typer.testing import CliRunner

import fairdash
from fairdash import ui
from fairdash.audits import StoredSweep, with_gaps
from fairdash.cli import app
from fairdash.methods import CATALOG
from fairdash.metrics.group import catalog
from fairdash.sweep import python_script, run_sweep

TOY = '''
"""A toy: the unconstrained network, its scores made bolder."""

from fairdash._validation import check_positive
from fairdash.methods.adversarial.zhang import Unconstrained
from fairdash.methods.declare import Method, param, vary
from fairdash.methods.params import EPOCHS, FAIRNESS_WEIGHT


class Toy(Unconstrained):
    """Network whose logits are multiplied.

    Attributes
    ----------
    As in :class:`Unconstrained`.
    """

    fairness_weight: float = FAIRNESS_WEIGHT
    boldness: float = param(
        0.5,
        "Boldness",
        letter="β",
        low=0.1,
        high=5.0,
        axis="log",
        stackable=True,
        check=check_positive,
        help="Larger: bolder.",
        doc="Factor of the logits, above 0.",
    )
    n_epochs: int = vary(EPOCHS, default=2)

    def decision_function(self, X):
        return self.boldness * super().decision_function(X)


METHOD = Method.of(
    Toy,
    key="toy",
    label="Toy",
    title="A toy",
    summary="Multiplies logits.",
    source="this test",
)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return the class of a method that was written to a file and registered."""
    path = tmp_path / "toy_method.py"
    path.write_text(TOY)
    spec = importlib.util.spec_from_file_location("toy_method", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "toy_method", module)
    spec.loader.exec_module(module)
    monkeypatch.setitem(CATALOG, "toy", module.METHOD)
    return module.Toy


def test_the_constructor_stores_what_is_declared(toy):
    model = toy(boldness=2.0)
    assert model.get_params() == {
        "fairness_weight": 1.0,
        "boldness": 2.0,
        "predictor_layers": "standard",
        "n_epochs": 2,
        "batch_size": 512,
        "learning_rate": 1e-3,
        "device": "auto",
        "random_state": None,
        "pos_label": None,
    }
    with pytest.raises(TypeError, match="boldnes"):
        toy(boldnes=2.0)
    with pytest.raises(TypeError, match="positional"):
        toy(2.0)


def test_a_fit_checks_what_is_declared(toy):
    X, y = np.eye(8), np.arange(8) % 2
    for wrong, message in (
        ({"boldness": 0}, r"`boldness` must be a finite number > 0, got 0\."),
        ({"fairness_weight": -1}, r"`fairness_weight` must be a finite number >= 0"),
        ({"n_epochs": 0.5}, r"`n_epochs` must be a whole number from .*, got 0\.5\."),
        ({"device": "abacus"}, r"`device` must be one of \['auto', 'cpu', 'cuda'\]"),
        ({"predictor_layers": "tiny"}, "`predictor_layers` must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            toy(**wrong).fit(X, y, sensitive_features=y[::-1])


def test_it_is_in_the_form_with_its_range_and_words(toy, inline):
    def page():
        import streamlit as st

        from fairdash.sweep import MethodGrid
        from fairdash.ui.train.method_form import method_form

        st.session_state["grid"] = method_form(MethodGrid(method="toy"))

    form = AppTest.from_function(page, default_timeout=60).run()
    (method,) = [one for one in form.selectbox if one.label == "Method"]
    assert "Toy" in method.options
    (slider,) = [one for one in form.slider if one.label == "Boldness (β)"]
    assert (slider.min, slider.max, slider.value) == (0.1, 5.0, 0.5)
    assert slider.help == "Larger: bolder."
    slider.set_value(2.0).run()
    assert form.session_state["grid"].params == {"boldness": 2.0}
    assert "fairness_weight" in CATALOG["toy"].stackable()


def test_a_sweep_trains_its_grid_and_writes_it_as_a_script(toy, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    grid = {"method": "toy", "params": {"boldness": {"log": [0.1, 10, 3]}}}
    spec = specification(tmp_path / "people.csv", methods=[grid])
    table = run_sweep(spec)
    assert table["boldness"].tolist() == [0.1, 1.0, 10.0]
    assert "boldness" in python_script(spec)


def test_the_command_line_trains_it(toy, home, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    grid = {"method": "toy", "params": {"boldness": [0.5, 2.0]}}
    config = tmp_path / "toy.yaml"
    config.write_text(specification("people.csv", methods=[grid]).to_yaml())
    out = tmp_path / "rows.csv"
    done = CliRunner().invoke(app, ["run", str(config), "--inline", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert pd.read_csv(out)["boldness"].tolist() == [0.5, 2.0]


@pytest.fixture
def toy_measure(monkeypatch):
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


def test_a_measure_is_one_entry(toy_measure, visit, inline, train_once, tmp_path):
    rng = np.random.default_rng(0)
    y, d = rng.integers(0, 2, (2, 600))
    group = rng.choice(["other", "gap"], 600)
    found = fairdash.audit(y, d, sensitive_features=group)
    share = np.mean(d[(y == 0) & (group == "gap")] == 0)
    assert found.table.loc[toy_measure.key, "gap (group)"] == pytest.approx(share)
    assert any(one.measure == toy_measure.key for one in found.findings)

    data = add_table(2)
    run = train_once(ui.store(), train, data, "sweep")
    page = visit("Local fairness", run=run, measure=toy_measure.key, opened="measures")
    assert not page.exception
    assert "True negative rate" in words(page)
    assert "is spared" in words(page)
    sweep = StoredSweep.of(ui.store(), ui.store().snapshot(run))
    result = with_gaps(sweep, {f"{toy_measure.key}_gap": toy_measure.key}).result
    assert result.means[f"test_{toy_measure.key}_gap"].between(0, 1).all()
    page = visit("Sweep", run=run, across=f"{toy_measure.key}_gap")
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
    assert toy_measure.key in {one["measure"] for one in written["findings"]}
    assert "True negative rate" in (tmp_path / "audit.html").read_text()


def test_a_key_that_is_taken_is_refused(toy_measure):
    with pytest.raises(ValueError, match="'true_negative_rate' already"):
        catalog.add(toy_measure)
