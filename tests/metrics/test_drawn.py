"""Drawn decisions: expected measures, recomputed, and the variance of the draw."""

import numpy as np
import pandas as pd
import pytest
from cases import paired, sampled
from hypothesis import given
from hypothesis import strategies as st

from fairdash.metrics import (
    Drawn,
    LocalMeasure,
    Measured,
    accuracy_change,
    compare,
    decision_status,
    evaluate,
    gap_change,
    local_di,
    measure_by_group,
    measure_gaps,
)

RATES = {  # of outcomes and decisions: rows it is about, rows counted
    "selection_rate": (lambda y, d: y >= 0, lambda y, d: d == 1),
    "true_positive_rate": (lambda y, d: y == 1, lambda y, d: d == 1),
    "false_positive_rate": (lambda y, d: y == 0, lambda y, d: d == 1),
    "precision": (lambda y, d: d == 1, lambda y, d: y == 1),
    "accuracy": (lambda y, d: y >= 0, lambda y, d: d == y),
}


def people(seed=0, n=600, contents=60):
    """Return outcome, group, chance, content: rows of a content have one chance."""
    rng = np.random.default_rng(seed)
    content = rng.integers(contents, size=n)
    h = rng.uniform(size=contents)[content]
    group = rng.integers(2, size=n)
    y = (rng.uniform(size=n) < 0.2 + 0.5 * h).astype(int)
    return y, group, h, content


def drawn(h, content, rng, times):
    """Return decisions once drawn, (times, n_rows); a content has one level."""
    level = rng.random((times, content.max() + 1))[:, content]
    return (level < h).astype(int)


@pytest.mark.parametrize("measure", [*RATES, "error_cost 3:1"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_measure_of_drawn_decisions_is_the_mean_of_its_parts(measure, weighted):
    y, group, h, content = people()
    weight = np.random.default_rng(1).uniform(1, 3, 600) if weighted else None
    item = np.ones(600) if weight is None else weight
    table = measure_by_group(
        measure, y, Drawn(h, content), sensitive_features=group, sample_weight=weight
    )
    for code in (0, 1):
        rows = group == code
        if measure in RATES:
            about, counted = RATES[measure]
            parts = [
                (
                    item * share * about(y, d),
                    item * share * (about(y, d) & counted(y, d)),
                )
                for d, share in ((1, h), (0, 1 - h))
            ]
            whole, hits = np.sum(parts, axis=0)
            expected = hits[rows].sum() / whole[rows].sum()
        else:
            cost = 1.5 * h * (1 - y) + 0.5 * (1 - h) * y
            expected = np.average(cost[rows], weights=item[rows])
        assert table["value"][code] == pytest.approx(expected)


@given(seed=st.integers(0, 50), contents=st.sampled_from([5, 40, 10_000]))
def test_without_chance_drawn_decisions_are_plain_ones(seed, contents):
    y, group, h, content = people(seed, 200, contents)
    d = (h > 0.5).astype(int)
    for measure in RATES:
        arguments = {"sensitive_features": group}
        plain = measure_gaps(measure, y, d, **arguments)
        same = measure_gaps(measure, y, Drawn(d.astype(float), content), **arguments)
        pd.testing.assert_frame_equal(plain, same, check_dtype=False)


@pytest.mark.parametrize(
    ("measure", "weighted"),
    paired([*RATES, "error_cost 3:1"], [False, True], together=1),
)
def test_the_standard_error_has_the_draws_in_it_shared_ones_too(
    measure, weighted, thorough
):
    rng = np.random.default_rng(0)
    for contents in (25, 10_000) if thorough else (10_000,):
        y, group, h, content = people(3, 500, contents)
        weight = rng.uniform(1, 3, 500) if weighted else None

        def measured(given, y=y, weight=weight, group=group):
            rows = Measured.of(measure, y, given, weight)
            return rows.estimate(group, (2,))

        draws = drawn(h, content, rng, 400)
        spread = np.std([measured(d).value for d in draws], axis=0)
        whole = measured(Drawn(h, content)).error
        # the rows are given, and draws alone vary less than draws of other rows
        assert (whole > 0.9 * spread).all()
        if contents == 10_000:
            alone = measured(Drawn(h)).error
            np.testing.assert_allclose(whole, alone, rtol=0.05)


def test_what_shared_draws_add_is_the_sum_over_their_pairs():
    y, group, h, content = people(2, 120, 15)
    h = np.where(group == 1, h, h**2)  # a mixture that looks at the group
    everyone = np.zeros(120, np.int64)
    added = [
        Measured.of("accuracy", y, decisions).estimate(everyone, (1,)).error[0] ** 2
        for decisions in (Drawn(h, content), Drawn(h))
    ]
    change = (2 * y - 1) / 120
    pairs = sum(
        change[i] * change[j] * (min(h[i], h[j]) - h[i] * h[j])
        for i in range(120)
        for j in range(120)
        if i != j and content[i] == content[j]
    )
    assert added[0] - added[1] == pytest.approx(pairs)


def test_intervals_of_decisions_once_drawn_cover_the_rate_of_the_population():
    # 400 tables of 600 rows from 40 kinds of people, each with draws of its own
    rng = np.random.default_rng(0)
    chance = rng.uniform(size=40)
    share = rng.dirichlet(np.full(40, 5.0))
    truth = chance @ share
    shared = []
    alone = []
    group = np.arange(600) % 2
    for _ in range(400):
        kind = rng.choice(40, 600, p=share)
        realised = (rng.random(40) < chance)[kind][group == 0].mean()
        for decided, covered in (
            (Drawn(chance[kind], kind), shared),
            (Drawn(chance[kind]), alone),
        ):
            table = measure_by_group(
                "selection_rate", None, decided, sensitive_features=group
            )
            half = (table["ci_high"] - table["ci_low"])[0] / 2
            covered.append(abs(realised - truth) <= half)
    assert 0.92 < np.mean(shared) < 0.99
    assert np.mean(alone) < 0.85  # what draws of their own would have promised


def test_evaluate_local_gaps_and_status_are_expected_ones():
    y, group, h, content = people()
    place = np.array(["x", "y", "z"])[np.arange(600) % 3]
    inside = {"sensitive_features": group, "subgroups": place, "min_size": 20}
    row = evaluate(y, Drawn(h, content), **inside).iloc[0]
    rates = [h[group == code].mean() for code in (0, 1)]
    assert row["accuracy"] == pytest.approx(np.mean(y * h + (1 - y) * (1 - h)))
    assert row["demographic_parity_difference"] == pytest.approx(np.ptp(rates))
    odds = [
        np.ptp([h[(group == code) & (y == o)].mean() for code in (0, 1)])
        for o in (0, 1)
    ]
    assert row["equalized_odds_difference"] == pytest.approx(max(odds))
    local = [
        np.ptp([h[(group == code) & (place == name)].mean() for code in (0, 1)])
        for name in "xyz"
    ]
    assert row["worst_1_di"] == pytest.approx(max(local))
    table = local_di(Drawn(h, content), **inside)
    np.testing.assert_allclose(table["local_di"], local)
    status = decision_status(y, Drawn(h, content)).iloc[0]
    assert status["selection_rate"] == pytest.approx(h.mean())
    assert status["status"] == ""
    assert decision_status(y, Drawn(np.ones(600)))["status"][0] == "accepts all"
    assert decision_status(y, Drawn(np.full(600, 0.5)))["status"][0] != ""


def test_the_noise_floor_of_drawn_decisions_is_that_of_decisions_once_drawn():
    _, group, h, content = people(n=3000, contents=3000)
    inside = {"sensitive_features": group, "subgroups": np.arange(3000) % 4}
    of_chances = LocalMeasure.of("selection_rate", None, Drawn(h), **inside)
    (d,) = drawn(h, content, np.random.default_rng(0), 1)
    once = LocalMeasure.of("selection_rate", None, d, **inside)
    assert of_chances.noise_floor().quantile == pytest.approx(
        once.noise_floor().quantile, rel=0.1
    )


@pytest.mark.parametrize("contents", sampled([60, 10_000], 2))
def test_changes_have_the_variance_of_the_draws(contents):
    y, group, h, content = people(5, 800, contents)
    before = (h > 0.5).astype(int)
    rng = np.random.default_rng(0)
    gap = {"sensitive_features": group}
    changes = np.array(
        [
            (gap_change(before, d, **gap).value, accuracy_change(y, before, d).value)
            for d in drawn(h, content, rng, 300)
        ]
    )
    decisions = Drawn(h, content)
    for place, interval in enumerate(
        (gap_change(before, decisions, **gap), accuracy_change(y, before, decisions))
    ):
        error = float(interval.high - interval.low) / 3.92
        assert error > 0.85 * changes[:, place].std()
    still = gap_change(before, h, **gap)  # of the mean over draws
    wider = gap_change(before, decisions, **gap)
    assert wider.value == pytest.approx(float(still.value))
    assert wider.high - wider.low > still.high - still.low


@pytest.mark.parametrize("weighted", [False, True])
def test_compared_models_may_be_drawn(weighted):
    y, group, h, content = people(7)
    place = np.arange(600) % 3
    weight = np.random.default_rng(1).uniform(1, 3, 600) if weighted else None
    before = (h > 0.5).astype(int)
    inside = {"sensitive_features": group, "subgroups": place, "min_size": 20}
    arguments = {**inside, "sample_weight": weight}
    table = compare(y, Drawn(h, content), before, **arguments).set_index("metric")
    item = np.ones(600) if weight is None else weight
    gaps = [
        np.ptp(
            [
                np.average(
                    h[(group == code) & (place == k)],
                    weights=item[(group == code) & (place == k)],
                )
                for code in (0, 1)
            ]
        )
        for k in range(3)
    ]
    assert table.loc["worst_1_di", "value"] == pytest.approx(max(gaps))
    accuracy = np.average(y * h + (1 - y) * (1 - h), weights=item)
    assert table.loc["accuracy", "value"] == pytest.approx(accuracy)
    once = compare(y, before, before, **arguments).set_index("metric")
    assert table.loc["worst_1_di", "reference"] == pytest.approx(
        once.loc["worst_1_di", "value"]
    )
    low, high = table.loc["worst_1_di", ["low", "high"]]
    assert high - low > 0.1  # the draws of 60 contents


def test_a_measure_of_scores_takes_no_drawn_decisions():
    with pytest.raises(ValueError, match="`measure` must be one of"):
        measure_by_group(
            "auc", [0, 1], Drawn(np.array([0.2, 0.4])), sensitive_features=[0, 1]
        )
