"""Certificates bound what any true groups can show, and name what they need."""

import json
from pathlib import Path

import numpy as np
import pytest
from toys import simulate_noise

from fairdash.methods.noisy_groups import (
    estimate_noise,
    soft_certificate,
    tv_certificate,
)

CASES = json.loads((Path(__file__).parent / "certified.json").read_text())["cases"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c"], p=[0.6, 0.3, 0.1], size=6000)
    y = rng.random(6000) < 0.3 + 0.1 * (groups == "b")
    decided = rng.random(6000) < np.where(y, 0.7, 0.2) - 0.1 * (groups == "c")
    noisy = simulate_noise(groups, 0.15, random_state=0)
    return y.astype(int), decided.astype(int), groups, noisy


def test_violations_of_the_certified_case():
    (case,) = [case for case in CASES if case["id"] == "tv_ratio_01"]
    inputs = case["inputs"]
    expected = case["expected"]
    table = tv_certificate(
        inputs["y"],
        inputs["yhat"],
        inputs["ghat"],
        inputs["gamma"],
        constraints="equalized_odds",
        slack=inputs["alpha"],
    ).set_index(["rate", "group"])
    for group in (0, 1):
        rates = expected[f"group{group}"]
        for rate in ("tpr", "fpr"):
            line = table.loc[(rate, group)]
            assert line["overall"] == pytest.approx(expected[f"overall_{rate}"])
            wanted = rates[f"robust_{rate}_violation"]
            assert line["worst_violation"] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("constraints", ["equalized_odds", "demographic_parity"])
def test_the_true_groups_never_exceed_a_certificate_whose_premise_holds(
    constraints, rows
):
    y, decided, groups, noisy = rows
    estimate = estimate_noise(groups, noisy)
    arguments = {"constraints": constraints, "slack": 0.02}
    true = tv_certificate(y, decided, groups, 0, **arguments)
    ball = tv_certificate(
        y,
        decided,
        noisy,
        estimate.bounds["general"],
        constraints=constraints,
        slack=0.02,
    )
    soft = soft_certificate(
        y,
        decided,
        noisy,
        estimate.group_given_noisy,
        constraints=constraints,
        slack=0.02,
    )
    for table in (ball, soft):
        assert table[["rate", "group"]].equals(true[["rate", "group"]])
        assert (table["worst_violation"] >= true["violation"] - 1e-12).all()


def test_a_group_without_the_outcome_has_no_certificate():
    y = [1, 1, 0, 0]
    decided = [1, 0, 1, 0]
    groups = ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match="Group b has no rows with outcome 1"):
        tv_certificate(y, decided, groups, 0.1)
    alarms = tv_certificate(  # the other outcome has no part in it
        [0, 0, 0, 1], decided, groups, 0.1, constraints="false_positive_rate_parity"
    )
    assert alarms["worst"].notna().all()
