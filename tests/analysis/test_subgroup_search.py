"""The search is exact, chance is that of permutations, and the list says it once."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from cases import examples, paired
from hypothesis import given
from hypothesis import strategies as st

from fairdash.analysis.subgroups.chance import (
    largest_by_chance,
    permuted,
    random_signs,
)
from fairdash.analysis.subgroups.conditions import Condition, describe, search_columns
from fairdash.analysis.subgroups.gaps import certain_gap, studentised
from fairdash.analysis.subgroups.rows import SearchRows
from fairdash.analysis.subgroups.search import search


def table(seed, n=70, n_groups=2, weighted=False, numbers=False):
    """Return a small table of mixed columns, and its rows."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "site": rng.choice(["Port", "Quay", "Hill"], n),
            "pay": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(3, 1, n)),
            "open": rng.random(n) < 0.5,
        }
    )
    group = rng.integers(0, n_groups, n)
    value = (rng.random(n) < 0.2 + 0.5 * group * (frame["site"] == "Port")).astype(int)
    columns, skipped = search_columns(frame, list(frame), bins=3, min_size=5)
    assert not skipped
    weight = rng.uniform(1, 3, n) * (1 + value) if weighted else None
    value = value.to_numpy()
    if numbers:
        value = (value + rng.random(n)) / 2
    worth = 2.5 if numbers else None
    return frame, SearchRows(columns, value, group, n_groups, None, weight, worth)


def plain_z(rows, inside, *, critical=None):
    """Return the statistic of one subgroup, or its certain gap, from its formula."""
    value = rows.value
    group = rows.group
    most = rows.worth or 1

    heavy_rows = len(rows.marks) > 1

    def shrunk(where):
        n = int(where.sum())
        k = value[where].sum()
        degrees = np.inf
        if heavy_rows and n:
            heavy = rows.mass[where]
            y = value[where]
            rate = np.clip(np.average(y, weights=heavy), 0, 1)
            residual = heavy * (y - rate) / heavy.sum()
            kish = heavy.sum() ** 2 / (heavy**2).sum()
            worth = most * kish
            if len(np.unique(y)) > 1:
                worth = min(worth, rate * (1 - rate) / (residual**2).sum())
            n = min(most * n, worth) if kish >= 6 else 0
            k = rate * n
            degrees = max(kish - 1, 1)
        p = (k + 1) / (n + 2)
        return p, n + 2, p * (1 - p) / (n + 2) if n else np.inf, degrees

    scores = []
    for a, b in combinations(range(rows.n_groups), 2):
        sides = [shrunk(inside & (group == side)) for side in (a, b)]
        (pa, na, va, degrees_a), (pb, nb, vb, degrees_b) = sides
        joint = (pa * na + pb * nb) / (na + nb)
        variance = max(va + vb, joint * (1 - joint) * (1 / na + 1 / nb))
        same_values = len(np.unique(value[inside & np.isin(group, (a, b))])) < 2
        gap = 0.0 if same_values else abs(pb - pa)
        error = np.sqrt(variance)
        z = gap / error
        t = critical
        if heavy_rows and np.isfinite(error):
            welch = (va + vb) ** 2 / (va**2 / degrees_a + vb**2 / degrees_b)
            shape = (8 * welch + 1) / (8 * welch + 3)  # Wallace's approximation
            z = shape * np.sqrt(welch * np.log(1 + z**2 / welch))
            if critical is not None:
                growth = np.exp((critical / shape) ** 2 / welch) - 1
                t = np.sqrt(welch * growth)
        scores.append(z if critical is None else gap - t * error)
    return max(scores)


def brute_force(frame, rows, depth, min_size, critical=None):
    """Return the score of every subgroup that is large enough."""
    scores = {}
    for size in range(1, depth + 1):
        for columns in combinations(rows.columns, size):
            for conditions in product(*(c.conditions for c in columns)):
                inside = np.logical_and.reduce([c.holds(frame) for c in conditions])
                if inside.sum() >= min_size:
                    scores[conditions] = plain_z(rows, inside, critical=critical)
    return scores


@examples(16)
@given(
    seed=st.integers(0, 10**6),
    n_groups=st.integers(2, 3),
    depth=st.integers(1, 3),
    of=st.fixed_dictionaries({"weighted": st.booleans(), "numbers": st.booleans()}),
)
def test_the_search_finds_what_brute_force_finds(seed, n_groups, depth, of):
    frame, rows = table(seed, n_groups=n_groups, **of)
    certain = brute_force(frame, rows, depth, 6, 0.5)
    plain = brute_force(frame, rows, depth, 6)
    best = search(rows, depth, 6, 0.5, most=5)
    scores = [certain[conditions] for conditions in best]
    clear = sorted((s for s in certain.values() if s > 0), reverse=True)[:5]
    np.testing.assert_allclose(scores[: len(clear)], clear, rtol=1e-6)
    largest = max(plain[conditions] for conditions in best)
    assert largest == pytest.approx(max(plain.values()), rel=1e-6)
    for conditions in best:
        mask = np.logical_and.reduce([c.holds(frame) for c in conditions])
        counts = rows.counts_of(mask)
        assert studentised(counts) == pytest.approx(plain[conditions])
        assert certain_gap(counts, 0.5) == pytest.approx(certain[conditions])


@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_largest_by_chance_is_that_of_every_permuted_table(n_groups):
    frame, rows = table(3, n_groups=n_groups)
    n, by_chance = largest_by_chance(rows, 2, 8, 6, np.random.default_rng(0))
    labels = permuted(rows.group, None, 6, np.random.default_rng(0)).astype(int)
    for label, largest in zip(labels.T, by_chance, strict=True):
        assert np.array_equal(np.bincount(label), np.bincount(rows.group))
        scores = brute_force(frame, replace(rows, group=label), 2, 8)
        assert largest == pytest.approx(max(scores.values()), rel=1e-4)
        assert n == len(scores)


@pytest.mark.parametrize(
    ("n_groups", "kind", "units"),
    paired([2, 3], ["weighted", "numbers"], [False, True], together=1),
)
def test_groups_that_may_be_spread_unlike_keep_their_rows_and_residuals_turn(
    n_groups, kind, units
):
    frame, rows = table(3, n=140, n_groups=n_groups, **{kind: True})
    unit = np.arange(140) // 2 if units else None
    rows = replace(rows, unit=unit)
    n, by_chance = largest_by_chance(rows, 2, 40, 6, np.random.default_rng(0))
    signs = random_signs(140, unit, 6, np.random.default_rng(0))
    assert set(np.unique(signs)) == {-1, 1}
    assert not units or (signs[::2] == signs[1::2]).all()
    mean = np.array(
        [
            np.average(rows.value[in_group], weights=rows.mass[in_group])
            for in_group in (rows.group == g for g in range(n_groups))
        ]
    )
    like = [
        mass.sum() ** 2 / (mass**2).sum()
        for mass in (rows.mass[rows.group == g] for g in range(n_groups))
    ]
    centre = np.average(mean, weights=like)
    residual = rows.value - centre
    for sign, largest in zip(signs.T, by_chance, strict=True):
        turned = replace(rows, value=centre + sign * residual, worth=rows.worth or 1.0)
        scores = brute_force(frame, turned, 2, 40)
        assert largest == pytest.approx(max(scores.values()), rel=1e-4)
        assert n == len(scores)


def test_units_are_permuted_whole_or_share_out_what_they_hold():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(30), 3)
    whole = np.repeat(rng.integers(0, 2, 30), 3)
    for drawn in permuted(whole, unit, 5, rng).T:
        assert (drawn.reshape(30, 3) == drawn.reshape(30, 3)[:, :1]).all()
        assert drawn.sum() == whole.sum()
    mixed = np.tile([0, 1, 1], 30)
    for drawn in permuted(mixed, unit, 5, rng).T:
        assert (drawn.reshape(30, 3).sum(1) == 2).all()


@pytest.mark.parametrize(
    "condition, words",
    [
        (Condition("age", (), None, 25.0, True), "age under 25"),
        (Condition("age", (), 25.0, 35.0, True), "age 25–34"),
        (Condition("age", (), 25.0, 26.0, True), "age 25"),
        (Condition("pay", (), 1000.0, 2500.5), "pay 1,000–2500"),
        (Condition("pay", (), 2500.0), "pay 2,500 or more"),
        (Condition("site", ("Port", "Quay")), "site Port or Quay"),
    ],
)
def test_conditions_are_said_in_words(condition, words):
    assert str(condition) == words
    assert describe([condition, Condition("sex", ("F",))]) == f"{words} and sex F"
