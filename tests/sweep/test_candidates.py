"""Thresholds as a further knob of the certified choice: what is tried, and where."""

import numpy as np
import pytest

from fairdash.metrics import decision_status
from fairdash.sweep import Candidate, Part, candidate_table, choose_certified
from fairdash.sweep._candidates import thresholds_tried

PARITY = "demographic_parity_difference"
LIMITS = {PARITY: 0.1, "worst_1_di": 0.2}


def people(rng, n, shift=0.25):
    """Return rows, and the scores of two models: the first has the wider gap."""
    group = rng.integers(0, 2, n)
    young = rng.random(n) < 0.4
    truth = np.clip(0.5 + 0.2 * rng.normal(size=n), 0, 1)
    y = (rng.random(n) < truth).astype(np.int8)
    noise = 0.05 * rng.normal(size=(2, n))
    lean = np.array([[1.0], [0.4]]) * shift * (group - 0.5) * (0.6 + young)
    scores = np.clip(truth + lean + noise, 0.001, 0.999).astype(np.float32)
    return Part(y, group, {"young": young}), scores


def table_of(parts, scores, kind, limits=LIMITS):
    return candidate_table(
        [7, 3],
        lambda place: tuple(one[[7, 3].index(place)] for one in scores),
        parts,
        limits=limits,
        thresholds=kind,
    )


def gaps(part, decided):
    """Return the gap over all rows and inside, from the rows themselves."""

    def apart(where):
        rates = [decided[where & (part.groups == g)].mean() for g in (0, 1)]
        return abs(rates[0] - rates[1])

    return apart(np.ones(len(part.y), bool)), apart(part.inside["young"])


def test_thresholds_by_group_close_the_gap_of_the_rows_they_learn_from():
    part, scores = people(np.random.default_rng(0), 2000)
    tried = thresholds_tried(scores[0], part.groups, "by_group")
    assert tried[0] == (0.5, 0.5)
    apart = [
        gaps(part, scores[0] > np.array(cuts, np.float32)[part.groups])[0]
        for cuts in tried
    ]
    np.testing.assert_allclose(
        apart, apart[0] * np.array([1, 0.75, 0.5, 0.25, 0]), atol=2e-3
    )
    shared = thresholds_tried(scores[0], part.groups, "shared")
    assert shared[0] == (0.5, 0.5)
    assert all(len(set(cuts)) == 1 for cuts in shared)
    assert len(set(shared)) == len(shared) == 17
    assert thresholds_tried(scores[0], part.groups, "fixed") == [(0.5, 0.5)]


def test_groups_accepted_alike_are_counted_once():
    scores = np.tile(np.linspace(0.01, 0.99, 60, dtype=np.float32), 2)
    group = np.repeat([0, 1], 60)
    part = Part((scores > 0.4).astype(np.int8), group, {})
    tried = thresholds_tried(scores, group, "by_group")
    assert len(set(tried)) == len(tried) == 2
    table = candidate_table(
        [0],
        lambda place: (scores, scores),
        (part, part),
        limits={PARITY: 0.1},
        thresholds="by_group",
    )
    assert not table.duplicated(["model", "subgroup", "group"]).any()
    n_rows = [
        choose_certified(one, limits={PARITY: 0.1}).rows_needed
        for one in (table, table.drop_duplicates(["model", "group"]))
    ]
    assert n_rows[0] == n_rows[1] > 0


@pytest.mark.parametrize("kind", ["fixed", "shared", "by_group"])
def test_candidates_are_the_front_of_validation_rows_counted_on_test_rows(kind):
    rng = np.random.default_rng(1)
    (seen, first), (unseen, second) = people(rng, 1500), people(rng, 1500)
    table = table_of((seen, unseen), (first, second), kind)
    every = []
    for place, scores in zip((7, 3), first, strict=True):
        for cuts in thresholds_tried(scores, seen.groups, kind):
            decided = scores > np.array(cuts, np.float32)[seen.groups]
            overall, young = gaps(seen, decided)
            share = max(overall / LIMITS[PARITY], young / LIMITS["worst_1_di"])
            if not decision_status(seen.y, decided.astype(int))["status"].item():
                accuracy = (decided == seen.y).mean()
                every.append((Candidate(place, cuts), share, accuracy))
    front = {
        one: (share, accuracy)
        for one, share, accuracy in every
        if not any(
            s <= share and a >= accuracy and (s, a) != (share, accuracy)
            for _, s, a in every
        )
    }
    assert set(table["model"]) == set(front)
    for model, cells in table.groupby("model"):
        told = cells[["gap", "accuracy"]].iloc[0]
        assert tuple(told) == pytest.approx(front[model])
        scores = second[[7, 3].index(model.place)]
        decided = scores > np.array(model.thresholds, np.float32)[unseen.groups]
        assert np.array_equal(decided, model.decide(scores, unseen.groups))
        for subgroup, group, n, k in cells[
            ["subgroup", "group", "n", "positives"]
        ].itertuples(index=False):
            where = unseen.groups == group
            if subgroup:
                where &= unseen.inside[subgroup]
            assert (n, k) == (where.sum(), decided[where].sum())
    # nothing of the test rows goes into what is tried or in which order
    other = table_of((seen, unseen), (first, rng.permuted(second, axis=1)), kind)
    assert list(other["model"].unique()) == list(table["model"].unique())


def test_who_decides_alike_for_everyone_is_no_candidate():
    part, scores = people(np.random.default_rng(2), 400)
    same = np.full_like(scores, 0.7)
    assert table_of((part, part), (same, same), "by_group").empty
    choice = choose_certified(
        table_of((part, part), (same, same), "shared"), limits=LIMITS
    )
    assert choice.model is None
    with pytest.raises(ValueError, match="`thresholds` must be one of"):
        table_of((part, part), (scores, scores), "each")


def level(rng, n, gap):
    """Return rows, and scores of two models with this gap at every threshold."""
    group = rng.integers(0, 2, n)
    score = 1.4 * (rng.random((2, n)) + gap * (group == 1)) - 0.3
    y = (rng.random(n) < score.mean(axis=0)).astype(np.int8)
    return Part(y, group, {}), score


@pytest.mark.parametrize(("kind", "gap"), [("shared", 0.102), ("by_group", 0.41)])
def test_with_thresholds_a_promise_is_broken_as_seldom_as_stated(kind, gap):
    rng = np.random.default_rng(3)
    limits = {PARITY: 0.1}
    known = level(rng, 50_000, gap)
    broken, n_tables = 0, 25
    for _ in range(n_tables):
        (seen, first), (unseen, second) = (level(rng, 800, gap) for _ in range(2))
        table = table_of((seen, unseen), (first, second), kind, limits)
        model = choose_certified(table, limits=limits, confidence=0.9).model
        if model is not None:
            everyone, scores = known[0], known[1][[7, 3].index(model.place)]
            rates = model.decide(scores, everyone.groups)
            apart = [rates[everyone.groups == g].mean() for g in (0, 1)]
            broken += abs(apart[1] - apart[0]) > limits[PARITY]
    assert broken / n_tables <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / n_tables)
