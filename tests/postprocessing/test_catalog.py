"""A post-processing method is a class and an entry; what an entry forgets is said."""

import documents
import numpy as np
import pytest
from toy_correction import TOY, SameThreshold

from fairdash.postprocessing import (
    Correction,
    Dial,
    SplitScores,
    catalog,
    corrections,
    fit_baselines,
)


@pytest.fixture
def toy(monkeypatch):
    """The toy in the catalog, as long as a test lasts."""
    monkeypatch.setattr(catalog, "_CATALOG", dict(catalog._CATALOG))
    return catalog.add(TOY)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    margins = rng.uniform(-1, 1, 300)
    sex = rng.choice(["f", "m"], 300)
    return SplitScores.of(margins, sex, y=(margins > 0).astype(int)).calibration


def test_a_method_that_is_added_is_compared_with_and_listed(toy, rows):
    assert "Same threshold, 0" in fit_baselines(rows)
    assert "Same threshold, 0" not in fit_baselines(rows, beside=toy.key)
    listed = documents.tables().filled("post_processing.md")
    assert "|**Same threshold** `same_threshold`|`SameThreshold`|" in listed


@pytest.mark.parametrize("key", corrections())
def test_every_method_makes_its_settings_and_each_of_its_dials_counts(key, rows):
    correction = corrections()[key]
    assert correction.make("margin").fit_rows(rows).rules_
    for params in correction.compared.values():
        assert correction.make("margin", **params).fit_rows(rows).rules_
    for dial in correction.dials:
        usual = correction.make("margin").get_params()[dial.name]
        assert usual == dial.default
        texts = list(dial.options) or [str(dial.low), str(dial.high)]
        values = {dial.on_slider(text) for text in texts}
        assert len(values) > 1
        for value in values:
            rule = correction.make("margin", **{dial.name: value}).fit_rows(rows)
            assert rule.get_params()[dial.name] == value


def test_rules_as_lines_pass_through_their_knots_and_reach_both_ends(rows):
    rules = corrections()["hardt"].make("margin").fit_rows(rows).thresholds()
    curves = rules.curves()
    assert curves["group"].unique().tolist() == ["f", "m"]
    for name, rule in rules.rules.items():
        curve = curves[curves["group"] == name]
        assert curve["score"].iloc[[0, -1]].tolist() == [-1, 1]
        ends = rule(np.array([-1.0, 1.0])).tolist()
        assert curve["probability"].iloc[[0, -1]].tolist() == ends
        assert curve["probability"].iloc[1:-1].tolist() == list(rule.probability)


def test_a_parameter_that_is_no_dial_and_a_value_that_fits_not_are_named():
    hardt = corrections()["hardt"]
    with pytest.raises(ValueError, match=r"Hardt has no parameter `gamma`; it has \["):
        hardt.read({"gamma": "1"})
    with pytest.raises(ValueError, match=r"`constraints` must be one of.*'all'"):
        hardt.read({"constraints": "all"})
    with pytest.raises(ValueError, match="`tolerance` must be a number, got 'x'"):
        hardt.read({"tolerance": "x"})
    with pytest.raises(ValueError, match=r"`tolerance` must be from 0 to 0\.5"):
        hardt.dials[1].on_slider("0.7")


def entry(**changes):
    words = {"summary": "", "outcome": "no", "source": ""}
    return {
        "key": "toy",
        "label": "Toy",
        "estimator": SameThreshold,
        **words,
        **changes,
    }


def test_what_an_entry_forgets_is_said_when_it_is_made(toy):
    with pytest.raises(ValueError, match=r"SameThreshold has no parameter \['knot'\]"):
        Correction(**entry(dials=(Dial("knot", "Knot", 0.0),)))
    with pytest.raises(ValueError, match=r"SameThreshold has no parameter \['by'\]"):
        Correction(**entry(compared={"Toy": {"by": 1}}))
    with pytest.raises(TypeError, match="'toy' must be a PostProcessor"):
        Correction(**entry(estimator=dict))
    with pytest.raises(ValueError, match=r"'same_threshold' already.*another `key`"):
        catalog.add(Correction(**entry(key="same_threshold")))
