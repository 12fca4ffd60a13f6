"""Judgements of limits: policies, estimates and intervals as they come."""

import math

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import example, given
from hypothesis import strategies as st

from fairdash.analysis import judgement
from fairdash.analysis.judgement import JUDGES, Bound, Judgement, LimitSide
from fairdash.audits import tables

SOURCE = tables.Source("t.csv", "0" * 64, 0, "2026-01-01T00:00:00Z")
NUMBERS = st.floats(-2, 2, allow_nan=False)


@st.composite
def estimates(draw):
    low, value, high = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return value, low, high


@given(st.sampled_from(JUDGES), NUMBERS, st.booleans(), estimates())
def test_an_estimate_beyond_a_limit_never_passes(how, end, upper, estimate):
    value, low, high = estimate
    status, reason = judgement.judge(how, Bound(end, upper), value, low, high)

    def within(number):
        return number <= end + 1e-9 if upper else number >= end - 1e-9

    if status is Judgement.PASS:
        assert within(value)
        assert how != "sure_keep" or (within(low) and within(high))
    if status is Judgement.FAIL:
        assert not within(value) or math.isclose(value, end, abs_tol=1e-9)
        beyond = high > end if upper else low < end
        assert how == "estimate" or beyond
    if status in (Judgement.UNDECIDED, Judgement.NOT_SURELY_BROKEN):
        assert reason
    assert (status is Judgement.UNDECIDED) <= (how == "sure_keep")
    assert (status is Judgement.NOT_SURELY_BROKEN) <= (how == "sure_break")


@pytest.mark.parametrize("how", JUDGES)
@pytest.mark.parametrize("upper", [True, False])
def test_the_table_of_the_docs_is_what_is_judged(how, upper):
    ends = {
        LimitSide.WHOLLY_WITHIN: (0.3, 0.2, 0.4),
        LimitSide.WITHIN: (0.4, 0.3, 0.6),
        LimitSide.BEYOND: (0.6, 0.4, 0.7),
        LimitSide.WHOLLY_BEYOND: (0.7, 0.6, 0.8),
    }
    head, *rows = judgement.judgement_rows()
    cells = {row[0]: row[head.index(f"`{how}`")] for row in rows}
    for side, (value, low, high) in ends.items():
        if not upper:
            value, low, high = 1 - value, 1 - high, 1 - low
        status, _ = judgement.judge(how, Bound(0.5, upper), value, low, high)
        assert cells[side.words] == status


def test_rounding_is_not_beyond_a_limit_and_no_estimate_is_undecided():
    rounded = 0.8 - 2**-53
    assert rounded < 0.8
    four_fifths = Bound(0.8, upper=False)
    status, _ = judgement.judge("estimate", four_fifths, rounded, 0.5, 1.1)
    assert status is Judgement.PASS
    for how in JUDGES:
        nothing = (math.nan,) * 3
        assert judgement.judge(how, four_fifths, *nothing)[0] is Judgement.UNDECIDED
    alone = (0.7, math.nan, math.nan)
    assert judgement.judge("estimate", four_fifths, *alone)[0] is Judgement.FAIL
    assert judgement.judge("sure_break", four_fifths, *alone)[0] is Judgement.UNDECIDED


def hired(counts):
    """Return a table of (rows, hired) by group."""
    return pd.DataFrame(
        [
            {"group": f"g{i}", "hired": "yes" if row < picked else "no"}
            for i, (n, picked) in enumerate(counts)
            for row in range(n)
        ]
    )


COUNTS = st.lists(
    st.integers(20, 120).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))),
    min_size=2,
    max_size=4,
)
WAYS = st.sampled_from(
    [
        {},
        {"must_be_sure": True},
        {"must_be_sure": False},
        {"judge": "estimate"},
        {"judge": "sure_break"},
        {"judge": "sure_keep"},
    ]
)
LIMITS = st.one_of(
    st.floats(0.5, 1).map(lambda v: {"of": "ratio", "at_least": v}),
    st.floats(0, 0.5).map(lambda v: {"of": "gap", "at_most": v}),
    st.floats(0, 1).map(lambda v: {"of": "value", "at_most": v}),
)


# in the first, who is best off has too few rows beside the others to be the reference
@example([(20, 10), (20, 10), (60, 60)], {}, {}, {"of": "ratio", "at_least": 0.9})
@example([(20, 10), (20, 10), (21, 21)], {}, {}, {"of": "ratio", "at_least": 1.0})
@example([(20, 10), (20, 10), (21, 21)], {}, {}, {"of": "ratio", "at_least": 0.5})
@examples(40)
@given(COUNTS, WAYS, WAYS, LIMITS)
def test_no_policy_passes_a_table_whose_own_number_is_beyond_a_limit(
    counts, of_policy, of_limit, limit
):
    if all(picked == n for n, picked in counts):
        return  # all rows alike
    fields = {"decision": "hired=yes", "groups": ["group"], "min_rows": 1}
    line = {"measure": "selection_rate", **limit, **of_limit}
    policy = tables.Policy.model_validate({**fields, **of_policy, "limits": [line]})
    checked = tables.check_policy(hired(counts), policy, SOURCE)
    end = limit.get("at_least", limit.get("at_most"))
    sign = -1 if "at_least" in limit else 1
    for judged in checked.judged:
        beyond = sign * (judged.value - end) > 1e-9
        assert not (beyond and judged.status == "pass")
    worst = max(sign * (judged.value - end) for judged in checked.judged)
    rates = [picked / n for n, picked in counts]
    expected = {
        "ratio": end - min(rates) / max(rates),
        "gap": max(rates) - min(rates) - end,
        "value": max(rates) - end,
    }[limit["of"]]
    # a pair that keeps the limit is not judged where one of the two has few rows
    assert worst == pytest.approx(expected, abs=1e-9) or worst < expected <= 1e-9
    if expected > 1e-9:
        assert checked.status != "pass"
        assert checked.exit_status != 0
        assert "keeps every limit" not in checked.answer().verdict
        assert not any(line.startswith("pass") for line in checked.lines())
        (case,) = checked.to_dict()["limits"]
        assert case["status"] != "pass"
        assert (
            b"<failure" in (xml := checked.to_junit())
            or b"<error" in xml
            or (b"<skipped" in xml)
        )


@pytest.mark.parametrize("place", ["policy", "limit"])
def test_a_policy_of_an_earlier_version_means_what_it_said(place):
    counts = [(200, 100), (200, 75)]  # ratio .75, interval past .8
    limit = {"measure": "selection_rate", "of": "ratio", "at_least": 0.8}
    fields = {"decision": "hired=yes", "groups": ["group"]}
    statuses = {}
    for sure in (True, False, None):
        old = {"must_be_sure": sure}
        arguments = {**fields, **(old if place == "policy" else {})}
        lines = [{**limit, **(old if place == "limit" else {})}]
        policy = tables.Policy.model_validate({**arguments, "limits": lines})
        checked = tables.check_policy(hired(counts), policy, SOURCE)
        statuses[sure] = checked.status, checked.exit_status
    assert statuses == {
        True: ("undecided", 2),
        False: ("not surely broken", 3),
        None: ("undecided", 2),
    }
    with pytest.raises(ValueError, match="write `judge` in place of `must_be_sure`"):
        tables.Policy.model_validate(
            {**fields, "limits": [limit], "must_be_sure": True, "judge": "estimate"}
        )


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"of": "ratio", "at_least": 80}, "from 0 to 1, got 80"),
        ({"of": "ratio", "at_most": 125}, "from 0 to 10, got 125"),
        ({"at_most": 10}, "from 0 to 1, got 10"),
        ({"at_most": -0.1}, "from 0 to 1, got -0.1"),
        ({"of": "value", "at_most": 30}, "from 0 to 1, got 30"),
        ({"at_most": math.nan}, "finite"),
        ({"at_most": math.inf}, "finite"),
    ],
)
def test_a_limit_in_percent_is_refused_with_the_way_out(limit, words):
    line = {"measure": "selection_rate", **limit}
    fields = {"decision": "hired=yes", "groups": ["group"], "limits": [line]}
    with pytest.raises(ValueError, match=words) as caught:
        tables.Policy.model_validate(fields)
    if "got" in words:
        assert "0.8 for 80 %, 0.1 for 10 points" in str(caught.value)


def checked(frame, **fields):
    """Hold a table against a wide limit on its gap, by the estimate."""
    limit = {"measure": "selection_rate", "of": "gap", "at_most": 0.5}
    arguments = {"groups": ["sex"], "judge": "estimate", "min_rows": 1, **fields}
    policy = tables.Policy.model_validate({**arguments, "limits": [limit]})
    return tables.check_policy(frame, policy, SOURCE, may_be_absent=True)


@pytest.mark.parametrize(
    "n_hired, said",
    [(0, "accepts none"), (5, "accepts under 1%"), (60, ""), (998, "accepts over 99%")],
)
def test_who_accepts_nearly_nobody_is_said_to_beside_the_limits_kept(n_hired, said):
    rng = np.random.default_rng(n_hired)
    hired = rng.permutation(np.arange(1000) < n_hired)
    frame = pd.DataFrame({"sex": ["f", "m"] * 500, "hired": np.where(hired, "y", "n")})
    policy = checked(frame, decision="hired=y")
    answer = policy.answer()
    entry = next(card for card in answer.cards if card.label == "Limits kept")
    assert entry.value == "1"
    assert entry.note == (f"in 1 estimate; {said}" if said else "in 1 estimate")
    assert answer.verdict.startswith("The table keeps every limit.")
    for text in (answer.verdict, "\n".join(policy.lines())):
        assert ("say nothing" in text) == bool(said)
        assert said in text


def test_a_rare_outcome_that_is_met_as_rarely_is_decided():
    hired = np.arange(1000) % 125 == 0
    frame = pd.DataFrame({"sex": ["f"] * 500 + ["m"] * 500, "hired": hired.astype(int)})
    frame["able"] = frame["hired"]
    assert "say nothing" in checked(frame, decision="hired=1").answer().verdict
    arguments = {"decision": "hired=1", "outcome": "able=1"}
    assert "say nothing" not in checked(frame, **arguments).answer().verdict


def test_shares_accepted_are_of_people_where_rows_are_counts():
    cells = pd.DataFrame(
        {
            "sex": ["f", "f", "m", "m"],
            "hired": ["y", "n", "y", "n"],
            "people": [2, 998, 3, 997],
        }
    )
    answer = checked(cells, decision="hired=y", count="people").answer()
    assert "It accepts under 1%, nearly no one" in answer.verdict
