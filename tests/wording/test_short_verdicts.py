"""A verdict says no more than an interval holds, and what a remedy costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._change import Change
from fairdash.metrics import Finding, Speech
from fairdash.postprocessing import RampThreshold, ScoredRows
from fairdash.wording import short_verdicts

SHARES = st.tuples(*[st.integers(-400, 400)] * 3).map(
    lambda ends: sorted(n / 1000 for n in ends)
)
SPEECH = Speech("hired", feature="origin")
CLEAR = Finding("selection_rate", "branch: works", "here", "there", -0.24, -0.3, -0.18)
UNCLEAR = Finding("selection_rate", None, "here", "there", -0.04, -0.09, 0.01)


def test_a_clear_gap_is_said_with_place_and_size():
    assert short_verdicts.gap_brief(CLEAR, SPEECH) == (
        "In branch: works, origin: here is hired 24 points less often than "
        "origin: there."
    )


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (
            UNCLEAR,
            "No gap can be told from chance. Gaps up to 9 points are possible.",
        ),
        (
            Finding("selection_rate", None, "a", "b", -0.2, -0.3, -0.1, sure=False),
            "No gap can be told from chance. Gaps up to 30 points are possible.",
        ),
        (
            Finding("selection_rate", None, "a", "b", math.nan, math.nan, math.nan),
            short_verdicts.UNDEFINED_GAP,
        ),
    ],
)
def test_nothing_is_said_of_a_gap_that_no_interval_holds(gap, said):
    assert short_verdicts.gap_brief(gap, SPEECH) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (
            (0.13, 0.066, 0.188),
            "The gap is 13 points, not between the same groups in every seed.",
        ),
        (
            (0.13, 0.0, 0.19),
            "No gap can be told from chance. Gaps up to 19 points are possible.",
        ),
        (
            (0.08, 0.02, 0.13),  # one group worse off in each seed, as far as is known
            "No gap can be told from chance. Gaps up to 9 points are possible.",
        ),
        (
            (0.05, 0.0, 0.07),
            "No gap can be told from chance. Gaps up to 9 points are possible.",
        ),
    ],
)
def test_a_gap_of_other_groups_in_each_seed_is_as_large_as_its_card(size, said):
    size = short_verdicts.GapSize(*size)
    assert short_verdicts.gap_brief(UNCLEAR, SPEECH, size) == said
    narrowed = {
        "demographic_parity_difference": Change(-0.08, -0.13, -0.02),
        "accuracy": Change(-0.02, -0.03, -0.01),
    }
    brief = short_verdicts.remedy_brief("ROAD", narrowed, UNCLEAR, SPEECH, size=size)
    remains = "every seed" in said
    remainder = said if remains else "No clear gap remains over all rows."
    assert brief == (
        "ROAD narrows the gap by 8.0 points and costs 2.0 points of accuracy. "
        f"{remainder}"
    )
    assert short_verdicts.gap_brief(CLEAR, SPEECH, size).startswith("In branch: works")


@pytest.mark.parametrize(
    ("gap", "accuracy", "left", "said"),
    [
        (
            Change(-0.075, -0.097, -0.051),
            Change(-0.003, -0.014, 0.007),
            CLEAR,
            "ROAD narrows the gap by 7.5 points at no clear cost in accuracy.",
        ),
        (
            Change(-0.075, -0.097, -0.051),
            Change(-0.02, -0.03, -0.01),
            UNCLEAR,
            "ROAD narrows the gap by 7.5 points and costs 2.0 points of accuracy. No "
            "clear gap remains over all rows.",
        ),
        (
            Change(-0.075, -0.097, -0.051),
            Change(0.012, 0.002, 0.022),
            CLEAR,
            "ROAD narrows the gap by 7.5 points and gains 1.2 points of accuracy.",
        ),
        (
            Change(-0.075, -0.097, -0.051),
            Change(-0.003, -0.014, 0.007),
            UNCLEAR,
            "ROAD narrows the gap by 7.5 points at no clear cost in accuracy. No clear "
            "gap remains over all rows.",
        ),
        (
            Change(-0.01, -0.03, 0.01),
            Change(-0.02, -0.03, -0.01),
            UNCLEAR,
            "ROAD costs 2.0 points of accuracy and does not clearly change the gap.",
        ),
        (
            Change(-0.01, -0.03, 0.01),
            Change(-0.003, -0.014, 0.007),
            UNCLEAR,
            "ROAD does not clearly change the gap or accuracy.",
        ),
        (
            Change(-0.5, math.nan, math.nan),
            Change(-0.02, -0.03, -0.01),
            CLEAR,
            "ROAD costs 2.0 points of accuracy. In branch: works, origin: here is "
            "hired 24 points less often than origin: there.",
        ),
    ],
)
def test_a_remedy_is_said_to_move_only_what_its_interval_moves(
    gap, accuracy, left, said
):
    changes = {"demographic_parity_difference": gap, "accuracy": accuracy}
    assert short_verdicts.remedy_brief("ROAD", changes, left, SPEECH) == said


def scored(seed=0, n=2000):
    """Rows of two groups, a third of which have the outcome."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, n)
    margins = np.clip(rng.normal(-0.4 + 0.2 * groups, 0.4), -1, 1)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return ScoredRows.read(margins, sensitive_features=groups, y=y)


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0.002, "The ramp accepts under 1%, nearly no one, so its gaps say nothing."),
        (0.995, "The ramp accepts over 99%, nearly everyone, so its gaps say nothing."),
        (0.3, "The ramp narrows the gap by "),
    ],
)
def test_a_ramp_that_accepts_nearly_all_or_none_is_not_praised(rate, said):
    report = RampThreshold(0.01, rate).fit_rows(scored()).report(scored(1))
    verdict = short_verdicts.correction_verdict(report)
    assert verdict.startswith(said)
    assert ("narrows" in verdict) == (rate == 0.3)


def test_a_ramp_that_changes_no_decision_says_so():
    rows = scored()
    report = RampThreshold(0.01, 0.3).fit_rows(rows).report(rows)
    same = report._replace(changed=report.changed.assign(up=0.0, down=0.0, changed=0.0))
    assert short_verdicts.correction_verdict(same) == "The ramp changes no decision."


@given(SHARES, SHARES, st.sampled_from(["the gap", "the largest gap"]))
def test_a_change_of_a_gap_is_never_said_without_accuracy(gap, accuracy, what):
    low, middle, high = gap
    below, moved, above = accuracy
    text = short_verdicts.priced_brief(
        "ROAD λ 2", Change(middle, low, high), Change(moved, below, above), what
    )
    clear = high < 0 or low > 0
    assert (" narrows " in text or " widens " in text) == clear
    assert "accuracy" in text
    assert (" costs " in text) == (above < 0)
    assert (" gains " in text) == (below > 0)
    if above < 0 or below > 0:
        assert f"{abs(100 * moved):.1f} points of accuracy" in text


@pytest.mark.parametrize(
    ("before", "after", "turned"),
    [
        (-0.24, 0.12, True),
        (0.24, -0.12, True),
        (-0.24, -0.12, False),
        (-0.24, 0.02, False),  # the interval after reaches 0
        (-0.02, 0.12, False),  # the interval before does
    ],
)
@pytest.mark.parametrize("favourable", [True, False])
def test_a_gap_that_turned_is_not_only_said_to_be_narrower(
    before, after, turned, favourable
):
    def gap(value):
        clear = abs(value) > 0.05
        ends = value, value - 0.05, value + 0.05
        return Finding("selection_rate", None, "here", "there", *ends, sure=clear)

    change = Change(-0.1, -0.15, -0.05)
    changes = {"demographic_parity_difference": change, "accuracy": change}
    speech = Speech("hired", feature="origin", favourable=favourable)
    text = short_verdicts.remedy_brief(
        "ROAD", changes, gap(after), speech, before=gap(before)
    )
    assert text.startswith("ROAD narrows the gap by 10.0 points and costs ")
    worse = "here" if (after < 0) == favourable else "there"
    sentence = f"Over all rows the gap turned against origin: {worse}."
    assert (sentence in text) == turned
    assert ("turned" in text) == turned
