"""What is said of audits is computed: sentences are read and held against numbers."""

import numpy as np
import pandas as pd
import pytest

from fairdash.audits import (
    AuditedModel,
    AuditRows,
    FairMetricSpec,
    Pairs,
    alike_answer,
    audit_flips,
    audit_similar,
    changed_people,
    flip_values,
    invented_people,
    own_units,
    search_counterparts,
    similar_people,
)
from fairdash.datasets import Roles, make_dataset, split
from fairdash.metrics import group_directions, ignore_columns, wilson_interval
from fairdash.store import TrialRecord


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
    built = alone.build(rows)
    np.testing.assert_allclose(built.sigma, ignore_columns(["kind"], names).sigma)
    built = of(both, features).build(rows)
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


class Scorer:
    """Decides by the first number, and by what is told of the kind."""

    def positive(self, X, group):
        return np.clip(0.5 + 0.3 * X[:, 0] + 0.2 * X[:, -1], 0, 1)


@pytest.fixture(scope="module")
def model(rows):
    return AuditedModel("k", "logistic", Scorer(), rows)


@pytest.mark.parametrize("columns", [(), ("score",)])
def test_the_most_similar_person_is_the_nearest_other_row(model, columns):
    rows = model.rows
    X = rows.test.X.astype(float)
    names = rows.encoder.feature_names
    root = ignore_columns(columns, names).root if columns else np.eye(X.shape[1])
    apart = (((X[:, None] - X) @ root) ** 2).sum(-1)
    np.fill_diagonal(apart, np.inf)
    places = rows.sample(25)
    pairs = similar_people(model, columns, places=places)
    assert pairs.n == len(pairs.people) == 25
    number = rows.dataset.row_number[rows.where] + 1
    scores = Scorer().positive(rows.test.X, None)
    for pair in pairs.people.itertuples():
        other = int(np.flatnonzero(number == pair.other)[0])
        assert other != pair.place
        assert apart[pair.place, other] == pytest.approx(apart[pair.place].min())
        assert pair.fair_distance == pytest.approx(apart[pair.place].min(), abs=1e-9)
        assert pair.before == pytest.approx(scores[pair.place])
        assert pair.after == pytest.approx(scores[other])
        for change in pair.changes:
            if change.column == "origin":  # no column of the model, and yet shown
                groups = rows.dataset.sensitive_features[rows.where]
                assert (change.before, change.after) == (
                    groups[pair.place],
                    groups[other],
                )
            else:
                assert str(rows.frame[change.column].iloc[other]) == str(change.after)
    turned = pairs.people["decision_changed"].to_numpy()
    assert (turned[:-1] >= turned[1:]).all()  # those decided otherwise come first
    assert pairs.share == turned.mean()
    low, high = pairs.interval
    ends = wilson_interval(turned.sum(), 25)
    assert low < ends[0] < ends[1] < high  # two people can be each other's nearest


def test_only_the_columns_asked_for_change_and_the_worst_value_counts(model):
    flips = flip_values(model.rows.dataset, ["kind"])
    pairs = changed_people(model, flips)
    assert pairs.n == model.rows.n
    p = np.stack(model.flipped(flips))
    for pair in pairs.people.itertuples():
        mine = p[:, pair.place]
        turned = (mine > 0.5) != (pair.before > 0.5)
        assert pair.decision_changed == turned.any()
        if not turned.any():
            most = np.abs(mine - pair.before).max()
            assert abs(pair.after - pair.before) == pytest.approx(most)
        assert {change.column for change in pair.changes} <= {"kind"}
    numbers = audit_flips(model, flips)
    assert numbers["consistency"] == pytest.approx(1 - pairs.share)
    assert numbers["moved"] == pytest.approx(pairs.moved, abs=0.02)


def test_the_answer_says_both_in_twenty_words_and_its_numbers_are_those_of_pairs(
    model, monkeypatch
):
    monkeypatch.setattr("fairdash.audits.look_alikes._FEW", 1)
    similar = similar_people(model, (), places=np.arange(model.rows.n))
    changed = changed_people(model, flip_values(model.rows.dataset, ["kind"]))
    answer = alike_answer(similar, similar, changed, ("kind",), label="m")
    assert len(answer.verdict.split()) <= 20
    assert answer.verdict == (
        f"For {similar.share:.0%} of people the most similar other person is decided "
        f"otherwise. Changing only kind changes {changed.share:.0%} of decisions."
    )
    cards = {card.label: card for card in answer.cards}
    assert cards["Similar, other result"].value == f"{similar.share:.1%}"
    assert cards["Decisions changed"].value == f"{changed.share:.1%}"
    (mixed,) = (card for label, card in cards.items() if label.endswith("decided 0"))
    people = similar.people[similar.people["decision_changed"]]
    people = people[people["group"] != people["other_group"]]
    pairs = {
        frozenset(
            [(p.row, p.group, p.before > 0.5), (p.other, p.other_group, p.after > 0.5)]
        )
        for p in people.itertuples()
    }
    lost = [group for pair in pairs for _, group, yes in pair if not yes]
    assert mixed.value == f"{max(map(lost.count, set(lost))) / len(pairs):.0%}"
    assert mixed.note.startswith(f"of {len(pairs)} mixed pairs")
    assert "95% confidence" in answer.details
    drawn = answer.figure.table
    assert drawn["before"].iloc[0] == similar.people["before"].iloc[0]
    ends = [frozenset(pair) for pair in zip(drawn["row"], drawn["other"], strict=True)]
    assert len(set(ends)) == len(ends)  # nobody is drawn from both sides
    numbers = audit_similar(model, similar)
    assert numbers["consistency"] == pytest.approx(1 - similar.share)
    blind = alike_answer(similar, similar, None, ("origin",), label="m")
    assert blind.verdict.endswith("The model does not read origin.")
    idle = alike_answer(similar, similar, None, ("origin",), label="m", status="x")
    assert idle.verdict.startswith("The model does not tell people apart")


def test_invented_people_are_named_so_and_limits_have_the_columns_units(model):
    rows = model.rows
    metric = ignore_columns(["kind"], rows.encoder.feature_names)
    found = search_counterparts(model, metric, places=np.arange(rows.n), radius=0.5)
    pairs = invented_people(found)
    assert (pairs.share, pairs.interval) == (found.share_changed, found.interval)
    real = similar_people(model, (), places=np.arange(rows.n))
    drawn = alike_answer(pairs, real, None, ("origin",), label="m").figure.table
    assert drawn["pair"].str.contains("invented").all()
    years = rows.dataset.frame["years"].iloc[split(rows.dataset, 0).train]
    assert (
        own_units(rows.encoder, 0.25, most=1) == f"years ±{years.std(ddof=0) / 2:.2f}"
    )
    nobody = Pairs("similar", pairs.people.iloc[:0], 0)
    assert np.isnan(nobody.share)
