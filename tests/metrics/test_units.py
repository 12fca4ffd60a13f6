"""Rows of one person are not independent: intervals, searches and certificates."""

import numpy as np
import pandas as pd
import pytest

import fairdash
from fairdash.audits import find_subgroups
from fairdash.metrics import LocalMeasure, evaluate, local_di, measure_by_group

MEASURES = ["selection_rate", "accuracy", "calibration", "brier", "auc"]


def people(seed=0, n=240):
    rng = np.random.default_rng(seed)
    group, y = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    scores = np.clip(0.3 + 0.3 * y + rng.normal(0, 0.2, n), 0, 1).round(2)
    return group, y, scores


@pytest.mark.parametrize("measure", MEASURES)
def test_three_equal_rows_of_a_person_say_no_more_than_one(measure):
    group, y, scores = people()
    given = scores if measure in MEASURES[2:] else (scores > 0.5).astype(int)
    asked = {"sensitive_features": group}
    once = measure_by_group(measure, y, given, **asked)
    again = np.repeat(np.arange(len(y)), 3)
    found, careless = (
        measure_by_group(
            measure, y[again], given[again], sensitive_features=group[again], cluster=u
        )
        for u in (again, None)
    )
    width, plain, narrow = (
        (table["ci_high"] - table["ci_low"]).to_numpy()
        for table in (found, once, careless)
    )
    np.testing.assert_allclose(found["value"], once["value"])
    # a rate's quantiles are Student's with units, and normal without
    np.testing.assert_allclose(width, plain, rtol=0.03)
    assert (narrow < 0.65 * width).all()


def test_the_variance_is_that_of_a_bootstrap_of_units():
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(80), rng.integers(1, 7, 80))
    group = rng.integers(0, 2, len(unit))  # units have rows of both
    y = (rng.normal(size=80)[unit] + rng.normal(size=len(unit)) > 0.4).astype(int)
    weight = rng.uniform(0.5, 3, len(unit)) * (1 + y)
    local = LocalMeasure.of(
        "selection_rate",
        None,
        y,
        sensitive_features=group,
        subgroups=["all"] * len(unit),
        sample_weight=weight,
        cluster=unit,
    )
    drawn = []
    for _ in range(3000):
        times = np.bincount(rng.integers(0, 80, 80), minlength=80)[unit] * weight
        one, other = (
            np.average(y[group == g], weights=times[group == g]) for g in (0, 1)
        )
        drawn.append((one, other))
    error = local.whole.error
    np.testing.assert_allclose(error, np.std(drawn, axis=0), rtol=0.06)
    shared = np.corrcoef(np.array(drawn).T)[0, 1]
    assert local.whole.correlation[0, 1] == pytest.approx(shared, abs=0.06)
    gap = local.between("0", "1", confidence=0.95)
    expected = 2 * 1.99 * np.std(np.subtract(*np.transpose(drawn)))
    assert gap.high - gap.low == pytest.approx(expected, rel=0.08)


def test_audit_and_local_views_take_units_and_name_a_missing_one():
    group, y, scores = people()
    again = np.repeat(np.arange(len(y)), 3)
    frame = pd.DataFrame({"g": group, "y": y, "p": scores}).iloc[again]
    frame = frame.assign(person=again, part="all").reset_index(drop=True)
    names = {"scores": "p", "sensitive_features": "g", "frame": frame}
    found, careless = (
        fairdash.audit("y", cluster=unit, **names) for unit in ("person", None)
    )
    width, narrow = (
        (one.gaps["ci_high"] - one.gaps["ci_low"]) for one in (found, careless)
    )
    assert (narrow < 0.65 * width).all()
    inside = {"sensitive_features": frame["g"], "subgroups": frame["part"]}
    decided = (frame["p"] > 0.5).astype(int)
    table = local_di(decided, cluster=frame["person"], **inside).iloc[0]
    row = evaluate(frame["y"], frame["p"], cluster=frame["person"], **inside).iloc[0]
    assert (row["worst_1_di"], row["worst_1_di_high"]) == pytest.approx(
        (table["local_di"], table["ci_high"])
    )
    frame.loc[4, "person"] = np.nan
    with pytest.raises(ValueError, match=r"`cluster` is missing in 1 rows.*row 4"):
        fairdash.audit("y", cluster="person", **names)


def test_too_few_rows_of_an_outcome_name_nobody():
    group = np.repeat(["a", "b"], [400, 60])
    decided = np.zeros(460, int)
    decided[400:403] = 1  # three of 60, none of 400
    found = fairdash.audit(
        None, decided, sensitive_features=group, measures=["selection_rate"]
    )
    (finding,) = found.findings
    assert finding.clear
    assert (finding.sure, finding.reason) == (False, "too few rows to say")
    assert "some group has too few rows" in found.verdict


def test_rows_that_repeat_a_person_find_no_subgroup():
    rng = np.random.default_rng(8)
    found = careless = 0
    for seed in range(6):
        again = np.repeat(np.arange(250), 4)
        frame = pd.DataFrame(
            {"age": rng.integers(20, 60, 250), "site": rng.choice(list("xyz"), 250)}
        ).iloc[again]
        asked = {
            "sensitive_features": rng.integers(0, 2, 250)[again],
            "frame": frame.reset_index(drop=True),
            "depth": 2,
            "n_permutations": 59,
            "random_state": seed,
        }
        decided = (rng.random(250) < 0.4)[again].astype(int)
        for unit in (again, None):
            table = find_subgroups(decided, cluster=unit, **asked)
            beyond = bool((table["p_adjusted"] <= 0.05).any())
            found += beyond * (unit is not None)
            careless += beyond * (unit is None)
    assert found <= 1
    assert careless >= 5
