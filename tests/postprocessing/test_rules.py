import json

import numpy as np
import pytest

from fairdash.postprocessing import (
    Rule,
    Thresholds,
    excess_risk_bound,
    impossibility_bound,
)


def test_a_ramp_rises_from_0_to_1():
    h = Rule.ramp(-0.1, 0.4)(np.array([-1, -0.1, 0.1, 0.3, 1]))
    assert h == pytest.approx([0, 0, 0.5, 1, 1])


def test_a_step_holds_from_its_score_on():
    rule = Rule.steps([(0.2, 0.3), (0.6, 0.5)], 0.1)
    h = rule(np.array([-1, 0.19, 0.2, 0.4, 0.6, 1]))
    assert h == pytest.approx([0.1, 0.1, 0.4, 0.4, 0.9, 0.9])


def test_a_rule_of_one_knot_is_constant():
    assert (Rule(score=(0.0,), probability=(0.4,))(np.array([-1, 0, 1])) == 0.4).all()


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
        ("{", "not valid JSON"),
        ("[]", "must have the format"),
        (document(format="other"), "must have the format"),
        (document(groups={}), "groups"),
        (document(groups={"a": {"score": [0]}}), "groups.a.probability"),
        (document(score_type="logit"), "score_type"),
    ],
)
def test_a_bad_document_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Thresholds.from_json(text)


def test_the_excess_risk_bound_is_the_sum_of_its_terms():
    bound = excess_risk_bound(1000, 2, 0.1, delta=0.1, score_error=0.05)
    assert bound.score_error == 0.05
    assert bound.ramp_width == 0.2
    assert bound.sample == pytest.approx(8 * 12 / 10)
    learning = 4 * np.sqrt((4 + 2 * np.log(20)) / 1000)
    assert bound.groups == pytest.approx(learning)
    assert bound.total == pytest.approx(0.25 + 9.6 + learning)


def test_the_impossibility_bound_of_a_feature_that_tells_the_group():
    told = impossibility_bound([1, 1, 0, 0], [1, 0, 1, 0])
    assert told == pytest.approx((0.5, 0.5, 0.125))
    assert impossibility_bound([0.3, 0.3], [1, 0]).bound == 0
    with pytest.raises(ValueError, match="for decisions"):
        impossibility_bound([0.3, 0.3], [0.5, 0])
