"""The sentence on a ramp is held against rates counted from its decisions."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdash.metrics import newcombe_interval
from fairdash.postprocessing import RampThreshold, ScoredRows

N = 600


def drawn(seed, with_outcome):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
    shift = dict(zip("abc", rng.uniform(-0.3, 0.3, 3), strict=True))
    scores = np.clip(rng.random(N) + [shift[g] for g in groups], 0, 1)
    y = (rng.random(N) < scores).astype(int)
    return scores, groups, y if with_outcome else None


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 9999), st.booleans(), st.sampled_from([0.0, 0.1, 0.4]),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)  # fmt: skip
def test_the_verdict_says_what_the_decisions_show(seed, known, tolerance, rate):
    scores, groups, y = drawn(seed, known)
    rows = ScoredRows.read(
        scores, sensitive_features=groups, y=y, score_type="probability"
    )
    ramp = RampThreshold(0.1, rate, tolerance, score_type="probability").fit_rows(rows)
    report = ramp.report(rows)
    said = report.verdict("validation")
    h, before = ramp.chance(rows), (scores > 0.5).astype(float)
    rates, old = (
        {g: values[groups == g].mean() for g in "abc"} for values in (h, before)
    )
    if max(rates.values()) < 1e-9 or min(rates.values()) > 1 - 1e-9:
        assert "alike for everyone" in said
        return
    first, last = said.split(". With it ")
    gap, was = (max(r.values()) - min(r.values()) for r in (rates, old))
    moved = re.search(r"(narrows|widens) the gap between groups by ([\d.]+)", first)
    table = report.outcome.set_index("metric").loc["demographic_parity_difference"]
    assert bool(moved) == (table["change_low"] > 0 or table["change_high"] < 0)
    if moved:
        assert (moved[1] == "narrows") == (gap < was)
        assert float(moved[2]) == pytest.approx(100 * abs(gap - was), abs=0.051)
    share = float(re.search(r"by changing ([\d.]+)%", first)[1])
    assert share == pytest.approx(100 * np.abs(h - before).mean(), abs=0.051)
    assert "600 validation rows" in first
    assert ("accuracy" in first) == known
    assert last.startswith("no gap between groups is clear") == (not table["low"] > 0)
    if not table["low"] > 0:
        low, high = map(
            float, re.search(r"\(([\d.]+) to ([\d.]+) points\)", last).groups()
        )
        ends = 100 * table["low"], 100 * table["high"]
        assert (low, high) == pytest.approx(ends, abs=0.51)
        return
    behind, points, ahead = re.search(
        r"(\w) is decided positively (\d+) points? less often than (\w)", last
    ).groups()
    assert int(points) == pytest.approx(100 * gap, abs=0.51)
    assert rates[ahead] - rates[behind] == pytest.approx(gap, abs=1e-9)
    counts = [(h[groups == g].sum(), (groups == g).sum()) for g in (ahead, behind)]
    ends = newcombe_interval(*counts[0], *counts[1], confidence=1 - 0.05 / 3)
    low, high = re.search(r"\((−?[\d.]+) to ([\d.]+)\)", last).groups()
    told = float(low.replace("−", "-")), float(high)
    assert told == pytest.approx([100 * float(end) for end in ends], abs=0.51)
