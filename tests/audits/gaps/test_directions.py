"""Local fairness says which way gaps point: in verdict, cards, table and figure."""

import numpy as np
import pandas as pd
import pytest

from fairdash import audit, plots, ui
from fairdash.audits import gaps, trials
from fairdash.datasets import Roles, ScoreColumn, Subgroups
from fairdash.metrics import Finding

PLACES = ("20–29", "30–39", "40–44", "45–60")
SUBGROUPS = Subgroups(columns=("age",), min_size=50)
BEFORE = {place: {"m": 0.7, "f": 0.4} for place in PLACES}
AFTER = BEFORE | {"40–44": {"m": 0.45, "f": 0.7}}


def decided(rng, frame, rates):
    chance = [
        rates[age].get(sex, 0.5)
        for age, sex in zip(frame["age"], frame["sex"], strict=True)
    ]
    return (rng.random(len(frame)) < np.array(chance)).astype(int)


def table_of(rates, sexes=("f", "m"), n=6000):
    """Return people and decisions with ``rates`` by age and sex."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"age": rng.choice(PLACES, n), "sex": rng.choice(sexes, n)})
    frame["skill"] = rng.normal(size=n).round(3)
    for name, of_model in rates.items():
        frame[name] = decided(rng, frame, of_model)
    first = frame[next(iter(rates))]
    frame["y"] = np.where(rng.random(n) < 0.6, first, rng.integers(0, 2, n))
    return frame


def stored(frame, names, **more):
    score = [ScoreColumn(column=name, kind="decision") for name in names]
    roles = Roles(
        target="y",
        positive="1",
        sensitive_feature="sex",
        features=("skill",),
        subgroup_columns=("age",),
        scores=tuple(score),
        **more,
    )
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    return ui.store().add_dataset(table, roles, "People", SUBGROUPS)


def answer_of(data, **how):
    models = trials.own_models(ui.store(), data)
    result = gaps.local_by_measure(ui.store(), models, data, SUBGROUPS)
    return result, result.answer(ui.store().dataset(data), SUBGROUPS, **how)


@pytest.mark.parametrize("meaning", ["favourable", "unfavourable"])
def test_a_gap_that_turned_is_said_with_whom_it_turned_against(inline, meaning):
    frame = table_of({"before": BEFORE, "after": AFTER})
    data = stored(frame, ["before", "after"], positive_is=meaning)
    result, answer = answer_of(data)
    worse = {"favourable": "m", "unfavourable": "f"}[meaning]
    assert f"In age 40–44 the gap turned against sex: {worse}." in answer.verdict
    assert [finding.subgroup for finding in result.turned] == ["age 40–44"]
    listed = answer.table.frame.set_index("Subgroup")["Worse off"]
    other_group = {"m": "f", "f": "m"}[worse]
    ages = [f"age {place}" for place in PLACES]
    assert listed.to_dict() == dict.fromkeys(ages, other_group) | {"age 40–44": worse}
    whole = next(card for card in answer.cards if card.label == "Gap over all rows")
    assert whole.note.endswith(f"sex: {other_group} worse off")
    same, _ = answer_of(stored(table_of({"a": BEFORE, "b": BEFORE}), ["a", "b"]))
    assert same.turned == []


def test_the_fill_of_a_mark_is_the_colour_of_who_is_worse_off(inline):
    rates = {"before": BEFORE, "after": AFTER | {"20–29": {"m": 0.5, "f": 0.5}}}
    data = stored(table_of(rates), ["before", "after"])
    _, answer = answer_of(data)
    figure = answer.figure.picture(plots).figure
    names = ui.store().dataset(data).group_names
    colours = plots.theme.group_colours(names)
    filled = [
        trace
        for trace in figure.data
        if trace.type == "scatter" and trace.error_x.array is not None
    ]
    fills = [dict(zip(PLACES, trace.marker.color, strict=True)) for trace in filled]
    assert fills[0] == dict.fromkeys(PLACES, colours["f"])
    hollow = plots.theme.PAPER
    assert fills[1] == fills[0] | {"40–44": colours["m"], "20–29": hollow}
    edges = [trace.marker.line.color for trace in filled]
    assert len(set(edges)) == 2
    labels = [trace.name for trace in figure.data if trace.showlegend]
    for name in names:
        assert f"filled: sex: {name} worse off" in labels
    keys = [t for t in figure.data if t.showlegend and t.marker.color in edges]
    assert [key.marker.color for key in keys] == edges


def test_gaps_of_both_ways_are_said_to_cancel_over_all_rows(inline):
    crossed = {place: {"m": 0.7, "f": 0.4} for place in PLACES[:2]}
    crossed |= {place: {"m": 0.4, "f": 0.7} for place in PLACES[2:]}
    frame = table_of({"d": crossed})
    words = "Inside subgroups gaps point both ways, so they cancel over all rows."
    _, answer = answer_of(stored(frame, ["d"]))
    assert words in answer.verdict
    assert words not in answer.details
    verdict = audit(None, frame["d"], sensitive_features=frame["sex"],
                    subgroups=frame["age"]).verdict  # fmt: skip
    assert verdict.endswith(words)
    tilted = crossed | {PLACES[2]: {"m": 0.8, "f": 0.2}}
    _, partly = answer_of(stored(table_of({"d": tilted}), ["d"]))
    assert "both ways" not in partly.verdict
    assert "point both ways: over all rows they cancel in part." in partly.details
    _, one_way = answer_of(stored(table_of({"d": BEFORE}), ["d"]))
    assert "both ways" not in one_way.verdict + one_way.details


def test_of_three_groups_the_lowest_and_the_highest_are_named(inline):
    rates = {place: {"f": 0.3, "m": 0.7, "x": 0.5} for place in PLACES}
    data = stored(table_of({"d": rates}, ("f", "m", "x")), ["d"])
    _, answer = answer_of(data)
    listed = answer.table.frame
    assert (listed["Lowest"] == "f").all()
    assert (listed["Highest"] == "m").all()
    assert answer.cards[0].note.endswith(
        "lowest sex: f, highest sex: m · one seed"
    ) or answer.cards[0].note.endswith("lowest sex: f, highest sex: m")
    figure = answer.figure.picture(plots).figure
    hovers = [text for trace in figure.data for text in (trace.text or ())]
    assert any("lowest f, highest m" in text for text in hovers)
    assert not any("worse off" in str(trace.name) for trace in figure.data)


def test_a_direction_is_of_the_gap_whose_interval_excludes_zero():
    unclear = Finding("selection_rate", "a", "m", "f", 0.1, -0.02, 0.22)
    clear = Finding("selection_rate", "b", "m", "f", 0.1, 0.02, 0.22)
    rows = pd.DataFrame(
        {"subgroup": "b", "group": ["m", "f"], "measure": "selection_rate"}
    ).assign(model="ROAD", value=[0.5, 0.4], n=100, reason="")
    models = pd.DataFrame({"label": ["ROAD"]})
    result = gaps.LocalResult("ROAD", rows, models, 0.1, None, inside=(unclear, clear))
    listed = {"label": "ROAD", "subgroup": ["a", "b"], "estimable": True}
    vars(result)["gaps"] = pd.DataFrame(listed)
    pointing = result.directions(True)
    assert pointing.to_dict("records") == [
        {"label": "ROAD", "subgroup": "b", "group": "f"}
    ]
