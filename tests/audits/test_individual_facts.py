"""What is said of audits is computed: sentences are read and held against numbers."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairdash.audits import (
    AuditedModel,
    AuditRows,
    Certified,
    Counterparts,
    FairMetricSpec,
    Yardstick,
    audit_flips,
    audited_model,
    audits_table,
    certificate_kpis,
    counterparts_caption,
    counterparts_headline,
    fair_radius_yardstick,
    flip_values,
    individual_kpis,
    individual_verdict,
    pair_counts,
    yardstick_caption,
)
from fairdash.datasets import Roles, make_dataset
from fairdash.metrics import (
    DIFCertificate,
    LossRatio,
    group_directions,
    ignore_columns,
    wilson_interval,
)
from fairdash.store import TrialRecord


def found_by(rng):
    """Return the result of a search: any number of people, found and changed."""
    n = int(rng.integers(1, 400))
    kept = int(rng.integers(0, n + 1))
    people = pd.DataFrame({"decision_changed": rng.random(kept) < rng.random()})
    return Counterparts(people, np.arange(n), float(rng.choice([0.0, 0.01, 1.0])))


@pytest.mark.parametrize("seed", range(30))
def test_the_headline_is_the_share_of_all_people_searched(seed):
    found = found_by(np.random.default_rng(seed))
    (said,) = re.findall(r"[\d.]+(?=%)", counterparts_headline(found, 3))
    changed = found.people["decision_changed"].sum()
    assert float(said) == pytest.approx(100 * changed / found.n, abs=0.0501)
    caption = counterparts_caption(found, 5000, 3)
    low, high, *none = map(float, re.findall(r"([\d.]+)(?:%|–)", caption)[1:])
    assert low <= float(said) + 0.05
    assert high >= float(said) - 0.05
    alone = 100 * (1 - len(found.people) / found.n)
    assert none == ([pytest.approx(alone, abs=0.0501)] if alone else [])
    assert caption.startswith(f"{found.n:,} test row")
    assert (f"ε = {found.radius:g}" in caption) == (alone > 0)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("columns", [(), ("sex", "race")])
def test_the_verdict_counts_people_who_are_decided_otherwise(seed, columns):
    rng = np.random.default_rng(seed)
    seeds, n = int(rng.choice([1, 3])), 400
    rows, changed = [], rng.integers(0, n, seeds)
    for one in changed:
        low, high = map(float, wilson_interval(n - one, n))
        numbers = {"consistency": 1 - one / n, "moved": one / n / 4, "n": n}
        ends = {"consistency_low": low, "consistency_high": high}
        known = {"label": "ROAD", "method": "ROAD", "colour_role": "fair"}
        known |= {"chosen": True, "fairness_weight": 1.0, "constant": float(seed == 0)}
        rows.append(known | numbers | ends)
    said = individual_verdict(audits_table(rows).iloc[0], columns)
    if seed == 0:
        assert "decides alike for everyone" in said
        return
    share, *ends = re.findall(r"[\d.]+(?=%|–)", said)
    assert float(share) == pytest.approx(100 * changed.mean() / n, abs=0.051)
    assert ("sex and race alone" in said) == bool(columns)
    assert ("someone alike" in said) != bool(columns)
    assert "400 test rows" in said
    if seeds == 1:
        low, high = wilson_interval(changed[0], n)
        assert list(map(float, ends)) == [
            pytest.approx(100 * end, abs=0.051) for end in (low, high)
        ]
    else:
        assert float(ends[0]) == pytest.approx(100 * changed.std(ddof=1) / n, abs=0.051)
    points = float(re.search(r"by up to ([\d.]+) points", said)[1])
    assert points == pytest.approx(25 * changed.mean() / n, abs=0.051)


def test_without_anybody_within_the_radius_the_headline_is_zero():
    nobody = Counterparts(pd.DataFrame({"decision_changed": []}), np.arange(7), 0.1)
    assert counterparts_headline(nobody, 3).startswith("Seed 3: 0.0% of people")
    assert "For 100.0% of them no row" in counterparts_caption(nobody, 7, 0)


def certified(rng):
    low = rng.uniform(0.9, 3)
    return Certified(
        DIFCertificate(
            value=rng.uniform(0, 3),
            free=0.0,
            multiplier=1.0,
            limit=rng.uniform(3, 4),
            n=300,
        ),
        LossRatio(low + 0.1, low, 0.01, 1.25, bool(low > 1.25), 300),
        rng.uniform(0, 2),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_loss_ratio_counts_the_seeds_that_are_unfair(seed):
    rng = np.random.default_rng(seed)
    seeds = [certified(rng) for _ in range(1 + seed % 3)]
    ratio, _, _ = cards = certificate_kpis(seeds)
    assert all(card.help for card in cards)
    unfair = sum(c.ratio.low > 1.25 for c in seeds)
    assert ratio.note.startswith("unfair") == (unfair > 0)
    if len(seeds) > 1 and unfair:
        assert f"in {unfair} of {len(seeds)} seeds" in ratio.note


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    n = 200
    frame = pd.DataFrame(
        {
            "years": rng.integers(0, 9, n),
            "score": rng.normal(size=n).round(2),
            "kind": rng.choice(["a", "b", "c"], n),
            "origin": rng.choice(["here", "there"], n),
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[::7, "kind"] = None
    roles = Roles(
        target="hired",
        positive="yes",
        sensitive_feature="origin",
        features=("years", "score", "kind"),
    )
    return AuditRows.of(make_dataset(frame, roles, name="small"), 0)


@pytest.mark.parametrize("radius", [0.0, 0.3, 4.0])
def test_the_yardstick_is_measured_between_real_rows(rows, radius):
    metric = ignore_columns(["years"], rows.encoder.feature_names)
    places = np.arange(rows.n)
    found = fair_radius_yardstick(rows, metric, places=places, radius=radius)
    X = rows.encoder.transform(rows.dataset.frame).astype(float)
    apart = np.array([metric.distance(X, np.tile(x, (len(X), 1))) for x in X])
    np.fill_diagonal(apart, np.inf)
    nearest = apart[rows.where].min(1)
    assert found.nearest == pytest.approx(np.median(nearest), abs=1e-9)
    assert found.within == np.mean(nearest <= radius)
    np.fill_diagonal(apart, np.nan)
    assert found.random == pytest.approx(np.nanmedian(apart), rel=0.1)
    said = yardstick_caption(found, radius)
    assert f"{found.within:.1%} of {rows.n} test rows have another row within" in said


def test_of_a_large_table_the_yardstick_says_how_many_rows_it_looked_at(
    rows, monkeypatch
):
    monkeypatch.setattr(audited_model, "MOST_POOL", 30)
    drawn = replace(rows)
    metric = ignore_columns(["years"], rows.encoder.feature_names)
    asked = {"places": np.arange(rows.n), "radius": 0.3}
    whole, some = (fair_radius_yardstick(r, metric, **asked) for r in (rows, drawn))
    assert some.within <= whole.within
    said = yardstick_caption(some, 0.3)
    assert "to the nearest of 30 rows drawn: median" in said
    assert f"{rows.n} test rows have another of these within" in said


def test_few_people_near_one_another_are_said_to_be_few():
    said = yardstick_caption(Yardstick(5.3, 59.0, 0.012, 300), 0.1)
    assert "median 5.30" in said
    assert "at random: 59.00" in said
    assert "1.2% of 300 test rows" in said


def trial(**params):
    return TrialRecord("k", "sensei", params, 0, "finished", {}, None, 1.0, None)


def test_the_metric_is_the_one_the_model_was_trained_with(rows):
    features = ("years", "score", "kind")
    of = FairMetricSpec.of_trial
    assert of(trial(), features) == FairMetricSpec()
    both = trial(metric="both", columns="kind, gone")
    assert of(both, features) == FairMetricSpec(columns=("kind",))
    alone = of(trial(metric="columns", columns="kind"), features)
    assert alone == FairMetricSpec(columns=("kind",), predicts_group=False)
    names = rows.encoder.feature_names
    built = alone.build(rows, store=None)
    np.testing.assert_allclose(built.sigma, ignore_columns(["kind"], names).sigma)
    built = of(both, features).build(rows, store=None)
    expected = group_directions(rows.train, rows.train_groups, names, columns=["kind"])
    np.testing.assert_allclose(built.sigma, expected.sigma)


def test_a_metric_is_read_from_what_it_wrote_and_from_nothing_else():
    features = ("years", "a, b")
    spec = FairMetricSpec(columns=("a, b",), predicts_group=False)
    assert FairMetricSpec.parse(spec.text(), features) == spec
    for text in (None, "", "group", '{"columns": ["gone"]}', '{"more": 1}'):
        assert FairMetricSpec.parse(text, features) is None


def test_people_without_a_value_in_a_flipped_column_are_a_group(rows):
    class Scorer:
        def positive(self, X, group):
            return 0.3 + 0.4 * (X[:, 0] > 0)

    model = AuditedModel("k", "logistic", Scorer(), rows)
    found = audit_flips(model, flip_values(rows.dataset, ["kind"]))
    kind = rows.frame["kind"].fillna("(missing)")
    decided = rows.test.X[:, 0] > 0
    gaps = []
    for label in (0, 1):
        mine = rows.y == label
        right = (decided == label)[mine]
        gaps.append(np.ptp(pd.Series(right).groupby(kind[mine].to_numpy()).mean()))
    assert set(kind) == {"a", "b", "c", "(missing)"}
    assert found["gap_max:kind"] == pytest.approx(max(gaps))


def test_rows_that_share_no_pair_id_are_counted_as_alone():
    table = pd.DataFrame({"pair": [1, 1, 2, 3, 3, None]})
    assert pair_counts(table, "pair") == (2, 2)


def test_a_gap_that_is_undefined_says_why():
    names = ("consistency", "consistency_low", "consistency_high", "moved", "ctf")
    row = pd.Series({"n_seeds": 1.0, **dict.fromkeys(names, 0.5)})
    for largest, note in (
        (0.25, "largest 0.250"),
        (np.nan, "a group has no row of an"),
    ):
        told = individual_kpis(
            row.combine_first(pd.Series({"gap_max": largest, "gap_rms": largest}))
        )
        assert told[-1].note.startswith(note)
