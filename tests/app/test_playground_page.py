"""Playground: a scene and methods are chosen; the browser draws the rest."""

import json

import pytest
import streamlit as st
from toys import ROLES, people_csv

from fairdash.audits import playground
from fairdash.methods import CATALOG
from fairdash.store import open_store
from fairdash.ui.playground import plane, training


class Browser:
    """What the page gave the component, and how the component answers."""

    def __init__(self):
        self.calls = []

    def draw(self, data, key, **heard):
        self.calls.append(json.loads(data))
        self.heard = heard

    @property
    def last(self):
        return self.calls[-1]


@pytest.fixture
def browser(monkeypatch):
    fake = Browser()
    monkeypatch.setattr(plane, "live_component", lambda *_: fake.draw)
    yield fake
    st.cache_resource.clear()


def test_first_visit_opens_the_hidden_corner_with_road(visit, inline, browser):
    page = visit("Playground")
    assert not page.exception
    (drawn,) = browser.calls
    (view,) = drawn["views"]
    assert drawn["scene"] == "hidden_corner"
    assert view["method"] == "ROAD"
    assert view["slider"]["title"] == "Fairness weight (λ)"
    assert len(view["grids"]) == len(view["words"])
    assert drawn["truth"] is False
    # All stops of both sliders come with the package.
    assert drawn["rest"] is False
    assert len(view["grids"]) == 27


def test_later_stages_follow_and_keep_the_models_of_the_first(visit, inline, browser):
    page = visit(
        "Playground", scene="hidden_corner", shown_method="broad", wrong_records="5"
    )
    first = browser.last["views"][0]
    n_models = [len(first["grids"])]
    while browser.last["rest"]:
        page.run()
        n_models.append(len(browser.last["views"][0]["grids"]))
    assert n_models == [5, 9, 27]
    whole = browser.last["views"][0]
    n_stops = len(whole["slider"]["stops"])
    assert len(whole["grids"]) == n_stops * len(whole["second"]["stops"])
    middle = whole["grids"][n_stops : 2 * n_stops]
    assert middle[::2] == first["grids"]


def test_two_methods_are_compared_on_the_same_people(visit, inline, browser):
    page = visit("Playground", scene="wrong_records", shown_method="hardt")
    page.selectbox[2].select("logistic").run()
    assert not page.exception
    assert [view["method"] for view in browser.last["views"]] == ["Hardt", "Logistic"]
    assert browser.last["views"][0]["shown"] == list(playground.GROUPS)
    assert browser.last["truth"] is True
    assert page.query_params["beside"] == "logistic"
    text = " ".join(block.value for block in page.markdown)
    assert playground.SCENES["wrong_records"].question in text
    captions = " ".join(caption.value for caption in page.caption)
    for method in ("hardt", "logistic"):
        assert CATALOG[method].summary in captions


def test_a_method_that_cannot_be_trained_says_why(visit, inline, browser, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("a group has no rows")

    monkeypatch.setattr(training, "trained", refuse)
    monkeypatch.setattr(plane, "trained", refuse)
    page = visit("Playground")
    assert not page.exception
    assert not browser.calls
    (error,) = page.error
    assert error.value == "a group has no rows"
    assert error.proto.title == "ROAD cannot be trained here"


def test_people_are_changed_by_the_address_and_taken_along(visit, inline, browser):
    page = visit(
        "Playground", scene="proxy", shown_method="logistic", wrong_records="20"
    )
    wrong = browser.last["people"]["wrong"]
    assert 0.1 < sum(wrong) / len(wrong) < 0.3
    assert browser.last["truth"] is True
    page.slider[0].set_value(50).run()
    assert page.query_params["remaining_b"] == "50"
    people = browser.last["people"]
    assert len(people["wrong"]) < len(wrong)
    (take,) = [b for b in page.button if b.label == "Take this table along"]
    take.click().run()
    assert not page.exception
    assert page.title[0].value == "What is in the table?"
    record = open_store().dataset_record(page.query_params["data"])
    assert record.name == "Playground: a proxy"
    frame = open_store().table(record.table_sha256)
    assert frame["outcome"].tolist() == people["outcome"]
    assert frame["group"].map(playground.GROUPS.index).tolist() == people["group"]


def test_two_columns_of_a_data_set_are_a_plane(visit, inline, browser):
    digest = open_store().add_table(people_csv(300), "people.csv")
    data = open_store().add_dataset(digest, ROLES, "<b>People</b>")
    page = visit("Playground", data=data, scene="table", shown_method="logistic")
    assert not page.exception
    drawn = browser.last
    assert drawn["axes"] == ["age", "skill"]
    assert len(drawn["people"]["across"]) <= 300
    text = " ".join(block.value for block in page.markdown)
    assert "the surface holds the others at their medians" in text
    page.selectbox(key="selection plane_across").select("skill").run()
    assert browser.last["axes"] == ["skill", "age"]
    assert "Take this table along" not in [button.label for button in page.button]


def test_a_data_set_without_two_numbers_says_what_to_do(visit, inline, browser):
    digest = open_store().add_table(people_csv(300), "people.csv")
    roles = ROLES.model_copy(update={"features": ("age", "branch")})
    data = open_store().add_dataset(digest, roles, "People")
    page = visit("Playground", data=data, scene="table")
    assert not page.exception
    assert not browser.calls
    assert "Choose features" in [button.label for button in page.button]


def test_the_ramp_of_post_processing_can_be_chosen(visit, inline, browser):
    page = visit("Playground", scene="proxy", shown_method="ramp")
    assert not page.exception
    (view,) = browser.last["views"]
    assert view["method"] == "Ramp"
    assert view["sees"]["kind"] == "rules"
    captions = " ".join(caption.value for caption in page.caption)
    assert playground.METHODS["ramp"].summary in captions
