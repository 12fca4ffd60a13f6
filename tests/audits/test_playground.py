"""The playground: grids are those of the methods, scenes show what they say."""

import base64
import json

import numpy as np
import pytest
from cases import sampled

from fairdash.audits import playground
from fairdash.audits.playground import GROUPS, SCENES, SIDE
from fairdash.methods import CATALOG
from fairdash.metrics import Drawn, evaluate, expected_local_di


@pytest.mark.parametrize("method", sampled(CATALOG, 6))
def test_a_grid_and_a_path_are_those_of_the_method_fitted_alone(method):
    """At both ends of both sliders; a stack trains as each model by itself."""
    entry = CATALOG[method]
    people = SCENES["hidden_corner"].people(n=240)
    slider = playground.slider_of(entry, people, n_stops=2)
    second = playground.second_slider_of(entry)
    surfaces = playground.train(
        people,
        method,
        stops=None if slider is None else slider.stops,
        second_stops=() if second is None else second.stops[::2],
    )
    groups = np.array(GROUPS)[people.group]
    settings = playground.settings_of(entry)
    assert len(surfaces.settings) == (1 if slider is None else 2) * (2 if second else 1)
    for place, point in enumerate(surfaces.settings):
        alone = entry.estimator({**settings, **point}, random_state=0)
        alone.fit(people.X, people.outcome, sensitive_features=groups)
        for group_name, surface in zip(GROUPS, surfaces.grid[place], strict=False):
            plane = playground.grid_points()
            routed = {}
            if entry.needs_groups:
                routed = {"sensitive_features": np.full(len(plane), group_name)}
            expected = alone.predict_proba(plane, **routed)[:, 1].reshape(SIDE, SIDE)
            np.testing.assert_allclose(surface, expected, atol=2e-4)
    _check_path(surfaces, people, mixture=entry.mixture)


def _check_path(surfaces, people, *, mixture):
    rows = {"subgroups": people.corner, "min_size": playground.MIN_SIZE}
    for stop, scores in zip(
        surfaces.path.to_dict("records"), surfaces.scores, strict=True
    ):
        predictions = Drawn(scores) if mixture else scores
        decided = scores.astype(float) if mixture else (scores > 0.5).astype(float)
        figures = evaluate(
            people.outcome, predictions, sensitive_features=people.group, **rows
        ).iloc[0]
        assert stop["accuracy"] == pytest.approx(figures["accuracy"])
        assert stop["gap"] == pytest.approx(figures["demographic_parity_difference"])
        local = expected_local_di(decided, sensitive_features=people.group, **rows)
        largest = local.loc[local["local_di"].idxmax()]
        assert stop["largest_local_gap"] == pytest.approx(largest["local_di"])
        assert stop["place"] == largest["subgroup"]
        for code, name in enumerate(GROUPS):
            members = people.group == code
            assert stop[f"rate_{name}"] == pytest.approx(decided[members].mean())


LITTLE = {"n_epochs": 1, "max_iter": 1, "n_samples": 1, "max_prefixes": 20}


@pytest.mark.parametrize("method", sampled(CATALOG, 6))
def test_every_method_draws_every_scene(method):
    """At the end of the slider, with little training: it is drawn without a fault."""
    entry = CATALOG[method]
    names = {param.name for param in entry.params}
    params = {name: value for name, value in LITTLE.items() if name in names}
    for scene in SCENES.values():
        people = scene.people(n=300)
        slider = playground.slider_of(entry, people)
        stops = None if slider is None else slider.stops[-1:]
        surfaces = playground.train(people, method, stops=stops, params=params)
        assert np.isfinite(surfaces.grid).all()
        sent = json.loads(json.dumps(playground.payload(surfaces), allow_nan=False))
        assert len(sent["words"]) == len(sent["grids"]) == len(surfaces.settings)
        assert "of decisions are right" in sent["words"][0]


def test_a_method_without_a_second_slider_refuses_its_stops():
    with pytest.raises(ValueError, match="Logistic has no second slider"):
        playground.train(SCENES["proxy"].people(), "logistic", second_stops=(1,))


FIELDS = {"across": [0, 1.5], "up": [-2, 0.25], "group": [0, 1], "outcome": [1, 0],
          "wrong": [0, 1]}  # fmt: skip


def test_people_drawn_in_a_browser_are_those_it_was_sent():
    people = playground.People.drawn(FIELDS)
    assert playground.plane_payload(people)["people"] == FIELDS
    assert people.true_group.tolist() == [0, 0]
    assert people.key == playground.People.drawn(FIELDS).key
    assert people.key != SCENES["proxy"].people().key
    table = people.table()
    assert list(table.columns) == list(playground.COLUMNS)
    assert table["group"].tolist() == ["A", "B"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"up": [1]}, "one length"),
        ({"up": None}, "need a list `up`"),
        ({"up": [1, "high"]}, "`up` of drawn people must hold numbers"),
        ({"up": [1, float("nan")]}, "finite"),
        ({"across": [0, 2.6]}, "within 2.5"),
        ({"group": [0, 2]}, "`group` of drawn people must be 0 or 1"),
        ({name: [] for name in FIELDS}, "1 to 1200 people"),
        ({name: [0] * 1201 for name in FIELDS}, "got 1201"),
    ],
)
def test_what_no_browser_draws_is_refused(change, says):
    with pytest.raises(ValueError, match=says):
        playground.People.drawn({**FIELDS, **change})


def test_changed_people_are_fewer_of_b_or_recorded_wrongly():
    people = SCENES["proxy"].people()
    assert people.changed().key == people.key
    members = (people.group == 1).sum()
    fewer = people.changed(size_of_b=0.2)
    assert (fewer.group == 0).sum() == (people.group == 0).sum()
    assert (fewer.group == 1).sum() == pytest.approx(0.2 * members, rel=0.4)
    more_of_b = people.changed(size_of_b=1.5)
    n_added = len(more_of_b) - len(people)
    assert n_added == pytest.approx(0.5 * members, rel=0.2)
    np.testing.assert_array_equal(more_of_b.X[: len(people)], people.X)
    assert (more_of_b.group[len(people) :] == 1).all()
    most_of_b = people.changed(size_of_b=2.0)
    assert len(most_of_b) == len(people) + members
    # Everybody who is added stands close to a member, and has that member's outcome.
    added = slice(len(people), None)
    of_b = people.group == 1
    assert np.abs(most_of_b.X[added] - people.X[of_b]).max() < 1
    np.testing.assert_array_equal(most_of_b.outcome[added], people.outcome[of_b])
    labelled = people.changed(wrong_outcomes=0.3)
    turned = labelled.outcome != people.outcome
    assert set(people.group[turned]) == {1}
    assert turned.sum() == pytest.approx(0.3 * members, rel=0.3)
    recorded = people.changed(wrong_records=0.25)
    wrong = recorded.group != recorded.true_group
    assert wrong.mean() == pytest.approx(0.25, abs=0.06)
    np.testing.assert_array_equal(recorded.true_group, people.true_group)
    more = people.changed(wrong_records=0.5)
    assert (more.group != more.true_group)[wrong].all()


def test_a_group_grows_to_no_more_people_than_can_be_trained_on():
    people = SCENES["proxy"].people(n=playground.MOST_PEOPLE)
    assert len(people.changed(size_of_b=2.0)) == playground.MOST_PEOPLE


def test_changes_of_an_added_group_are_of_the_added_people_too():
    people = SCENES["proxy"].people().changed(size_of_b=2.0, wrong_outcomes=0.5)
    plain = SCENES["proxy"].people().changed(size_of_b=2.0)
    turned = people.outcome != plain.outcome
    assert turned[600:].mean() == pytest.approx(0.5, abs=0.1)
    assert turned[:600][people.group[:600] == 1].mean() == pytest.approx(0.5, abs=0.1)


@pytest.fixture(scope="module")
def path():
    """A function that trains a method in a scene, once."""
    trained = {}

    def go(scene, method):
        if (scene, method) not in trained:
            people = SCENES[scene].people()
            trained[scene, method] = playground.train(people, method)
        return trained[scene, method]

    return go


def test_road_leaves_a_smaller_gap_in_the_hidden_corner_and_is_right_less_often(path):
    """At the same λ, from 2 to 4; `benchmarks/playground_scenes.py` has more seeds."""
    road = path("hidden_corner", "road")
    zhang = path("hidden_corner", "adversarial")
    corner = road.people.corner == "upper right"

    def gap(surfaces):
        decided = surfaces.scores[4:] > 0.5
        rates = [
            decided[:, corner & (road.people.group == code)].mean() for code in (0, 1)
        ]
        return abs(rates[0] - rates[1])

    assert gap(road) < gap(zhang)
    accuracy = [surfaces.path["accuracy"].iloc[4:].mean() for surfaces in (road, zhang)]
    assert accuracy[0] < accuracy[1]


def upright(surfaces):
    """How much scores change with height, relative to across, at each stop."""
    grid = surfaces.grid[:, 0]
    upward = np.abs(np.diff(grid, axis=1)).mean(axis=(1, 2))
    return upward / np.abs(np.diff(grid, axis=2)).mean(axis=(1, 2))


def test_the_line_of_a_proxy_tilts(path):
    share = upright(path("proxy", "adversarial"))
    assert share[-1] < share[0] / 2


def test_twins_are_decided_alike_by_sensei(path):
    scores = path("twins", "sensei").scores
    distance = np.abs(scores[:, 0::2] - scores[:, 1::2]).mean(axis=1)
    assert distance[-1] < distance[0] / 5


def test_where_labels_are_wrong_parity_weakens_what_they_came_from(path):
    """True outcomes followed the first feature alone; height tells the group."""
    share = upright(path("wrong_labels", "adversarial"))
    assert share[-1] < share[0]


def test_wrong_records_hide_a_part_of_the_gap(path):
    surfaces = path("wrong_records", "unconstrained")
    decided = surfaces.scores[0] > 0.5
    people = surfaces.people

    def gap(groups):
        return abs(decided[groups == 0].mean() - decided[groups == 1].mean())

    assert gap(people.group) < gap(people.true_group)


def test_the_rare_group_lives_at_the_lower_edge():
    people = SCENES["rare"].people()
    members = people.group == 1
    assert members.mean() < 0.1
    assert (people.X[members, 1] < -1).mean() > 0.8


def test_where_outcomes_differ_equal_rates_cost_many_decisions(path):
    stops = path("equal_rates", "adversarial").path
    assert stops["gap"].iloc[-1] < stops["gap"].iloc[0] / 4
    assert stops["accuracy"].iloc[-1] < stops["accuracy"].iloc[0] - 0.15


@pytest.mark.parametrize("scene", SCENES)
def test_people_of_a_scene_are_reproducible_and_in_the_plane(scene):
    people, again = SCENES[scene].people(3), SCENES[scene].people(3)
    np.testing.assert_array_equal(people.X, again.X)
    assert len(people) == 600
    assert np.abs(people.X).max() <= 2.5
    for code in (0, 1):
        assert set(people.outcome[people.group == code]) == {0, 1}
    assert not np.array_equal(people.X, SCENES[scene].people(4).X)


def test_the_browser_gets_what_was_trained(path):
    surfaces = path("proxy", "hardt")
    sent = playground.payload(surfaces)
    assert sent["shown"] == list(GROUPS)
    for stop, surface in zip(sent["grids"], surfaces.grid, strict=True):
        for text, values in zip(stop, surface, strict=True):
            levels = np.frombuffer(base64.b64decode(text), np.uint8)
            np.testing.assert_allclose(
                levels.reshape(SIDE, SIDE) / 255, values, atol=0.5 / 255 + 1e-6
            )
    assert sent["words"] == [
        playground.words(stop) for stop in surfaces.path.to_dict("records")
    ]
    assert "upper right" in sent["words"][0] or "quarter" in sent["words"][0]


def test_words_say_nothing_of_quarters_without_two_groups_in_one():
    stop = {
        "accuracy": 0.75, "gap": 0.1, "largest_local_gap": float("nan"), "place": "",
        "rate_A": 0.5, "rate_B": 0.4, "error_A": 0.1, "error_B": 0.2,
    }  # fmt: skip
    assert playground.words(stop) == (
        "75.0% of decisions are right; 50.0% of A and 40.0% of B are accepted."
    )
    inside = {**stop, "largest_local_gap": 0.2, "place": "lower left"}
    assert playground.words(inside).endswith(
        "The largest gap inside a quarter is 20.0 points, lower left."
    )
