"""A verdict has at most 20 words and says no more than an interval holds."""

import math

import pytest

from fairdash.audits import short_verdicts
from fairdash.metrics import Finding, Speech

SPEECH = Speech("hired", feature="origin")
CLEAR = Finding("selection_rate", "branch: works", "here", "there", -0.24, -0.3, -0.18)
UNCLEAR = Finding("selection_rate", None, "here", "there", -0.04, -0.09, 0.01)


def paired(difference, low, high):
    return {"difference": difference, "low": low, "high": high}


def test_a_clear_gap_is_said_with_place_and_size():
    assert short_verdicts.gap_brief(CLEAR, SPEECH) == (
        "In branch: works, origin: here is hired 24 points less often than "
        "origin: there."
    )


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (UNCLEAR, short_verdicts.NO_GAP),
        (
            Finding("selection_rate", None, "a", "b", -0.2, -0.3, -0.1, sure=False),
            short_verdicts.NO_GAP,
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
    ("gap", "accuracy", "left", "said"),
    [
        (
            paired(-0.075, -0.097, -0.051),
            paired(-0.003, -0.014, 0.007),
            CLEAR,
            "ROAD narrows the gap by 7.5 points. Accuracy did not change clearly.",
        ),
        (
            paired(-0.075, -0.097, -0.051),
            paired(-0.02, -0.03, -0.01),
            UNCLEAR,
            "ROAD narrows the gap by 7.5 points. No clear gap remains over all rows.",
        ),
        (
            paired(-0.01, -0.03, 0.01),
            paired(-0.02, -0.03, -0.01),
            UNCLEAR,
            "ROAD does not clearly change the gap. It costs 2.0 points of accuracy.",
        ),
    ],
)
def test_a_remedy_is_said_to_move_only_what_its_interval_moves(
    gap, accuracy, left, said
):
    changes = {"demographic_parity_difference": gap, "accuracy": accuracy}
    assert short_verdicts.remedy_brief("ROAD", changes, left, SPEECH) == said
    assert len(said.split()) <= short_verdicts.MOST_WORDS
