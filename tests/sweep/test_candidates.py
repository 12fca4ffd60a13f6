"""The models that a certified choice is made among."""

import numpy as np
import pytest

from fairdash.sweep import Part, candidate_table, choose_certified

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


def table_of(parts, scores):
    return candidate_table(
        [7, 3],
        lambda place: tuple(part_scores[[7, 3].index(place)] for part_scores in scores),
        parts,
        limits=LIMITS,
    )


def gaps(part, decided):
    """Return the gap over all rows and inside, from the rows themselves."""

    def apart(where):
        rates = [decided[where & (part.groups == g)].mean() for g in (0, 1)]
        return abs(rates[0] - rates[1])

    return apart(np.ones(len(part.y), bool)), apart(part.inside["young"])


def test_candidates_are_the_front_of_validation_rows_counted_on_test_rows():
    rng = np.random.default_rng(1)
    (seen, first), (unseen, second) = people(rng, 1500), people(rng, 1500)
    table = table_of((seen, unseen), (first, second))
    rates = {}
    for place, scores in zip((7, 3), first, strict=True):
        decided = scores > 0.5
        overall, young = gaps(seen, decided)
        share = max(overall / LIMITS[PARITY], young / LIMITS["worst_1_di"])
        rates[place] = share, (decided == seen.y).mean()
    front = {
        place: (share, accuracy)
        for place, (share, accuracy) in rates.items()
        if not any(
            s <= share and a >= accuracy and (s, a) != (share, accuracy)
            for s, a in rates.values()
        )
    }
    assert set(table["model"]) == set(front)
    for place, cells in table.groupby("model"):
        assert tuple(cells[["gap", "accuracy"]].iloc[0]) == pytest.approx(front[place])
        decided = second[[7, 3].index(place)] > 0.5
        for subgroup, group, n, k in cells[
            ["subgroup", "group", "n", "positives"]
        ].itertuples(index=False):
            in_group = unseen.groups == group
            if subgroup:
                in_group &= unseen.inside[subgroup]
            assert (n, k) == (in_group.sum(), decided[in_group].sum())
    # nothing of the test rows goes into what is tried or in which order
    permuted_table = table_of((seen, unseen), (first, rng.permuted(second, axis=1)))
    assert list(permuted_table["model"].unique()) == list(table["model"].unique())


def test_who_decides_alike_for_everyone_is_no_candidate():
    part, scores = people(np.random.default_rng(2), 400)
    same = np.full_like(scores, 0.7)
    table = table_of((part, part), (same, same))
    assert table.empty
    assert choose_certified(table, limits=LIMITS).model is None
