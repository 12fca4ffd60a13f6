"""Certificates of models hold on the rows they name, and say how sure that is."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from toys import simulate_noise

from fairdash._counts import RowCounts
from fairdash._deciding import Deciding
from fairdash.audits import Noise, certificates, most_assumed
from fairdash.audits.noisy_groups.certificates import promise_verdict
from fairdash.methods.noisy_groups import (
    estimate_noise,
    soft_certificate,
    tv_certificate,
)

PRIOR = [0.85, 0.1, 0.05]  # as of race in Adult
QUESTION = certificates.Question("equalized_odds", 0.05)


def sample_of(level, rng, n=3000):
    """True and recorded groups of some people."""
    true = drawn(rng, n)
    noisy = simulate_noise(true, level, random_state=rng.integers(2**31))
    return pd.DataFrame({"true": true, "noisy": noisy})


def noise_of(groups, level=0.1):
    """Noise of a table's groups, as a sample with both says it is."""
    sample = sample_of(level, np.random.default_rng(0))
    return Noise.from_sample(groups, sample, "true", "noisy")


def decisions(where, y, decided):
    return certificates.Decisions(
        where, y[where].astype(int), decided[where].astype(int)
    )


def drawn(rng, n, prior=PRIOR):
    return rng.choice(np.array(list("abc"))[: len(prior)], p=prior, size=n)


def decided(rng, groups):
    y = rng.random(len(groups)) < 0.4
    positive = rng.random(len(groups)) < np.where(y, 0.7, 0.2) - 0.15 * (groups == "c")
    return y, positive


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = drawn(rng, 6000)
    y, positive = decided(rng, groups)
    tests = [np.sort(rng.permutation(6000)[:1500]) for _ in range(2)]
    return groups, y, positive, [decisions(t, y, positive) for t in tests]


def distances(true, noisy):
    return {
        name: np.abs(
            (true == name) / (true == name).sum()
            - (noisy == name) / (noisy == name).sum()
        ).sum()
        / 2
        for name in np.unique(noisy)
    }


def kernels(table, noise, question, radius):
    """Return the largest violations of every seed: of the kernels, on its rows."""
    groups, y, positive, seeds = table
    ball = []
    soft = []
    for rows in seeds:
        at = rows.where
        limits = noise.on(rows.where)
        columns = (y[at].astype(int), positive[at].astype(int), groups[at])
        radii = {name: min(radius, far) for name, far in limits.reach.items()}
        worst = tv_certificate(*columns, radii, **question._asdict())
        ball.append(worst["worst_violation"].max())
        ends = {"least": limits.least, "most": limits.most}
        worst = soft_certificate(*columns, limits.matrix, **ends, **question._asdict())
        soft.append(worst["worst_violation"].max())
    return np.array(ball), soft


@pytest.mark.parametrize(
    "source, visits", sampled([("sample", 1), ("assumed", 1), ("assumed", 3)], 2)
)
def test_limits_of_unknown_groups_hold_on_the_rows_with_the_confidence_stated(
    source, visits
):
    rng = np.random.default_rng(1)
    inside_all = []
    room = []
    for _ in range(80):
        people = drawn(rng, 3000 // visits)
        recorded = simulate_noise(people, 0.08, random_state=rng.integers(2**31))
        unit = np.repeat(np.arange(len(people)), visits)
        groups = people[unit]
        noisy = recorded[unit]
        rows = np.flatnonzero(unit < 600 // visits)
        if source == "assumed":
            noise = Noise.from_level(noisy, 0.08, unit)
        else:
            noise = Noise.from_sample(
                noisy, sample_of(0.08, rng, 1500), "true", "noisy"
            )
        limits = noise.on(rows)
        exact = estimate_noise(groups[rows], noisy[rows]).group_given_noisy
        inside = (exact >= limits.least - 1e-12) & (exact <= limits.most + 1e-12)
        far = distances(groups[rows], noisy[rows])
        near = all(far[name] <= limits.reach[name] + 1e-12 for name in far)
        inside_all.append(bool(inside.to_numpy().all()) and near)
        room.append(limits.reach["a"] - far["a"])
    assert np.mean(inside_all) >= 0.95
    assert np.mean(room) < 0.1 * visits  # and say something


def test_the_curve_has_the_certificate_of_every_radius(table):
    groups, _, _, seeds = table
    noise = noise_of(groups)
    curve = certificates.radius_curve("m", seeds, noise, QUESTION)
    assert curve.radii[0] == 0
    far = [far for rows in seeds for far in noise.on(rows.where).reach.values()]
    assert curve.reach == max(far) <= curve.radii[-1] < max(far) + 0.001
    assert np.isnan(curve.tolerated)  # broken on the noisy groups already
    loose = certificates.Question("equalized_odds", 0.25)
    most = certificates.radius_curve("m", seeds, noise, loose).tolerated
    for step, keeps in ((0, True), (0.001, False)):
        assert (kernels(table, noise, loose, most + step)[0] <= 0).all() == keeps
    for radius in (0, 0.04, 0.151, 0.3, curve.radii[-1]):
        ball, soft = kernels(table, noise, QUESTION, radius)
        assert curve.worst(radius) == pytest.approx(ball.max(), abs=1e-6)
    assert curve.worst(0.0395) == curve.worst(0.04)
    assert curve.soft == pytest.approx(soft)


def test_the_answer_is_the_share_at_which_the_promise_breaks(table):
    groups, _, _, seeds = table
    texts = {}
    for slack, noise in (
        (0.05, Noise("none", groups)),
        (0.25, Noise("none", groups)),
        (0.99, Noise.from_level(groups, 0.01)),
    ):
        question = certificates.Question("equalized_odds", slack)
        curve = certificates.radius_curve("m", seeds, noise, question)
        answer = certificates.promise_answer(curve, question, 0.02, "test rows")
        assert len(answer.verdict.split()) <= 20
        assert f"{100 * slack:.1f} points" in answer.caption
        cards = {card.label: card.value for card in answer.cards}
        worst = float(cards["Worst, 2.0% wrong"].split()[0])
        assert worst == pytest.approx(100 * (curve.worst(0.02) + slack), abs=0.051)
        drawn = answer.figure.table
        at = drawn[drawn["share"] == 0.02]["worst"].item()
        assert at == pytest.approx(curve.worst(0.02) + slack, abs=1e-6)
        row = certificates.points_table([curve], question, 0.02).iloc[0]
        assert row["2.0% wrong"] == round(100 * at, 1)
        texts[slack] = answer.verdict, cards["May be wrong"], cards.get("Can be wrong")
        if slack == 0.25:
            assert f"at most {cards['May be wrong']} of any group" in answer.verdict
            most = float(cards["May be wrong"].strip("%")) / 100
            assert most == pytest.approx(curve.tolerated, abs=5e-4)
    verdict, share, reach = texts[0.05]
    assert (share, reach) == ("none", None)
    assert verdict.startswith("The promise is broken already")
    verdict, share, reach = texts[0.99]
    assert verdict == f"The promise holds with {reach} of any group recorded wrongly."


@pytest.mark.parametrize("deciding", [Deciding(), Deciding(True, accepted=0.99)])
@pytest.mark.parametrize("n_held", range(5))
def test_what_is_said_holds_on_every_split(deciding, n_held):
    radii = [0.0, 0.001, 0.002, 0.003]
    worst = [0.01 * (i >= n_held) for i in range(4)]

    def curve(*soft):
        return certificates.RadiusCurve("m", radii, worst, 0.003, [*soft], 3, deciding)

    verdict = promise_verdict(curve())
    share = {0: "broken already", 1: "only if nearly every", 4: "holds with 0.3%"}
    assert share.get(n_held, f"at most 0.{n_held - 1}% of any group") in verdict
    doubt = "The model accepts 99%, nearly everyone. "
    assert verdict.startswith(doubt) == deciding.idle
    assert "the constraint is kept" in curve(-0.1, 0.0).details
    assert "broken by at most 0.100 on average" in curve(-0.1, 0.3).details


def test_more_noise_than_the_shares_allow_is_refused_with_the_largest():
    groups = np.repeat(["a", "b", "c"], [850, 100, 50])
    with pytest.raises(ValueError, match="`level` can be at most") as refused:
        Noise.from_level(groups, 0.11)
    most = float(str(refused.value).split("at most ")[1].split(" here")[0])
    Noise.from_level(groups, most)
    assert most_assumed(groups) == pytest.approx(most, abs=1.1e-3)


def test_whether_a_model_decides_is_judged_by_people_not_by_rows_of_counts():
    y = np.array([1, 1, 0, 0])
    decided = np.array([1, 0, 1, 0])
    people = RowCounts.of("people", [100, 50, 50, 100])
    rows = SimpleNamespace(
        where=np.arange(4),
        y=y,
        sampling={"sample_weight": people},
        predictions=lambda key: decided,
    )
    counted = certificates.Decisions.of(rows, "any")
    index = np.arange(4).repeat([100, 50, 50, 100])
    repeated = SimpleNamespace(
        where=index, y=y[index], sampling={}, predictions=lambda key: decided[index]
    )
    assert counted.deciding == certificates.Decisions.of(repeated, "any").deciding
    assert not counted.deciding.idle
    assert certificates.Decisions.of(
        SimpleNamespace(**{**vars(rows), "sampling": {}}), "any"
    ).deciding.guessing
