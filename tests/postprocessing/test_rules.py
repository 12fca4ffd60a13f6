import json

import numpy as np
import pytest

from fairdash.postprocessing import RampThreshold, Thresholds, cross
from fairdash.postprocessing.rules import Rule


def test_a_ramp_rises_from_0_to_1():
    h = Rule.ramp(-0.1, 0.4)(np.array([-1, -0.1, 0.1, 0.3, 1]))
    assert h == pytest.approx([0, 0, 0.5, 1, 1])


def test_a_step_holds_from_its_score_on():
    rule = Rule.steps([(0.2, 0.3), (0.6, 0.5)], 0.1)
    h = rule(np.array([-1, 0.19, 0.2, 0.4, 0.6, 1]))
    assert h == pytest.approx([0.1, 0.1, 0.4, 0.4, 0.9, 0.9])


@pytest.mark.parametrize(
    "score, probability",
    [((0.2, 0.1), (0, 1)), ((0.1, 0.2), (1, 0)), ((0.1,), (0, 1)), ((0.1,), (1.5,))],
)
def test_a_rule_that_falls_is_refused(score, probability):
    with pytest.raises(ValueError, match="must"):
        Rule(score=score, probability=probability)


def document(**changes):
    whole = json.loads(Thresholds({"a": Rule.ramp(0, 0.1)}, "by hand").to_json())
    return json.dumps(whole | changes)


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "Not valid JSON"),
        ("[]", "must have the format"),
        (document(format="other"), "must have the format"),
        (document(groups={}), "groups"),
        (document(groups={"a": {"score": [0]}}), "groups.a.probability"),
        (document(score_type="logit"), "score_type"),
        (document(score_range=[0, "x"]), "score_range"),
        (document().replace('"score_type"', '"method": "b", "score_type"'), "'method'"),
        ('{"format": 1, "groups": {"a": 1, "a": 2}}', "'a' stands there twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (b"\xff\xfe\xff", "Not valid JSON"),
    ],
)
def test_a_bad_document_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Thresholds.from_json(text)


def test_a_document_of_the_first_format_is_read():
    whole = json.loads(document(format="fairdash thresholds 1"))
    del whole["score_range"], whole["groups"]["a"]["expected_rate"]
    old = Thresholds.from_json(json.dumps(whole))
    assert old.rules == {"a": Rule.ramp(0, 0.1)}
    assert (old.expected_rates, old.score_range) == ({}, None)


def test_what_was_learned_comes_back_from_json():
    margins = np.random.default_rng(0).uniform(-0.9, 0.7, 200)
    groups = np.repeat(["a", "b"], 100)
    ramp = RampThreshold(0.3, 0.4, score_type="probability")
    ramp.fit((margins + 1) / 2, sensitive_features=groups)
    again = Thresholds.from_json(ramp.thresholds().to_json())
    assert again == ramp.thresholds()
    assert again.score_type == "probability"
    assert again.expected_rates == pytest.approx({"a": 0.4, "b": 0.4})
    assert again.score_range == pytest.approx(
        ((margins.min() + 1) / 2, (margins.max() + 1) / 2)
    )


def test_groups_of_the_same_name_are_refused():
    scores = [0.1, 0.2, 0.3, -0.4]
    groups = np.array([1, 1, "1", "1"], dtype=object)
    with pytest.raises(ValueError, match="same name"):
        RampThreshold(target_rate=0.5).fit(scores, sensitive_features=groups)


def test_crossed_names_that_collide_are_refused():
    with pytest.raises(ValueError, match="'a × b × c'"):
        cross(["a × b", "a"], ["c", "b × c"])
    assert list(cross(["a × b", "a"], ["c", "d"])) == ["a × b × c", "a × d"]
