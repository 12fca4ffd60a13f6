"""Every view of decisions is of one table of cells, which NumPy recomputes."""

import numpy as np
import pandas as pd
import pytest
from generated_tables import SAMPLINGS, generated
from scipy.stats import norm
from scipy.stats import t as student

from fairdash import audit, metrics
from fairdash.metrics import Measured
from fairdash.metrics.group import cells
from fairdash.metrics.group.intervals import for_all_pairs

SEEDS = range(2 * len(SAMPLINGS))  # each way to sample twice
RATES = {
    "selection_rate": lambda y, d: (np.ones(len(y), bool), d == 1),
    "true_positive_rate": lambda y, d: (y == 1, d == 1),
    "precision": lambda y, d: (d == 1, y == 1),
    "accuracy": lambda y, d: (np.ones(len(y), bool), d == y),
}
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def repeated(table):
    """Return the rows of a table, of counts those of every person, as arrays."""
    times = table.people.astype(int)
    rows = {
        "y": np.repeat(table.y, times),
        "d": np.repeat(table.decided, times),
        "group": np.repeat(table.groups, times),
        "subgroup": np.repeat(np.asarray(table.subgroups, object).astype(str), times),
    }
    rows["weight"] = np.ones(len(rows["y"]))
    rows["unit"] = np.arange(len(rows["y"]))
    if "weights" in table.kind:
        rows["weight"] = table.sampling["sample_weight"]
    if "units" in table.kind:
        rows["unit"] = table.sampling["cluster"]
    return rows


def estimate_by_hand(rows, inside, measure, *, plain):
    """Return value, ends and rows of a rate: Wilson's at the linearised variance."""
    about, counted = RATES[measure](rows["y"], rows["d"])
    inside = inside & about
    hit = counted[inside].astype(float)
    weight = rows["weight"][inside]
    n = len(hit)
    if not weight.sum():
        return np.nan, np.nan, np.nan, n
    rate = np.average(hit, weights=weight)
    effective = float(n)
    z = norm.ppf(0.975)
    if not plain:
        of_row = np.unique(rows["unit"][inside], return_inverse=True)[1]
        mass = np.bincount(of_row, weight)
        residual = np.bincount(of_row, weight * (hit - rate)) / weight.sum()
        k = int((mass > 0).sum())
        variance = k / (k - 1) * (residual**2).sum() if k > 1 else np.nan
        effective = mass.sum() ** 2 / (mass**2).sum()
        if variance > 1e-15 and rate * (1 - rate) > 1e-12:
            effective = min(rate * (1 - rate) / variance, n)
        kish = (mass**2).sum() ** 2 / (mass**4).sum()
        z = student.ppf(0.975, max(kish - 1, 1))
    shrunk = z**2 / effective
    half = np.sqrt(shrunk * rate * (1 - rate) + shrunk**2 / 4)
    low, high = (rate + shrunk / 2 + sign * half for sign in (-1, 1))
    ends = np.clip([low / (1 + shrunk), high / (1 + shrunk)], 0, 1)
    return rate, *ends, n


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_and_their_intervals_are_those_of_numpy(seed):
    table = generated(seed)
    rows = repeated(table)
    plain = table.kind in ("plain", "counts")
    for measure in RATES:
        local = metrics.LocalMeasure.of(
            measure,
            table.y,
            table.decided,
            sensitive_features=table.groups,
            subgroups=table.subgroups,
            **table.sampling,
        )
        estimates = local.values  # noqa: PD011
        ends = estimates.interval(0.95)
        for g, group in enumerate(local.cells.groups):
            of_group = rows["group"] == group
            expected = estimate_by_hand(rows, of_group, measure, plain=plain)
            row = local.by_group.table().iloc[g]
            cell = row[["value", "ci_low", "ci_high", "n"]].astype(float)
            np.testing.assert_allclose(cell, expected, **CLOSE)
            for s, subgroup in enumerate(local.cells.subgroups):
                inside = of_group & (rows["subgroup"] == subgroup)
                expected = estimate_by_hand(rows, inside, measure, plain=plain)
                cell = [part[s, g] for part in (*ends, estimates.n)]
                np.testing.assert_allclose(cell, expected, **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_view_shows_the_same_estimates(seed):
    table = generated(seed)
    rows = {"sensitive_features": table.groups, **table.sampling}
    inside = {"subgroups": table.subgroups, "min_size": 20}
    evaluated = metrics.evaluate(table.y, table.decided, **rows, **inside).iloc[0]
    options = dict(table.sampling)
    if table.kind == "counts":
        options = {"counts": options["sample_weight"]}
    tables = audit(
        table.y,
        table.decided,
        sensitive_features=table.groups,
        checks=False,
        **options,
        **inside,
    )
    level = for_all_pairs(0.95, len(set(table.groups)))
    for measure, of_groups in tables.by_group.groupby("measure"):
        call = measure, table.y, table.decided
        views = {
            "by_group": metrics.measure_by_group(*call, **rows),
            "gaps": metrics.measure_gaps(*call, **rows, confidence=level),
            "local": metrics.LocalMeasure.of(*call, **rows, **inside).table(),
        }
        for name, view in views.items():
            in_audit = getattr(tables, name)
            in_audit = in_audit[in_audit["measure"] == measure].reset_index(drop=True)
            pd.testing.assert_frame_equal(
                in_audit[list(view)], view, rtol=1e-11, atol=1e-12
            )
        gap = np.ptp(of_groups["value"])
        named = {
            "selection_rate": "demographic_parity_difference",
            "true_positive_rate": "equal_opportunity_difference",
        }
        if measure in named:
            np.testing.assert_allclose(evaluated[named[measure]], gap, **CLOSE)
    local_di = metrics.local_di(table.decided, **rows, **inside)
    assert metrics.worst_k_di(local_di) == pytest.approx(
        evaluated["worst_1_di"], nan_ok=True
    )


@pytest.mark.parametrize("seed", range(len(SAMPLINGS)))
@pytest.mark.parametrize("measure", ["selection_rate", "error_cost 3:1", "mean_error"])
@pytest.mark.parametrize("absent", [False, True])
def test_without_a_row_in_a_subgroup_the_whole_is_measured(seed, measure, absent):
    table = generated(seed)
    rows = {"sensitive_features": table.groups, **table.sampling}
    predicted = table.scores if measure == "mean_error" else table.decided
    call = measure, table.y, predicted
    nowhere = np.full(len(table.y), None) if absent else None
    local = metrics.LocalMeasure.of(*call, subgroups=nowhere, **rows)
    whole = metrics.measure_by_group(*call, **rows)
    pd.testing.assert_frame_equal(local.by_group.table(), whole, check_exact=True)
    assert not len(local.gaps())


def test_rows_of_decisions_are_counted_once_whatever_their_number():
    n = 5000
    rng = np.random.default_rng(0)
    y, decided = rng.integers(0, 2, (2, n))
    weight = rng.lognormal(0, 1, n)
    rows = Measured.of("accuracy", y, decided, weight)
    counted = rows.cells(np.arange(n) % 3, 3)
    assert len(counted.place) == 3 * 4
    # one count serves every measure, and every way to put its places together
    assert counted.estimate("precision", np.array([0, 1, 1]), (2,)).value.shape == (2,)
    everyone = counted.estimate("accuracy", np.zeros(3, int), (1,))
    np.testing.assert_allclose(
        everyone.value[0], np.average(y == decided, weights=weight)
    )
    assert counted.estimate("accuracy", np.array([-1, -1, 0]), (1,)).n[0] == n // 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("measure", ["auc", "brier", "calibration"])
def test_scores_counted_by_value_say_what_their_rows_say(seed, measure, monkeypatch):
    table = generated(seed)
    local = []
    for least_repeats in (1e-9, 1e9):  # all scores are counted, or none
        monkeypatch.setattr(cells, "_LEAST_REPEATS", least_repeats)
        local.append(
            metrics.LocalMeasure.of(
                measure,
                table.y,
                table.scores,
                sensitive_features=table.groups,
                subgroups=table.subgroups,
                min_size=20,
                **table.sampling,
            )
        )
    counted, of_rows = local
    n_rows = len(of_rows.counted.place)
    assert n_rows == len(table.y)
    has_units = "cluster" in table.sampling
    assert (len(counted.counted.place) == n_rows) == has_units
    pd.testing.assert_frame_equal(
        counted.estimates(), of_rows.estimates(), rtol=1e-12, atol=1e-12
    )


def test_only_scores_that_repeat_are_counted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 8000)
    place = np.arange(8000) % 2
    decile = rng.integers(1, 11, 8000) / 10
    assert len(Measured.of("auc", y, decile).cells(place, 2).place) == 2 * 2 * 10
    continuous = rng.random(8000)
    assert len(Measured.of("auc", y, continuous).cells(place, 2).place) == 8000
    # numbers that are no outcomes are not counted by 0 and 1
    assert len(Measured.of("mean_error", decile, decile).cells(place, 2).place) == 8000


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_the_scale_of_weights_changes_nothing(scale):
    table = generated(1)
    weight = table.sampling["sample_weight"]
    tables = [
        metrics.measure_gaps(
            "error_cost 3:1",
            table.y,
            table.decided,
            sensitive_features=table.groups,
            sample_weight=weight * factor,
        )
        for factor in (1.0, scale)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_group_of_one_unit_goes_with_no_other(seed):
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], [7, 200])
    unit = np.concatenate([np.zeros(7, int), rng.integers(0, 40, 200)])
    decided = rng.integers(0, 2, 207)
    decided[:2] = 0, 1
    rows = Measured.of(
        "accuracy", decided, decided, rng.lognormal(0, 1, 207), None, unit
    )
    correlation = rows.estimate(group, (2,)).correlation
    assert correlation[0, 1] == 0
    values = rng.normal(size=207)
    rows = Measured.of("mean_error", values, np.zeros(207), None, None, unit)
    correlation = rows.estimate(group, (2,)).correlation
    assert correlation[0, 1] == 0  # its residuals add up to a rounding error
