"""A method in one file, or a measure of one entry, is in forms, sweep and shell."""

import importlib.util
import sys

import numpy as np
import pandas as pd
import pytest
from reading import words
from recompute import add_table, train
from streamlit.testing.v1 import AppTest
from toys import people_csv, specification
from typer.testing import CliRunner

import fairdash
from fairdash import ui
from fairdash.cli import app
from fairdash.methods import CATALOG
from fairdash.metrics.group import catalog

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


def test_the_command_line_trains_it(toy, home, tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    grid = {"method": "toy", "params": {"boldness": [0.5, 2.0]}}
    spec = specification("people.csv", methods=[grid])
    config, out = tmp_path / "toy.yaml", tmp_path / "rows.csv"
    config.write_text(spec.to_yaml())
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
