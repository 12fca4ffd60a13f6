"""The sentence above a page says no more than its intervals do."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import PEOPLE
from fairdash.audits.choices import verdict_words
from fairdash.audits.gaps.outcomes import Outcome
from fairdash.metrics import Finding, Speech

SHARES = st.integers(-400, 400).map(lambda n: n / 1000)
CHANGES = st.tuples(SHARES, SHARES, SHARES).map(sorted)
GAP = "demographic_parity_difference"
APPROVED = Speech("approved", feature="sex")
ROW = {"label": "ROAD λ 2", "n": 400.0, "n_seeds": 1, "constant": 0.0, GAP: 0.1}


def numbers(words):
    return [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.?\d*", words)]


def gap(low, middle, high):
    return Finding("selection_rate", None, "f", "m", middle, low, high)


def paired(apart, accuracy):
    rows = [
        {"metric": metric, "low": low, "difference": middle, "high": high}
        for metric, (low, middle, high) in {GAP: apart, "accuracy": accuracy}.items()
    ]
    return pd.DataFrame(rows)


@given(CHANGES, CHANGES, CHANGES, st.sampled_from([1, 3]))
def test_only_what_an_interval_excludes_0_from_is_called_a_finding(
    apart, accuracy, left, seeds
):
    text = verdict_words(
        ROW | {"n_seeds": seeds}, paired(apart, accuracy), gap(*left), APPROVED
    )
    words = {"narrows": apart[2] < 0, "widens": apart[0] > 0}
    words |= {"loses": accuracy[2] < 0, "gains": accuracy[0] > 0}
    words |= {"no gap between groups is clear": left[0] <= 0 <= left[2]}
    for word, holds in words.items():
        assert (f" {word} " in text.replace(".", " ")) == holds  # "against" is none
    first = text.split(". It ")[0]
    if words["narrows"] or words["widens"]:
        size, low, high = numbers(first)[1:]
        ends = sorted(abs(100 * end) for end in (apart[0], apart[2]))
        assert [low, high] == [pytest.approx(end, abs=0.051) for end in ends]
        assert size == pytest.approx(abs(100 * apart[1]), abs=0.051)
    who = re.search(r"sex: f is approved (.*)\)\.", text)[1]
    size, low, high = numbers(who)
    assert ("more often than sex: m" in who) == (left[1] > 0)
    ends = (left[0], left[2]) if left[1] > 0 else (-left[2], -left[0])
    assert size == pytest.approx(abs(100 * left[1]), abs=0.51)
    assert [low, high] == [pytest.approx(100 * end, abs=0.51) for end in ends]
    assert ("mean of 3 seeds" in text) == (seeds == 3)
    assert text.endswith("400 test rows.")


def test_a_model_alone_tells_its_gap_and_a_constant_one_none():
    clear = gap(-0.204, -0.161, -0.118)
    assert verdict_words(ROW, None, clear, APPROVED) == (
        "By ROAD λ 2, sex: f is approved 16 points less often than sex: m (12 to 20). "
        "95% intervals, 400 test rows."
    )
    of_people = verdict_words(ROW, None, clear, APPROVED, PEOPLE)
    assert of_people.endswith("95% intervals, 400 test people.")
    guessing = {"constant": 1.0, "accepted": 0.366, "balanced_accuracy": 0.512}
    text = verdict_words(ROW | guessing, None, clear, APPROVED)
    assert text == (
        "ROAD λ 2 is not clearly better than guessing, so its gaps say nothing. Its "
        "balanced accuracy is 51.2%; guessing has 50.0%. It accepts 36.6%."
    )
    constant_row = ROW | {"constant": 1.0, "alike": 1.0, "accepted": 0.99}
    text = verdict_words(constant_row, None, clear, APPROVED)
    assert text == "ROAD λ 2 accepts 99%, nearly everyone, so its gaps say nothing."


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_a_card_of_a_run_colours_no_gap_of_a_model_that_does_not_decide(constant):
    names = ["accuracy", GAP, "worst_1_di"]
    row = ROW | {"constant": constant} | dict.fromkeys(names, 0.1)
    row |= {f"{name}_{end}": 0.1 for name in names for end in ("low", "high")}
    moved = {"difference": -0.2, "low": -0.3, "high": -0.1}
    changes = pd.DataFrame([{"metric": name, **moved} for name in names])
    outcome = Outcome(
        (), "ROAD", pd.DataFrame(), row, changes, 0.2, "", gap(0, 0, 0), APPROVED
    )
    gaps = None if constant else True
    assert [card.good for card in outcome.kpis()[:3]] == [False, gaps, gaps]
