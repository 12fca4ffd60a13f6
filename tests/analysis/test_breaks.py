"""Breaks among many estimates: Holm's procedure, as by the score test it inverts."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairdash.analysis.breaks import surely_broken
from fairdash.audits import tables
from fairdash.audits.tables.reading import Source

LIMIT = 0.4


def hired(counts):
    """Return a table of (rows, hired) a group."""
    frames = [
        pd.DataFrame({"group": f"g{at:02}", "hired": ["yes"] * k + ["no"] * (n - k)})
        for at, (n, k) in enumerate(counts)
    ]
    return pd.concat(frames, ignore_index=True)


def checked(counts, **fields):
    limit = {"measure": "selection_rate", "of": "value", "at_most": LIMIT}
    policy = tables.Policy(
        decision="hired=yes", groups=("group",), limits=[limit], **fields
    )
    frame = hired(counts)
    return tables.check_policy(frame, policy, Source.of_frame("t", "", frame))


def holm(counts):
    """Return which groups break the limit, by the p-values of the score test."""
    n, k = np.array(counts).T
    p = norm.sf((k / n - LIMIT) / np.sqrt(LIMIT * (1 - LIMIT) / n))
    broken = np.zeros(len(p), dtype=bool)
    for place, at in enumerate(np.argsort(p)):
        if p[at] > min(0.05 / (len(p) - place), 0.025):
            break
        broken[at] = True
    return broken


@pytest.mark.parametrize("seed", range(4))
def test_breaks_are_those_of_holm_over_all_groups(seed):
    rng = np.random.default_rng(seed)
    counts = [(200, int(k)) for k in rng.integers(70, 125, 8)]
    check = checked(counts)
    broken = np.array([judged.status == "fail" for judged in check.judged])
    assert broken.tolist() == holm(counts).tolist()


def test_a_break_by_luck_among_many_is_not_sure_and_says_so():
    counts = [(200, 80)] * 11 + [(200, 96)]  # alone it is beyond at .95
    check = checked(counts)
    last = check.judged[-1]
    assert last.low > LIMIT
    assert last.status == "undecided"
    assert "among all estimates" in last.reason
    assert checked([*counts[-1:], (200, 60)]).judged[0].status == "fail"
    softly = checked(counts, judge="sure_break")
    assert softly.judged[-1].status == "not surely broken"
    plainly = checked(counts, judge="estimate")
    assert plainly.judged[-1].status == "fail"
    assert plainly.error_rate == ""


def test_a_break_carries_its_error_rate():
    check = checked([(400, 300)] + [(400, 100)] * 3)
    assert check.lines()[-1] == (
        "Of tables that keep every limit, at most 5% are said to break one by its "
        "interval (Holm over 4 estimates)."
    )
    assert "at most 5%" in check.answer().details


def test_one_family_needs_no_second_look():
    def refuse(confidence):
        raise AssertionError("no other interval is needed")

    assert surely_broken(1, ["a"], 0.95, refuse) == {"a"}
    assert surely_broken(9, [], 0.95, refuse) == set()
