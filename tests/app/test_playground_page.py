"""Playground: a scene and a method are chosen; the browser draws the rest."""

import json

import pytest

from fairdash.audits import playground
from fairdash.methods import CATALOG
from fairdash.ui.playground import plane


@pytest.fixture
def sent(monkeypatch):
    """What the page gave the browser, call by call."""
    calls = []
    monkeypatch.setattr(
        plane,
        "live_component",
        lambda name, folder: lambda data, key: calls.append(json.loads(data)),
    )
    return calls


def test_first_visit_opens_the_hidden_corner_with_road(visit, inline, sent):
    page = visit("Playground")
    assert not page.exception
    (drawn,) = sent
    assert drawn["id"] == "hidden_corner road"
    assert drawn["slider"]["title"] == "Fairness weight (λ)"
    assert len(drawn["grids"]) == len(drawn["words"]) == len(drawn["slider"]["stops"])
    assert drawn["truth"] is False


def test_another_scene_and_method_are_drawn_and_kept_in_the_address(
    visit, inline, sent
):
    page = visit("Playground")
    page.selectbox[0].select("wrong_records").run()
    page.selectbox[1].select("hardt").run()
    assert not page.exception
    assert sent[-1]["id"] == "wrong_records hardt"
    assert sent[-1]["shown"] == list(playground.GROUPS)
    assert sent[-1]["truth"] is True
    assert page.query_params["scene"] == "wrong_records"
    text = " ".join(block.value for block in page.markdown)
    assert playground.SCENES["wrong_records"].question in text
    assert CATALOG["hardt"].summary in " ".join(c.value for c in page.caption)


def test_a_method_that_cannot_be_trained_says_why(visit, inline, sent, monkeypatch):
    def refuse(*_):
        raise ValueError("a group has no rows")

    monkeypatch.setattr(playground, "train", refuse)
    plane._drawn.clear()
    page = visit("Playground")
    assert not page.exception
    assert not sent
    (error,) = page.error
    assert error.value == "a group has no rows"
    assert error.proto.title == "ROAD cannot be trained in this scene"
