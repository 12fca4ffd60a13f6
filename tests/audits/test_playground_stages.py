"""Stops in stages and parts: parts joined are the payload of one training."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from fairdash.audits import playground
from fairdash.audits.playground import SCENES, Stops, sliders
from fairdash.methods import CATALOG


@pytest.mark.parametrize("method", CATALOG)
def test_parts_of_all_stages_train_each_setting_once(method):
    entry = CATALOG[method]
    people = SCENES["rare"].people()
    stages = playground.stages_of(entry, people)
    trained = Counter()
    for stage in stages:
        trained.update(chain(*(part.settings for part in stage.parts)))
        assert set(stage.stops.settings) == set(trained)
    assert set(trained.values()) == {1}
    slider = playground.slider_of(entry, people)
    second = playground.second_slider_of(entry)
    n_settings = 1 if slider is None else len(slider.stops)
    if second is not None:
        n_settings *= len(second.stops)
    assert len(trained) == n_settings


@pytest.mark.parametrize("method", ["unconstrained", "hardt", "broad"])
def test_parts_joined_are_the_payload_of_all_settings_trained_together(
    method, monkeypatch
):
    monkeypatch.setitem(sliders._SCHEDULE, "n_epochs", 2)
    people = SCENES["proxy"].people(n=120)
    stages = playground.stages_of(CATALOG[method], people)
    parts = [
        playground.train_part(people, method, part)
        for stage in reversed(stages)
        for part in stage.parts
    ]
    for stage in stages:
        stops = stage.stops
        # a second slider of one stop is none
        second_stops = stops.second if len(stops.second) > 1 else ()
        together = playground.train(
            people, method, stops=stops.first or None, second_stops=second_stops
        )
        assert playground.join(parts, stops) == playground.payload(together)


def test_a_slider_whose_stops_are_all_one_has_no_parts_without_stops():
    """There can be no noise in the records of a group without people."""
    people = SCENES["proxy"].people(n=60)
    people = replace(people, group=np.zeros(60, dtype=int))
    stages = playground.stages_of(CATALOG["noisy_soft"], people)
    assert set(stages[-1].stops.first) == {0.0}
    assert all(part.first for stage in stages for part in stage.parts)


def test_stops_of_both_sliders_are_in_the_order_of_surfaces():
    people = SCENES["proxy"].people(n=60)
    stops = Stops((0.0, 1.0), (0.1, 0.2))
    surfaces = playground.train(
        people,
        "road",
        stops=stops.first,
        second_stops=stops.second,
        params={"n_epochs": 1},
    )
    assert stops.settings == [
        (setting["tau"], setting["fairness_weight"]) for setting in surfaces.settings
    ]
