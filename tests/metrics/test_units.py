"""Rows of one person are not independent."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import fairdash
from fairdash.metrics import LocalMeasure, evaluate, local_di, measure_by_group

MEASURES = ["selection_rate", "accuracy", "calibration", "brier", "auc"]


def people(seed=0, n=240):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    y = rng.integers(0, 2, n)
    scores = np.clip(0.3 + 0.3 * y + rng.normal(0, 0.2, n), 0, 1).round(2)
    return group, y, scores


@pytest.mark.parametrize("measure", MEASURES)
def test_three_equal_rows_of_a_person_say_no_more_than_one(measure):
    group, y, scores = people()
    predictions = scores if measure in MEASURES[2:] else (scores > 0.5).astype(int)
    arguments = {"sensitive_features": group}
    once = measure_by_group(measure, y, predictions, **arguments)
    again = np.repeat(np.arange(len(y)), 3)
    careful, careless = (
        measure_by_group(
            measure,
            y[again],
            predictions[again],
            sensitive_features=group[again],
            cluster=u,
        )
        for u in (again, None)
    )
    width, plain, narrow = (
        (table["ci_high"] - table["ci_low"]).to_numpy()
        for table in (careful, once, careless)
    )
    np.testing.assert_allclose(careful["value"], once["value"])
    # a rate's quantiles are Student's with units, and normal without
    np.testing.assert_allclose(width, plain, rtol=0.03)
    assert (narrow < 0.65 * width).all()


MEANS = {
    "selection_rate": lambda t, w: np.average(t["decided"], weights=w),
    "brier": lambda t, w: np.average((t["score"] - t["y"]) ** 2, weights=w),
    "precision": lambda t, w: np.average(t["y"], weights=w * t["decided"]),
    "auc": lambda t, w: roc_auc_score(t["y"], t["score"], sample_weight=w),
}


@pytest.mark.parametrize("measure", MEANS)
def test_the_variance_is_that_of_replicate_weights(measure):
    rng = np.random.default_rng(6)
    k = 120
    unit = np.repeat(np.arange(k), rng.integers(1, 6, k))
    group = rng.integers(0, 2, len(unit))  # units have rows of both
    groups = group == 0, group == 1
    y = (rng.normal(size=k)[unit] + rng.normal(size=len(unit)) > 0.2).astype(int)
    score = np.clip(0.4 + 0.2 * y + rng.normal(0, 0.2, len(unit)), 0, 1)
    table = pd.DataFrame({"y": y, "score": score, "decided": (score > 0.5) * 1})
    weight = rng.uniform(0.5, 3, len(unit)) * (1 + y)
    local = LocalMeasure.of(
        measure,
        y,
        score if measure in ("brier", "auc") else table["decided"],
        sensitive_features=group,
        subgroups=["all"] * len(unit),
        sample_weight=weight,
        cluster=unit,
    )
    # of leaving out one unit; of a bootstrap of units
    replicates = [(1 - np.eye(k), (k - 1) / k, 0.06)]
    if measure == "selection_rate":
        replicates.append((rng.multinomial(k, [1 / k] * k, 1500), 1 / 1500, 0.08))
    for times, share, near in replicates:
        values = [
            [
                MEANS[measure](table[in_group], (w[unit] * weight)[in_group])
                for in_group in groups
            ]
            for w in times
        ]
        covariance = share * len(values) * np.cov(np.transpose(values), ddof=0)
        error = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(local.whole.error, error, rtol=near)
        shared = covariance[0, 1] / error.prod()
        assert local.whole.correlation[0, 1] == pytest.approx(shared, abs=near)


def test_audit_and_local_views_take_units_and_name_a_missing_one():
    group, y, scores = people()
    again = np.repeat(np.arange(len(y)), 3)
    frame = pd.DataFrame({"g": group, "y": y, "p": scores}).iloc[again]
    frame = frame.assign(person=again, part="all").reset_index(drop=True)
    names = {"scores": "p", "sensitive_features": "g", "frame": frame}
    careful, careless = (
        fairdash.audit("y", cluster=unit, **names) for unit in ("person", None)
    )
    width, narrow = (
        (result.gaps["ci_high"] - result.gaps["ci_low"])
        for result in (careful, careless)
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
    report = fairdash.audit(
        None, decided, sensitive_features=group, measures=["selection_rate"]
    )
    (finding,) = report.findings
    assert finding.clear
    assert (finding.sure, finding.reason) == (False, "too few rows to say")
    assert "some group has too few rows" in report.verdict
