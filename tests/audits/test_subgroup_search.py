"""The search is exact, chance is that of permutations, and the list says it once."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from fairdash.audits.subgroups import chance
from fairdash.audits.subgroups.chance import _Permuted, permute
from fairdash.audits.subgroups.counts import (
    Condition,
    Rows,
    SearchColumn,
    describe,
    search_columns,
)
from fairdash.audits.subgroups.search import Limits, search


def table(seed, n=70, n_groups=2, n_strata=1):
    """Return a small table of mixed columns, its rows, and the same as plain arrays."""
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
    stratum = rng.integers(0, n_strata, n)
    rows = Rows(columns, value.to_numpy(), group, n_groups, stratum, n_strata)
    return frame, rows


def plain_z(value, group, inside, n_groups, *, beyond, critical=None):
    """Return the statistic of one subgroup, or its certain gap, from its formula."""

    def shrunk(where):
        n = int(where.sum())
        k = int(value[where].sum())
        p = (k + 1) / (n + 2)
        return p, n + 2, p * (1 - p) / (n + 2) if n else np.inf

    found = []
    for a, b in combinations(range(n_groups), 2):
        (pa, na, va), (pb, nb, vb) = (shrunk(inside & (group == s)) for s in (a, b))
        joint = (pa * na + pb * nb) / (na + nb)
        variance = max(va + vb, joint * (1 - joint) * (1 / na + 1 / nb))
        alike = len(np.unique(value[inside & np.isin(group, (a, b))])) < 2
        gap = 0.0 if alike else pb - pa
        if beyond:
            (pa, _, va), (pb, _, vb) = (shrunk(~inside & (group == s)) for s in (a, b))
            inner, gap, variance = gap, gap - (pb - pa), variance + va + vb
            gap = gap if gap * inner > 0 else 0.0
        error = np.sqrt(variance)
        found.append(
            abs(gap) / error if critical is None else abs(gap) - critical * error
        )
    return max(found)


def brute_force(frame, rows, limits, critical=None):
    """Return the score of every subgroup that is large enough, without any bound."""
    scores = {}
    for size in range(1, limits.depth + 1):
        for columns in combinations(rows.columns, size):
            for conditions in product(*(c.conditions for c in columns)):
                inside = np.logical_and.reduce([c.holds(frame) for c in conditions])
                if inside.sum() >= limits.min_size:
                    scores[conditions] = plain_z(
                        rows.value, rows.group, inside, rows.n_groups,
                        beyond=limits.beyond, critical=critical,
                    )  # fmt: skip
    return scores


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_groups=st.integers(2, 3),
    depth=st.integers(1, 3),
    beyond=st.booleans(),
    critical=st.sampled_from([None, 0.5]),
)
def test_branch_and_bound_finds_what_brute_force_finds(
    seed, n_groups, depth, beyond, critical
):
    frame, rows = table(seed, n_groups=n_groups)
    limits = Limits(depth, 6, beyond)
    expected = brute_force(frame, rows, limits, critical)
    best = sorted(expected.values(), reverse=True)
    if critical is not None:
        best = [score for score in best if score > 0]
    for most, bounded in ((5, True), (40, True), (5, False)):
        found = search(rows, limits, most=most, critical=critical, bounded=bounded)
        np.testing.assert_allclose(found.score, best[: len(found.score)], rtol=1e-6)
        assert len(found.score) == min(most, len(best))
        for score, conditions in zip(
            found.score, found.all_conditions(rows), strict=True
        ):
            assert score == pytest.approx(expected[conditions], rel=1e-6)


def test_blocks_that_cannot_hold_a_better_one_are_not_counted():
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(rng.random((n, 8)), columns=list("abcdefgh"))
    group = rng.integers(0, 2, n)
    value = np.where((frame["a"] < 0.5) & (group == 1), 1, rng.random(n) < 0.1)
    columns, _ = search_columns(frame, list(frame), bins=4, min_size=50)
    rows = Rows(columns, value.astype(int), group, 2, np.zeros(n, int))
    limits = Limits(3, 50)
    one, all_of_them = (
        search(rows, limits, most=3, bounded=bounded) for bounded in (True, False)
    )
    assert len(one.best) < len(all_of_them.best) / 2
    np.testing.assert_array_equal(one.score, all_of_them.score)
    assert one.all_conditions(rows) == all_of_them.all_conditions(rows)


@pytest.mark.parametrize("n_groups, beyond", [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("n, n_strata, step", [(60, 1, 16), (4000, 2, 8)])
def test_the_largest_by_chance_is_that_of_every_permuted_table(
    monkeypatch, n_groups, beyond, n, n_strata, step
):
    _, rows = table(3, n=n, n_groups=n_groups, n_strata=n_strata)
    limits = Limits(3, 8, beyond)
    found = search(rows, limits, most=10)
    n_labels = n_groups * (2 if beyond else 1)
    monkeypatch.setattr(chance, "_BYTES", step * n * (n_labels - 1))
    by_chance = permute(rows, found, limits, n_permutations=20, random_state=0)
    # the same labels once more, and every table counted by itself
    rng = np.random.default_rng(0)
    drawn = [
        _Permuted(rows, min(step, 20 - i), beyond, rng) for i in range(0, 20, step)
    ]
    where = np.concatenate([np.stack(d.where)[..., : d.times] for d in drawn], axis=2)
    labels = (where * np.arange(1, n_labels)[:, None, None]).sum(0)
    for label, largest in zip(labels.T, by_chance.largest, strict=True):
        group, value = np.divmod(label, 2) if beyond else (label, rows.value)
        kinds = rows.stratum * n_groups + group, rows.stratum * n_groups + rows.group
        assert np.array_equal(*map(np.bincount, kinds)), "permuted inside strata"
        again = Rows(rows.columns, value, group, n_groups, rows.stratum, n_strata)
        assert search(again, limits, most=1).score[0] == pytest.approx(
            largest, rel=1e-4
        )


@pytest.mark.parametrize("group, n_orders", [([0, 1, 0, 1], 6), ([0, 1, 2, 0], 12)])
def test_every_permutation_of_few_rows_is_as_likely(group, n_orders):
    columns = SearchColumn("a", np.arange(4, dtype=np.uint8), 4, np.eye(4) > 0, ())
    zeros = np.zeros(4, int)
    rows = Rows([columns], zeros, np.array(group), max(group) + 1, zeros)
    drawn = _Permuted(rows, 6000, False, np.random.default_rng(0)).where
    _, times = np.unique(np.concatenate(drawn).T, axis=0, return_counts=True)
    assert len(times) == n_orders
    assert chisquare(times).pvalue > 0.001


def test_p_values_step_down_over_what_is_no_better():
    _, rows = table(5, n=120)
    limits = Limits(2, 8)
    found = search(rows, limits, most=30)
    by_chance = permute(rows, found, limits, n_permutations=199, random_state=0)
    p = by_chance.p_values(found.score)
    single = (1 + (by_chance.largest[:, None] >= found.score - 1e-4).sum(0)) / 200
    assert (np.diff(p) >= 0).all()
    assert (p <= single).all()
    assert (p < single).any()
    assert p[0] == single[0]
    assert (by_chance.later[:, :-1] >= by_chance.later[:, 1:]).all()
    critical = by_chance.critical(0.1)
    assert np.mean(by_chance.largest > critical) <= 0.1


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
